package status

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/table"
)

// inHDFS is a file system whose locks cannot be queried.
type inHDFS struct{ store.Local }

// TestStatusInHDFS checks that status uses the age of the journal to decide whether a driver is
// alive if its lock cannot be queried. For a dead driver no remaining time is printed.
func TestStatusInHDFS(t *testing.T) {
	dir := t.TempDir()
	for age, want := range map[time.Duration][]string{
		0:                {"g: running\n", "0.0% done; at data_first3: possible, tier 3 of 9; 17 s left\n"},
		solve.Silent / 2: {"g: running\n", "; 17 s left\n"},
		2 * solve.Silent: {"g: died in data_first3; --resume continues\n", "no update for 2 min: it was killed, or its machine failed\n", "tier 3 of 9\n"},
		time.Minute:      {"g: died in data_first3; --resume continues\n", "tier 3 of 9\n"},
	} {
		j := solve.Journal{Game: "g", State: solve.Running, Updated: time.Now().Add(-age),
			Now: &solve.Event{Job: "data_first3", Step: "possible", Tier: 3, Tiers: 9, Left: 17}}
		text, err := store.MarshalSummed(j)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, store.JournalFile), text, 0o666)
		}
		must.OK(t, err)
		r := must.Get(Read(inHDFS{}, dir))(t)
		output := strings.Join(r.Lines(), "\n") + "\n"
		for _, line := range want {
			if !strings.Contains(output, line) {
				t.Errorf("after %v: no %q in %q", age, line, output)
			}
		}
	}
}

// TestTiers checks the numbers of tiers that are done, in each phase of a run.
func TestTiers(t *testing.T) {
	jobs := func(steps ...any) (records []solve.JobRecord) {
		for i := 0; i < len(steps); i += 2 {
			records = append(records, solve.JobRecord{Step: steps[i].(string), Tier: steps[i+1].(int)})
		}
		return records
	}
	passes := func(records []solve.JobRecord, jobs ...int) []solve.JobRecord {
		for _, i := range jobs {
			records[i].Pass = i
		}
		return records
	}
	now := &solve.Event{Tiers: 2}
	for _, test := range []struct {
		name   string
		state  string
		now    *solve.Event
		jobs   []solve.JobRecord
		expect [3]int
	}{
		{"begun", solve.Running, now, nil, [3]int{0, 0, 3}},
		{"forward", solve.Running, now, jobs("init", 0, "possible", 1), [3]int{2, 0, 3}},
		{"blocks", solve.Running, now, jobs("init", 0, "possible", 1, "possible", 2, "solve", 1), [3]int{3, 2, 3}},
		{"layers", solve.Running, now, jobs("init", 0, "possible", 1, "possible", 2, "solve", 2), [3]int{3, 1, 3}},
		{"solved", solve.Solved, nil, jobs("init", 0, "possible", 1, "possible", 2, "solve", 1, "solve", 0, "final", 2), [3]int{3, 3, 3}},
		{"until tier 1", solve.Stopped, nil, jobs("init", 0, "possible", 1), [3]int{2, 0, 0}},
		{"with cycles", solve.Running, &solve.Event{}, jobs("init", 0, "mark", 0, "mark", 0, "begin", 0), [3]int{3, 1, 0}},
		{"inner moves", solve.Running, now, passes(jobs("init", 0, "mark", 0, "mark", 0, "possible", 1, "possible", 2, "solve", 2, "begin", 1, "solve", 1), 1, 2, 7), [3]int{3, 1, 3}},
	} {
		r := &Run{Journal: &solve.Journal{Now: test.now, Jobs: test.jobs}, Status: test.state}
		forward, back, of := r.Tiers()
		if got := [3]int{forward, back, of}; got != test.expect {
			t.Errorf("%s: %d, want %d", test.name, got, test.expect)
		}
	}
}

// TestRate checks the rate and the positions of a run whose retrograde pass has begun.
func TestRate(t *testing.T) {
	record := func(step string, positions int64, seconds float64) solve.JobRecord {
		r := solve.JobRecord{Job: step, Step: step, Seconds: seconds}
		r.Positions = positions
		return r
	}
	r := &Run{Journal: &solve.Journal{Now: &solve.Event{Step: "solve"},
		Jobs: []solve.JobRecord{record("possible", 100, 1), record("possible", 300, 1), record("solve", 300, 10), record("solve", 100, 10)}}}
	if rate, n := r.Rate(), r.Positions(); rate != 20 || n != 400 {
		t.Errorf("%v positions/s, %d positions; want 20, 400", rate, n)
	}
}

// TestFound checks the rows of a run with passes over tiers.
func TestFound(t *testing.T) {
	record := func(step string, tier int, records, positions, finished int64) solve.JobRecord {
		r := solve.JobRecord{Step: step, Tier: tier}
		r.Records, r.Positions, r.Finished = records, positions, finished
		return r
	}
	for _, test := range []struct {
		jobs []solve.JobRecord
		want []table.Row
	}{
		{[]solve.JobRecord{record("init", 0, 1, 0, 0), record("possible", 1, 9, 7, 4), record("mark", 1, 9, 5, 0), record("begin", 1, 4, 0, 0)},
			[]table.Row{{Tier: 0}, {Remoteness: table.NoEnd, Positions: 1}, {Tier: 1, Positions: 4}, {Tier: 1, Remoteness: table.NoEnd, Positions: 8}}},
		{[]solve.JobRecord{record("possible", 3, 2, 7, 3)}, []table.Row{{Tier: 3, Positions: 3}, {Tier: 3, Remoteness: table.NoEnd, Positions: 4}}},
	} {
		r := &Run{Journal: &solve.Journal{Jobs: test.jobs}}
		if got := r.Found(); !slices.Equal(got, test.want) {
			t.Errorf("got  %+v\nwant %+v", got, test.want)
		}
	}
}

// FuzzStatus checks that a journal with any content causes at most an error of one line.
func FuzzStatus(f *testing.F) {
	f.Add([]byte(`{"game":"g","state":"running","begun":"2026-11-22T07:43:53Z","now":{"job":"data_first17","left":1e300},"jobs":[{"job":"mark1","seconds":0.1}]}`))
	f.Add([]byte(`{"game":"g","state":"stopped","error":"data_first17: interrupt signal received"}`))
	f.Add([]byte(`{}`))
	f.Add([]byte(`null`))
	f.Add([]byte{})
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte) {
		if summed, err := store.MarshalSummed(json.RawMessage(text)); err == nil {
			text = summed
		}
		must.OK(t, os.WriteFile(filepath.Join(dir, store.JournalFile), text, 0o666))
		r, err := Read(store.Local{}, dir)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q", err)
			}
			return
		}
		if lines := r.Lines(); !strings.Contains(lines[0], ": "+r.Status) || r.Status == "" {
			t.Errorf("%q", lines)
		}
		for _, lines := range [][]Line{r.Jobs(), r.Steps()} {
			header, rows := Columns("job", lines)
			for _, row := range rows {
				if len(row) != len(header) {
					t.Errorf("%q, %q", header, row)
				}
			}
		}
		if forward, back, of := r.Tiers(); forward < 0 || back < 0 || of < 0 {
			t.Errorf("%d, %d of %d tiers", forward, back, of)
		}
		if _, err := json.Marshal(r); err != nil {
			t.Error(err)
		}
	})
}
