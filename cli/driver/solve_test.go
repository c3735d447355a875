package driver

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/hadoop"
	"github.com/treereduce/treereduce/internal/engine/solve"
)

func TestSolve(t *testing.T) {
	for name, want := range map[string]string{
		"connectn":   "Connect 2 on 2×2: X wins in 3 moves\n13 positions in ",
		"quickcross": "Quick Cross of 2 on 2×2: the first player loses in 2 moves\n",
		"mnk":        "Tic-tac-toe of 2 on 2×2: X wins in 3 moves\n",
	} {
		dir := filepath.Join(t.TempDir(), "d")
		line := "solve " + name + " --width 2 --height 2 --connect 2 --data " + dir
		said := runs(t, line)
		if !strings.HasPrefix(said, want) || !strings.HasSuffix(said, "table: "+dir+"/table\nfinal: "+dir+"/final\n") {
			t.Errorf("%s: %s, want %s", name, said, want)
		}
		if status, _, stderr := told(some(), line, ""); status != 1 || !strings.Contains(stderr, "--resume continues it") {
			t.Errorf("%s, again: status %d, %s", name, status, stderr)
		}
		if said := runs(t, line+" --resume"); !strings.Contains(said, "solved by an earlier run") {
			t.Errorf("%s, resumed: %s", name, said)
		}
	}
}

// TestSolveRefuses checks that wrong or contradictory options are refused before any file is
// created.
func TestSolveRefuses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	data := " --data " + dir
	refused(t, map[string]string{
		"solve connectn --runner none" + data:              `--runner "none": expected inline, pipe, hadoop`,
		"solve connectn --resume --overwrite" + data:       "--resume and --overwrite exclude each other",
		"solve connectn --keep some" + data:                `--keep "some": expected final or all`,
		"solve connectn --final maybe" + data:              `--final "maybe": expected yes, no or auto`,
		"solve connectn --until-tier -2" + data:            "--until-tier -2: expected 0 or more",
		"solve connectn --reducers 0" + data:               "--reducers 0: expected 1 or more",
		"solve connectn --reducers 100001" + data:          "--reducers 100001: expected 100000 at most",
		"solve connectn --cluster-above -1" + data:         "--cluster-above -1: expected 0 or more",
		"solve connectn --memory 1M" + data:                "--memory 1M: at least 64M are needed",
		"solve connectn --memory much" + data:              `--memory: size "much": expected a number of bytes, optionally with suffix K, M, G or T`,
		"solve connectn --runner pipe --data hdfs://h:1/d": "--runner pipe writes only on this machine: for --data hdfs://h:1/d use --runner hadoop or inline",
		"solve connectn --data s3a://h/d":                  `--data "s3a://h/d": expected a path, or hdfs://host:port/path, or hdfs:///path`,
		"solve quickcross --width 6 --height 5" + data:     "quickcross width=6 height=5 connect=3: its positions are 3486784401 ranges, at most 33554432 can be solved",
	})
	line, want := "solve connectn --runner pipe --reducers 9 --memory 64M"+data, "driver: --memory 64M: connectn width=3 height=3 connect=3 with 9 reducers needs at least "
	if status, _, stderr := told(some(), line, ""); status != 2 || !strings.HasPrefix(stderr, want) {
		t.Errorf("status %d, %s, want %s", status, stderr, want)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is there: %v", dir, err)
	}
}

// TestChoices checks which names of data directories each runner accepts.
func TestChoices(t *testing.T) {
	t.Setenv("HADOOP_USER_NAME", "ada")
	for _, test := range []struct{ runner, name, want string }{
		{onInline, "d", "d"}, {onInline, "hdfs:///d", "hdfs:///d"},
		{onPipe, "d", "d"}, {onPipe, "hdfs:///d", ""},
		{onHadoop, "d", "hdfs:///user/ada/d"}, {onHadoop, "/d", "hdfs:///d"}, {onHadoop, "hdfs://h:1/d", "hdfs://h:1/d"},
	} {
		if got, err := builtin(test.runner).dataDir(test.name); (err == nil) != (test.want != "") || err == nil && got != test.want {
			t.Errorf("%s, %s: %q, %v, want %q", test.runner, test.name, got, err, test.want)
		}
	}
	for _, name := range []string{onPipe, onHadoop} {
		if _, err := builtin(name).dataDir("x:/d"); !errors.As(err, new(*hadoop.NameError)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDiskFor checks that the bound of the disk usage is at least what was measured on solved
// boards, and less than ten times that.
func TestDiskFor(t *testing.T) {
	for _, test := range []struct {
		spec string
		o    solve.Options
		took float64
	}{
		{"connectn width=5 height=5 connect=4", solve.Options{UntilTier: -1}, 42_654_511},
		{"connectn width=6 height=6 connect=4", solve.Options{UntilTier: -1}, 45.7e9},
		{"quickcross width=4 height=3 connect=3", solve.Options{UntilTier: -1}, 244_018},
		{"connectn width=5 height=5 connect=4", solve.Options{UntilTier: 3}, 0},
		{"mnk width=4 height=4 connect=3", solve.Options{UntilTier: -1}, 0},
	} {
		g, err := some().Parse(test.spec)
		if err != nil {
			t.Fatal(err)
		}
		if n := diskFor(g, &test.o); n < test.took || n > 10*test.took {
			t.Errorf("%s, until %d: %.3g bytes, it took %.3g", test.spec, test.o.UntilTier, n, test.took)
		}
	}
}

// TestPlannedDisk checks that the plan gives a closer estimate than the bound, with a margin:
// for 7×6 connect 4, at least the 0.65 bytes a position that 6×6 took.
func TestPlannedDisk(t *testing.T) {
	g, err := some().Parse("connectn width=7 height=6 connect=4")
	if err != nil {
		t.Fatal(err)
	}
	o := solve.Options{UntilTier: -1}
	bound := diskFor(g, &o)
	const least = 0.65 * 4_531_985_219_092
	if n, err := plannedDisk(t.Context(), g, &o, bound); err != nil || n < least || n > 0.8*bound {
		t.Errorf("%.3g bytes, %v; it cannot be less than %.3g, and %.3g are the bound", n, err, least, bound)
	}
	o.KeepAll = true
	if n, err := plannedDisk(t.Context(), g, &o, bound); err != nil || n != bound {
		t.Errorf("with all that is kept %.3g bytes, %v, want the bound", n, err)
	}
}
