package solve_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestJobs checks which jobs run again if something is missing of a run: no more than necessary.
func TestJobs(t *testing.T) {
	blocks, layers := game.Game(rules(t, 2, 2, 2)), smallGame(t)
	const rest, restLayers = " data_second1 data_second0 final", " data_second5 data_second4 data_second3 data_second2 data_second1 data_second0 final"
	for _, test := range []struct {
		g             game.Game
		until         string // the job at which the run stops; "": none
		keepAll       bool
		missing, want string
	}{
		{blocks, "data_second1", false, "data_first1", "data_first1" + rest},
		{blocks, "data_second1", false, "data_second2", strings.TrimSpace(rest)},
		{blocks, "data_second1", false, "table/tier-03.pack", "data_first2 data_first3 data_second3" + rest},
		{blocks, "data_second1", false, "table/tier-04.pack", "data_first2 data_first3 data_first4" + rest},
		{blocks, "", false, "table/tier-01.pack", "data_first0 data_first1 data_second1"},
		{blocks, "", true, "data_first2", "data_first2"},
		{blocks, "", true, "table/tier-04.pack", "data_first4"},
		{layers, "data_second5", false, "data_first3", "data_first3" + restLayers},
		{layers, "data_second5", false, "data_first4", "data_first0 data_first1 data_first2 data_first4" + restLayers},
		{layers, "data_second5", false, "data_second6",
			"data_first0 data_first1 data_first2 data_first4 data_first5 data_first6 data_second6" + restLayers},
		{layers, "", true, "data_second6", "data_second6"},
		{layers, "", true, "table/tier-06.pack", "data_second6"},
	} {
		dir, o := t.TempDir(), options()
		o.Runner, o.KeepAll, o.MinDrop = stopsAt(test.until), test.keepAll, 1
		if _, err := solveInto(t, dir, test.g, o, store.Fresh); err != nil && !errors.Is(err, errFailing) {
			t.Fatal(err)
		}
		must.OK(t, os.RemoveAll(filepath.Join(dir, test.missing)))
		again := &failing{at: -1}
		o.Runner = again
		must.Get(solveInto(t, dir, test.g, o, store.Resume))(t)
		if got := strings.Join(again.ran, " "); got != test.want {
			t.Errorf("%s, stopped at %q, all kept %v, without %s: %s ran, want %s", test.g.Spec(), test.until, test.keepAll, test.missing, got, test.want)
		}
	}
}
