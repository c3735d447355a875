package amazon

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/cli/driver"
	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/game/mnk"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// onEMR is the shortest command line of a run on Amazon EMR.
const onEMR = "solve connectn --runner emr --bucket s3://bucket/games"

// runLine runs a command line and returns its status and output. solve replaces the Solve of the runner, unless it is nil.
func runLine(line string, solve func(*driver.Solve, *flags) error) (status int, stdout, stderr string) {
	f, x := new(flags), Extension()
	x.Runners = []driver.Runner{f.runner()}
	if solve != nil {
		x.Runners[0].Solve = func(s *driver.Solve) error { return solve(s, f) }
	}
	var out, errs strings.Builder
	kinds := game.Kinds{connectn.Kind, mnk.Kind}
	status = x.Run(kinds, append([]string{"driver"}, strings.Fields(line)...), strings.NewReader(""), &out, &errs)
	return status, out.String(), errs.String()
}

// planned calls do with the run on Amazon EMR that a command line describes.
func planned(t *testing.T, line string, do func(r *run)) {
	t.Helper()
	status, _, stderr := runLine(line, func(s *driver.Solve, f *flags) error {
		r, err := newRun(s, f)
		if err == nil {
			do(r)
		}
		return err
	})
	if status != 0 {
		t.Errorf("driver %s: status %d, %s", line, status, stderr)
	}
}

// TestWords checks that each option of a run reaches the driver on the cluster. The other options only affect
// this machine or the cluster.
func TestWords(t *testing.T) {
	reach := map[string][2]string{ // option: words here, and on the cluster
		"reducers":      {"--reducers 3", "--reducers=3"},
		"resume":        {"--resume", "--resume=true"},
		"overwrite":     {"--overwrite", "--overwrite=true"},
		"keep":          {"--keep all", "--keep=all"},
		"compress":      {"--keep all --compress", "--compress=true"},
		"final":         {"--final no", "--final=no"},
		"until-tier":    {"--until-tier 3", "--until-tier=3"},
		"combine":       {"--combine=false", "--combine=false"},
		"memory":        {"--memory 3G", "--memory=3G"},
		"cluster-above": {"--cluster-above 7", "--cluster-above=7"},
		"D":             {"-D a.b=c,d -D e=f", "--D a.b=c,d --D e=f"},
		"width":         {"--width 3", "--width 3"},
		"height":        {"--height 3", "--height 3"},
		"connect":       {"--connect 3", "--connect 3"},
	}
	other := append([]string{"data", "runner", "yes", "json", "replace", "help"}, notHere...)
	for _, flag := range new(flags).Flags() {
		other = append(other, flag.Names()[0])
	}
	for _, name := range []string{"program", "compare", "files", "hadoop", "streaming-jar", "cluster-bin", "queue", "copy-to", "keytab", "principal"} { // of other runners
		other = append(other, name)
		if status, _, stderr := runLine(onEMR+" --"+name+"=true", nil); status != 2 || !strings.Contains(stderr, "driver: --"+name+" is an option of ") {
			t.Errorf("--%s: status %d, %s", name, status, stderr)
		}
	}
	status, _, stderr := runLine(onEMR, func(s *driver.Solve, _ *flags) error {
		for _, flag := range s.Context.Command.Flags {
			name := flag.Names()[0]
			if _, ok := reach[name]; ok == slices.Contains(other, name) {
				t.Errorf("--%s: expected in one of the lists of this test: of what reaches the cluster, or of what does not", name)
			}
		}
		return nil
	})
	if status != 0 {
		t.Error(stderr)
	}
	for _, words := range reach {
		planned(t, onEMR+" "+words[0], func(r *run) {
			if got := strings.Join(r.words(), " ") + " "; !strings.Contains(got, " "+words[1]+" ") || !strings.HasPrefix(got, "driver solve connectn ") {
				t.Errorf("%s: %s, want %s", words[0], got, words[1])
			}
		})
	}
	const always = " --runner hadoop --data treereduce/bucket/games/d --copy-to s3://bucket/games/d --yes "
	planned(t, onEMR+" --data d", func(r *run) {
		if got := strings.Join(r.words(), " "); !strings.Contains(got, always) || !strings.Contains(got, fmt.Sprintf(" --cluster-above=%d", driver.SeveralAbove)) {
			t.Errorf("%s, want %s", got, always)
		}
	})
}

// TestResumed checks that the driver on the cluster has the options that are stored with the run which
// it resumes, unless others are given.
func TestResumed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	if status, _, stderr := runLine("solve connectn --keep all --compress --final yes --until-tier 2 --data "+dir, nil); status != 0 {
		t.Fatal(stderr)
	}
	planned(t, onEMR+" --resume --final no", func(r *run) {
		if err := r.Continue(store.Local{}, dir); err != nil {
			t.Error(err)
		}
		if err := r.check(); err != nil {
			t.Error(err)
		}
		if words := strings.Join(r.words(), " "); !strings.HasSuffix(words, " --compress=true --final=no --keep=all") {
			t.Error(words)
		}
	})
}

// TestCost checks the price and the limit of a cluster, also of types without a price.
func TestCost(t *testing.T) {
	for line, want := range map[string]string{
		"": "2 × m6g.xlarge and a master (m6g.xlarge), $0.60 per hour (" + pricesOf + "); the cluster ends with the run, at the latest after 4 h, at $2.45",
		"--nodes 4 --instance m5.4xlarge --master-instance m5.xlarge --max-hours 1.5": "4 × m5.4xlarge and a master (m5.xlarge), $4.12 per hour (" + pricesOf + "); the cluster ends with the run, at the latest after 90 min, at $6.52",
		"--ebs-gb 1000": "2 × m6g.xlarge and a master (m6g.xlarge), $0.91 per hour (" + pricesOf + "); the cluster ends with the run, at the latest after 4 h, at $3.71",
		"--price 1":     "2 × m6g.xlarge and a master (m6g.xlarge), $3.00 per hour; the cluster ends with the run, at the latest after 4 h, at $12.25",
		"--price 1 --max-dollars 6 --instance x9.large": "2 × x9.large and a master (x9.large), $3.00 per hour; the cluster ends with the run, at the latest after 1.92 h, at $6.00",
		"--instance x9.large":                           "2 × x9.large and a master (x9.large): no price of x9.large is known (--price); the cluster ends with the run, at the latest after 4 h",
	} {
		planned(t, onEMR+" "+line, func(r *run) {
			if got := r.cost.text(r.flags, r.spec); got != want {
				t.Errorf("%s:\n%s, want\n%s", line, got, want)
			}
		})
	}
	k := cost{hourly: 2}
	if got := k.dollars(90 * time.Minute); got != "$3.00" {
		t.Error(got)
	}
}

// TestRefuses checks that what the service or the driver on the cluster would refuse is refused before any
// request is sent.
func TestRefuses(t *testing.T) {
	for line, want := range map[string]string{
		onEMR + " --width 8 --height 6 --connect 4 --memory 2G": "--memory 2G: connectn width=8 height=6 connect=4 needs at least ",
		onEMR + " --price 1e308":                                "--price 1e+308: expected 0 to 1000000000",
		onEMR + " --max-hours 0.4":                              "the limit of the cluster is 24m0s, but it needs at least 30m0s (--max-hours, --max-dollars)",
		onEMR + " --max-dollars 0.1":                            "the limit of the cluster is 4m0s, but it needs",
		onEMR + " --max-dollars 9 --instance x9.large":          "--max-dollars: no price of x9.large is known: give --price",
		onEMR + " --nodes 0":                                    "0 nodes: expected 1 to 65536",
		onEMR + " --tags treereduce-x=1":                        `--tags "treereduce-x=1": expected KEY=VALUE, of a key that does not begin with treereduce`,
		onEMR + " --data owners/x":                              `--data "owners/x": with --runner emr, expected a name below --bucket, of letters, digits and ._=-, not in bin, logs or owners`,
		onEMR + " --metrics 0":                                  "--metrics is not for --runner emr",
	} {
		if status, stdout, stderr := runLine(line, nil); status != 2 || stdout != "" || !strings.HasPrefix(stderr, "driver: "+want) {
			t.Errorf("driver %s: status %d, %q, want %q", line, status, stderr, want)
		}
	}
}
