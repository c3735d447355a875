package trial_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/treereduce/treereduce/internal/engine/method"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/runner/pipe"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/programs"
	"github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/internal/trial"
)

func TestMain(m *testing.M) { programs.Main(m, nil) }

// TestRun runs the job that computes tier 2 of Connect N on 2×2 from both positions of tier 1,
// with programs that change lines of ours. The wrong program, the lines of its input and the line
// must be found.
func TestRun(t *testing.T) {
	bin := programs.Dir(t)
	g := solved.Game(t, "connectn width=2 height=2 connect=2")
	input := solved.Sealed(t, "data_first1", g, 1, "02\n10\n")
	wrong := func(program, input, expected, found string) *trial.WrongLine {
		return &trial.WrongLine{Program: program, Input: []string{input}, Expected: expected, Found: found}
	}
	// Our mapper prints 04 and 0a for 02, 11 and 20 for 10.
	for _, test := range []struct {
		name, maps, reduces string // the programs are ours, followed by these filters; "": not replaced
		want                *trial.WrongLine
		fails               bool // the job itself fails
	}{
		{"right", "cat", "cat", nil, false},
		{"map omits a line", "grep -v 11", "", wrong("possible_map", "10", "11", ""), false},
		{"map adds a line", "sed 'p;s/0a/01/'", "", wrong("possible_map", "02", "", "01"), true},
		{"map changes a line", "sed s/0a/x/", "", wrong("possible_map", "02", "0a", "x"), true},
		{"reduce omits a line", "", "grep -v 11", wrong("possible_reduce", "11", "11", ""), false},
		{"reduce adds a value", "", "sed 's/11/11\\t6/'", wrong("possible_reduce", "11", "11", "11\t6"), false},
		{"right map, wrong reduce", "cat", "grep -v 11", wrong("possible_reduce", "11", "11", ""), false},
		{"wrong map, right reduce", "grep -v 11", "cat", wrong("possible_map", "10", "11", ""), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			theirs := pipe.Runner{Bin: bin, Programs: make(map[string]string)}
			for name, filter := range map[string]string{"possible_map": test.maps, "possible_reduce": test.reduces} {
				if filter != "" {
					theirs.Programs[name] = filepath.Join(bin, name) + " | " + filter
				}
			}
			dir := t.TempDir()
			out := filepath.Join(dir, "data_first2")
			must.OK(t, os.Mkdir(out, 0o777))
			r := &trial.Runner{Runner: theirs}
			_, err := r.Run(t.Context(), &runner.Job{Name: "data_first2", Step: step.Possible, FS: store.Local{}, Method: method.Of(g),
				Tier: 2, Input: []string{input}, Output: out, Reducers: 1})
			var got *trial.WrongLine
			if !errors.As(err, &got) && err != nil {
				t.Fatal(err)
			}
			if got != nil {
				if (got.Why != nil) != test.fails {
					t.Errorf("the error of the job is %v", got.Why)
				}
				got.Why = nil
			}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("%#v, want %#v", got, test.want)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}
