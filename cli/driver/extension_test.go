package driver

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/plan"
)

// counting is a JobRunner that counts jobs.
type counting struct {
	JobRunner
	jobs *int
}

func (c counting) Run(ctx context.Context, job *Job) (Stats, error) {
	*c.jobs++
	return c.JobRunner.Run(ctx, job)
}

// An interrupted runner interrupts this process, and fails with another error than that of the context,
// as a call to a name node does that ends early.
type interrupted struct{}

func (interrupted) Run(ctx context.Context, _ *Job) (Stats, error) {
	this, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = this.Signal(os.Interrupt)
	}
	if err != nil {
		return Stats{}, err
	}
	<-ctx.Done()
	return Stats{}, errors.New("no answer from name node")
}

// oneFlag are options that have a flag of this name, whose value must not be wrong.
type oneFlag string

func (f oneFlag) Flags() []cli.Flag { return []cli.Flag{&cli.StringFlag{Name: string(f)}} }

func (f oneFlag) Validate(g game.Game) error {
	if strings.HasPrefix(g.Spec(), "quickcross") {
		return Usagef("--%s is not for %s", string(f), g.Spec())
	}
	return nil
}

// TestExtension solves a game with a runner of an Extension, and reads the table through a file
// system of the Extension.
func TestExtension(t *testing.T) {
	jobs, root := 0, t.TempDir()
	x := Extension{
		Runners: []Runner{
			{Name: "counting", Usage: "counts jobs", Model: plan.Inline, Prepare: func(s *Start) (JobRunner, error) {
				return counting{Inline(s.Memory), &jobs}, nil
			}},
			{Name: "interrupted", Prepare: func(*Start) (JobRunner, error) { return interrupted{}, nil }},
			{Name: "elsewhere", Options: oneFlag("place"), Solve: func(s *Solve) error {
				_, err := s.Context.App.Writer.Write([]byte(s.Game.Spec() + " at " + s.Context.String("place")))
				return err
			}},
		},
		FileSystems: []FileSystem{{Scheme: "x://", Usage: "in X", Open: func(_ context.Context, name string) (FS, string, error) {
			return store.Local{}, root + "/" + strings.TrimPrefix(name, "x://"), nil
		}}},
		Commands: []*cli.Command{{Name: "further", Action: func(c *cli.Context) error {
			_, err := c.App.Writer.Write([]byte("further\n"))
			return err
		}}},
	}
	const board = " mnk --width 2 --height 2 --connect 2 "
	for _, test := range []struct {
		line   string
		status int
		want   string // the output begins with it
	}{
		{"solve" + board + "--runner counting --data " + root + "/d", 0, "Tic-tac-toe of 2 on 2×2: X wins in 3 moves\n"},
		{"plan" + board + "--runner counting", 0, "Tic-tac-toe of 2 on 2×2: "},
		{"plan" + board + "--runner elsewhere", 2, "driver: --runner elsewhere: there is no plan for it\n"},
		{"solve" + board + "--runner interrupted --data " + root + "/i", 130, "driver: stopped; --resume continues\n"},
		{"lookup --data x://d --start", 0, "   a b\n1  . .\n"},
		{"status x://d", 0, "mnk width=2 height=2 connect=2: solved\n"},
		{"solve" + board + "--data x://d", 2, "driver: --data x://d: not possible as the data directory of a run: "},
		{"solve" + board + "--runner elsewhere --place p", 0, "mnk width=2 height=2 connect=2 at p"},
		{"solve quickcross --runner elsewhere", 2, "driver: --place is not for quickcross width=3 height=3 connect=3\n"},
		{"solve" + board + "--place p", 2, "driver: --place is an option of --runner elsewhere\n"},
		{"solve" + board + "--runner elsewhere --replace", 2, "driver: --replace is not for --runner elsewhere: "},
		{"solve" + board + "--runner none", 2, `driver: --runner "none": expected inline, pipe, hadoop, counting, interrupted, elsewhere` + "\n"},
		{"further", 0, "further\n"},
	} {
		t.Run(test.line, func(t *testing.T) {
			var out, errs strings.Builder
			status := x.Run(some(), append([]string{"driver"}, strings.Fields(test.line)...), strings.NewReader(""), &out, &errs)
			if output := out.String() + errs.String(); status != test.status || !strings.HasPrefix(output, test.want) {
				t.Errorf("driver %s: status %d, %s, want %d, %s", test.line, status, output, test.status, test.want)
			}
		})
	}
	if jobs == 0 {
		t.Error("the runner of the Extension has run no job")
	}
	x.Runners[2].Options = oneFlag("width")
	var errs strings.Builder
	if status := x.Run(some(), []string{"driver", "help"}, nil, &errs, &errs); status != 1 || !strings.Contains(errs.String(), "parameter width: ") {
		t.Errorf("a flag of a game: status %d, %s", status, errs.String())
	}
}

// TestNeedsAmazon checks that a driver without S3 and Amazon EMR names the program that has
// them.
func TestNeedsAmazon(t *testing.T) {
	const want = "build bin/driver-aws with make aws"
	refused(t, map[string]string{
		"solve connectn --runner emr":  "--runner emr: " + want,
		"solve connectn --data s3://b": "--data s3://b: this driver has no S3 and Amazon EMR: " + want,
		"lookup --data=s3://b/c":       "--data s3://b/c: this driver has no S3 and Amazon EMR: " + want,
		"compare s3://b/c all_data":    "--data s3://b/c: this driver has no S3 and Amazon EMR: " + want,

		"ranges connectn --tier 1 --reducers 1 --out s3://b/c": `--out "s3://b/c": expected a path, or hdfs://host:port/path, or hdfs:///path`, // nor does driver-aws write there
	})
	runs(t, "plan connectn --runner emr --width 3")
	if _, _, stderr := runLine(some(), "solve connectn --runner none -D fs=s3://b", ""); strings.Contains(stderr, want) {
		t.Errorf("a property in S3: %s", stderr)
	}
}
