package amazon

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/cli/driver"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// parsed calls do with the command line of a solve with --runner emr, as the driver parses it.
func parsed(t *testing.T, line string, do func(s *driver.Solve, f *emrFlags) error) {
	t.Helper()
	f, x := new(emrFlags), Extension()
	x.Runners = []driver.Runner{f.runner()}
	x.Runners[0].Solve = func(s *driver.Solve) error { return do(s, f) }
	var errs strings.Builder
	if status := x.Run(some(), append([]string{"driver"}, strings.Fields(line)...), strings.NewReader(""), io.Discard, &errs); status != 0 {
		t.Errorf("driver %s: status %d, %s", line, status, errs.String())
	}
}

// planned calls do with the run on Amazon EMR that a command line describes.
func planned(t *testing.T, line string, do func(r *emrSolve)) {
	t.Helper()
	parsed(t, line, func(s *driver.Solve, f *emrFlags) error {
		r, err := newEMRSolve(s, f)
		if err == nil {
			do(r)
		}
		return err
	})
}

// emrLine is the shortest command line of a run on Amazon EMR.
const emrLine = "solve connectn --runner emr --bucket s3://bucket/games"

// TestEMRWords checks that each option of a run reaches the driver on the cluster, which parses
// the arguments of its step to the same value. The other options only affect this machine or
// the cluster.
func TestEMRWords(t *testing.T) {
	reach := map[string][]string{ // option: values, as words of the command line
		"reducers":      {"--reducers 3"},
		"resume":        {"--resume"},
		"overwrite":     {"--overwrite"},
		"keep":          {"--keep all", "--keep final"},
		"compress":      {"--keep all --compress"},
		"final":         {"--final yes", "--final no"},
		"until-tier":    {"--until-tier 0", "--until-tier 3"},
		"combine":       {"--combine=false"},
		"memory":        {"--memory 3G"},
		"cluster-above": {"--cluster-above 0", "--cluster-above 7", "", "--nodes 1"},
		"D":             {"-D a.b=c,d -D e=f"},
		"queue":         {"--queue q --cluster-id j-A"},
		"width":         {"--width 3", ""},
		"height":        {"--height 3"},
		"connect":       {"--connect 3"},
	}
	other := []string{"data", "copy", "runner", "yes", "json", "replace", "help", "binaries", "cluster-id", "keep-cluster"}
	other = append(other, notOnEMR...)
	for _, name := range []string{"program", "compare", "files", "hadoop", "streaming-jar", "cluster-bin", "keytab", "principal"} { // of other runners
		other = append(other, name)
		if status, _, stderr := runLine(emrLine + " --" + name + "=true"); status != 2 || !strings.Contains(stderr, "driver: --"+name+" is an option of ") {
			t.Errorf("--%s: status %d, %s", name, status, stderr)
		}
	}
	for _, flag := range slices.Concat(new(emrFlags).ofAccount(), new(emrFlags).ofCluster()) {
		other = append(other, flag.Names()[0])
	}
	parsed(t, emrLine, func(s *driver.Solve, f *emrFlags) error {
		for _, flag := range s.Context.Command.Flags {
			name := flag.Names()[0]
			if _, ok := reach[name]; ok == slices.Contains(other, name) {
				t.Errorf("--%s: expected in one of the lists of this test: of what reaches the cluster, or of what does not", name)
			}
		}
		return nil
	})
	for name, lines := range reach {
		for _, line := range lines {
			var words, want string
			planned(t, emrLine+" "+line, func(r *emrSolve) {
				words, want = strings.Join(r.words(), " "), fmt.Sprint(r.run.Context.Value(name))
				if name == "cluster-above" && !strings.Contains(line, name) {
					want = fmt.Sprint(r.above)
				}
			})
			if !strings.Contains(words, "--runner hadoop ") {
				t.Errorf("%s: %s", line, words)
			}
			parsed(t, strings.Replace(words, "--runner hadoop", "--runner emr", 1), func(s *driver.Solve, f *emrFlags) error {
				c := s.Context
				if got := fmt.Sprint(c.Value(name)); got != want || !c.IsSet(name) {
					t.Errorf("%s: the driver on the cluster has --%s %s, want %s: %q", line, name, got, want, words)
				}
				if to := c.String("copy"); to != "s3://bucket/games/all_data" || !c.Bool("yes") {
					t.Errorf("%s: %q", line, words)
				}
				_, _, _, err := s.OnHadoop()
				return err
			})
		}
	}
}

// TestEMRResumed checks that the driver on the cluster has the options that are stored with the run which
// it resumes, unless others are given.
func TestEMRResumed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	runs(t, "solve connectn --keep all --compress --final yes --until-tier 2 --data "+dir)
	parsed(t, emrLine+" --resume --final no", func(s *driver.Solve, f *emrFlags) error {
		if err := s.Continue(store.Local{}, dir); err != nil {
			return err
		}
		r, err := newEMRSolve(s, f)
		if err != nil {
			return err
		}
		if words := strings.Join(r.words(), " "); !strings.HasSuffix(words, " --compress=true --final=no --keep=all") {
			t.Error(words)
		}
		return nil
	})
}

// TestEMRRefuses checks that what the driver on the cluster would refuse is refused before any
// request is sent.
func TestEMRRefuses(t *testing.T) {
	const large = emrLine + " --width 8 --height 6 --connect 4"
	var need string // for 8×6: it depends on the cores of this machine
	planned(t, large+" --cluster-id j-A", func(r *emrSolve) { need = r.memory })
	if megabytes, err := strconv.Atoi(strings.TrimSuffix(need, "M")); err != nil || megabytes < 20_000 {
		t.Fatalf("8×6 needs %q, want some 20 GB", need)
	}
	for line, want := range map[string]string{
		large + " --memory 2G": "--memory 2G: connectn width=8 height=6 connect=4 needs at least " + need + " on the cluster",
		large:                  "--memory " + need + ": Hadoop's daemons take 8.59 GB of the 17.2 GB of the master, m6g.xlarge: name a larger type with --master-instance",
		large + " --master-instance r6g.4xlarge --memory 130G":                    "--memory 130G: Hadoop's daemons take 8.59 GB of the 137 GB of the master, r6g.4xlarge: name a larger type with --master-instance",
		strings.Replace(emrLine, "connectn", "mnk", 1) + " --keep all --compress": "--compress: with --runner emr, the directories of mnk are text",
		emrLine + " --price 1e308":                                                "--price 1e+308: expected 0 to 1000000000",
		emrLine + " --queue q":                                                    "--queue q: a new cluster has only the queue default; name a running cluster with --cluster-id",
	} {
		if status, stdout, stderr := runLine(line); status != 2 || stdout != "" || !strings.HasPrefix(stderr, "driver: "+want+"\n") {
			t.Errorf("driver %s: status %d, %q, want %q", line, status, stderr, want)
		}
	}
	// A board with an early --until-tier, or with a large master, is accepted: with the memory
	// that it needs.
	for line, want := range map[string]string{
		large + " --until-tier 3":                "--memory=2048M",
		large + " --cluster-id j-A":              "--memory=" + need,
		large + " --master-instance r6g.4xlarge": "--memory=" + need,
	} {
		planned(t, line, func(r *emrSolve) {
			if words := strings.Join(r.words(), " "); !strings.Contains(words, want) {
				t.Errorf("%s: %s, want %s", line, words, want)
			}
		})
	}
}
