package export

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/notation"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/table"
)

// exported runs an export of a table, and returns what it writes.
func exported(t *testing.T, tab *table.Table, form string, dots bool, write func(*Exporter) error) string {
	t.Helper()
	var out strings.Builder
	x := &Exporter{Table: tab, Of: table.Selection{Images: true}, Form: Forms[form], Out: &out, Dots: dots}
	must.OK(t, write(x))
	return Forms[form].Header + out.String()
}

// records parses what an export has written, by a parser of its format.
func records(t *testing.T, form, text string) (all [][]string) {
	t.Helper()
	switch form {
	case "csv":
		r := must.Get(csv.NewReader(strings.NewReader(text)).ReadAll())(t)
		return r[1:]
	case "jsonl":
		for line := range strings.Lines(text) {
			var r struct {
				Position, Value, Outcome string
				Hash                     uint64
				Remoteness               *int
			}
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			remoteness := ""
			if r.Remoteness != nil {
				remoteness = fmt.Sprint(*r.Remoteness)
			}
			all = append(all, []string{r.Position, fmt.Sprint(r.Hash), r.Value, remoteness, r.Outcome})
		}
		return all
	case "tsv":
	default:
		t.Fatalf("the test has no parser for %s", form)
	}
	for line := range strings.Lines(text) {
		all = append(all, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	return all
}

// TestForms exports games of each method in every format: each position must be there once, with
// the value that a look-up finds, also an image that play does not reach.
func TestForms(t *testing.T) {
	for _, spec := range []string{"connectn width=3 height=2 connect=2", "mancala pits=2 stones=1", "quickcross width=3 height=2 connect=3", "dodgem size=2", "mnk width=3 height=2 connect=2"} {
		g := solved.Game(t, spec)
		tab := solved.Table(t, g)
		var positions []game.Position
		for p := range gametest.Search(g) {
			positions = append(positions, p)
		}
		if s, ok := g.(game.Symmetric); ok {
			for _, p := range slices.Clone(positions) {
				positions = s.Images(positions, p)
			}
			slices.Sort(positions)
			positions = slices.Compact(positions)
		}
		for _, dots := range []bool{false, true} {
			var want [][]string
			for _, p := range positions {
				v, ok, err := tab.Lookup(p)
				if !ok || err != nil {
					t.Fatalf("%s: %d: %v, %v", spec, p, ok, err)
				}
				text, worth := string(g.AppendText(nil, p)), notation.ValueOf(g, p, v)
				if dots {
					text = strings.ReplaceAll(text, " ", ".")
				}
				want = append(want, []string{text, fmt.Sprint(p), worth.Word(), worth.Number(), g.Values().Word(v.Outcome())})
			}
			slices.SortFunc(want, slices.Compare)
			for form := range Forms {
				all := exported(t, tab, form, dots, func(x *Exporter) error { return x.All(t.Context()) })
				got := records(t, form, all)
				slices.SortFunc(got, slices.Compare)
				if len(got) != len(want) {
					t.Errorf("%s as %s, dots %v: %d records, want %d", spec, form, dots, len(got), len(want))
				}
				for i := range min(len(got), len(want)) {
					if !slices.Equal(got[i], want[i]) {
						t.Errorf("%s as %s, dots %v: record %d is %q, want %q", spec, form, dots, i, got[i], want[i])
						break
					}
				}
				// A sample that is larger than the table is the complete table.
				sample := exported(t, tab, form, dots, func(x *Exporter) error { return x.Sample(t.Context(), uint64(len(want)+1), 1) })
				if !slices.Equal(slices.Sorted(strings.Lines(sample)), slices.Sorted(strings.Lines(all))) {
					t.Errorf("%s as %s: the sample of all positions differs from the export", spec, form)
				}
			}
		}
	}
}

// TestCanonical checks that Canonical writes one of each position and its images, also as a sample.
func TestCanonical(t *testing.T) {
	for _, spec := range []string{"mnk width=3 height=2 connect=2", "connectn width=4 height=3 connect=3"} {
		t.Run(spec, func(t *testing.T) { checkCanonical(t, solved.Game(t, spec)) })
	}
}

func checkCanonical(t *testing.T, g game.Game) {
	tab := solved.Table(t, g)
	image := func(p game.Position) game.Position { // the least
		if g, ok := g.(game.Symmetric); ok {
			return slices.Min(g.Images(nil, p))
		}
		return min(p, g.(game.Mirrored).Mirror(p))
	}
	of := func(canonical bool, n uint64) map[game.Position]bool {
		text := exported(t, tab, "tsv", false, func(x *Exporter) error {
			if x.Of.Canonical, x.Of.Images = canonical, !canonical; n > 0 {
				return x.Sample(t.Context(), n, 1)
			}
			return x.All(t.Context())
		})
		hashes := make(map[game.Position]bool)
		for _, r := range records(t, "tsv", text) {
			hashes[must.Get(strconv.ParseUint(r[1], 10, 64))(t)] = true
		}
		return hashes
	}
	all, canonical := of(false, 0), of(true, 0)
	maps.DeleteFunc(all, func(p game.Position, _ bool) bool { return image(p) != p })
	if !maps.Equal(canonical, all) || len(all) < 10 {
		t.Errorf("%d canonical positions, want %d", len(canonical), len(all))
	}
	const n = 5
	sample := of(true, n)
	if len(sample) != n || !maps.Equal(sample, of(true, n)) {
		t.Errorf("a sample of %v", sample)
	}
	for p := range sample {
		if !canonical[p] {
			t.Errorf("%d of the sample is not canonical", p)
		}
	}
}

// TestSampleAll checks the samples of tables that are read completely: n different lines of the
// export, which depend on the seed alone. All lines are about equally frequent.
func TestSampleAll(t *testing.T) {
	tab := solved.Table(t, solved.Game(t, "quickcross width=3 height=2 connect=3"))
	all := exported(t, tab, "tsv", false, func(x *Exporter) error { return x.All(t.Context()) })
	const n = 20
	sample := func(seed uint64) string {
		return exported(t, tab, "tsv", false, func(x *Exporter) error { return x.Sample(t.Context(), n, seed) })
	}
	first := sample(1)
	if first != sample(1) || first == sample(2) {
		t.Error("the sample does not depend on the seed alone")
	}
	different := make(map[string]bool)
	for line := range strings.Lines(first) {
		if different[line] = true; !strings.Contains("\n"+all, "\n"+line) {
			t.Fatalf("%q is not in the export", line)
		}
	}
	if lines := strings.Count(first, "\n"); lines != n || len(different) != n {
		t.Errorf("%d lines, %d different ones, want %d", lines, len(different), n)
	}
	const times = 2000
	count, mean := make(map[string]int), times*n/strings.Count(all, "\n")
	for seed := range uint64(times) {
		for line := range strings.Lines(sample(seed)) {
			count[line]++
		}
	}
	for line := range strings.Lines(all) {
		if count[line] < mean/2 || count[line] > 2*mean {
			t.Errorf("%q: %d times, the mean is %d", line, count[line], mean)
		}
	}
}
