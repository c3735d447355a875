package streaming

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
	"unicode"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/step"
)

// commandTime bounds the command of the preflight: a JVM that starts while other
// programs are at work. What it needs has been asked before, and has answered.
const commandTime = 2 * time.Minute

// Preflight asks whether the jobs of a game with its data in a directory can run,
// before anything is begun: a name that Hadoop takes for one, a mapper and a
// reducer, a resource manager with a live node and the queue, a hadoop command that
// runs. It asks nothing if no job can be large enough for the cluster. The name node
// has been asked, and what may be done there shows when the data directory is made.
func (r *Runner) Preflight(ctx context.Context, g game.Game, codec jobdir.Codec, data string) error {
	if mostRecords(g, codec) <= float64(r.Above) {
		return nil
	}
	if err := checkName(data); err != nil {
		return err
	}
	for _, binary := range []string{"mapper", "reducer"} {
		if _, err := os.Stat(filepath.Join(r.Bin, binary)); err != nil {
			return fmt.Errorf("%s for the cluster: %w (to build it: %s; --cluster-bin names its directory)", binary, err, step.HowToBuild())
		}
	}
	if err := r.Yarn.Check(ctx, r.Queue); err != nil {
		return err
	}
	metrics, err := r.Yarn.Metrics(ctx)
	if err != nil {
		return err
	}
	r.Parallel = max(1, metrics.VCores-mastersShare)
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, r.Command, "fs", "-test", "-e", r.FS.Name()+"/")
	var stderr bytes.Buffer
	cmd.Stderr, cmd.WaitDelay = &stderr, time.Second
	if err := cmd.Run(); err != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			err = fmt.Errorf("no end within %v", commandTime)
		}
		return fmt.Errorf("%s fs: %w%s", r.Command, err, complaint(stderr.String()))
	}
	return nil
}

// checkName wants a directory to be one in a job's -input and -files: lists, parted by
// commas, of patterns and of URIs.
func checkName(dir string) error {
	for _, c := range dir {
		if strings.ContainsRune(`,{}[]*?\#%"`, c) || unicode.IsSpace(c) {
			return fmt.Errorf("data directory %s: a job of Hadoop's can have no %q in the name of a directory", dir, c)
		}
	}
	return nil
}

// textFactor is how many records textRecords may find for one of a tier: the job
// reads two tiers, of lines that are up to four times as long as the shortest.
const textFactor = 8

// rowFactor is how many rows a job on lists reads for one position, as a rule no more: one
// for each position from which a move leads to it, one for each move.
const rowFactor = 64

// mostRecords is what no job of a game can read more than: the largest tier, or all
// positions.
func mostRecords(g game.Game, codec jobdir.Codec) (most float64) {
	switch g := game.ByMethod(g).(type) {
	case game.Tiered:
		for tier := range g.Tiers() + 1 {
			most = max(most, g.Slots(tier))
		}
		if codec == jobdir.Text {
			most *= textFactor
		}
	case game.Acyclic:
		most = math.Exp2(float64(g.KeyBits())) * rowFactor
	case game.Cyclic:
		most = float64(g.Positions())
	}
	return most
}

// mastersShare is how many of a cluster's cores the application master of a job
// takes, and that of the job before, which is just ending.
const mastersShare = 2

var (
	// javaError is an exception of Java's, with what it says.
	javaError = regexp.MustCompile(`\b(?:[a-z][\w$]*\.)+[A-Z][\w$]*(?:Exception|Error)\b.*`)
	// wrongJava is how a Java complains that is too old for a Hadoop, or too new.
	wrongJava = regexp.MustCompile(`UnsupportedClassVersionError|getSubject is |InaccessibleObjectException|^Unrecognized (VM )?option`)
	// javaWarning are lines that come before what went wrong.
	javaWarning = regexp.MustCompile(`^(WARNING|WARN|log4j|SLF4J|OpenJDK|Picked up)\b| WARN `)
)

// complaint is the line of a Java program's stderr that says most, after a colon,
// and whether it is the wrong Java.
func complaint(stderr string) string {
	said := ""
	for line := range strings.Lines(stderr) {
		line = strings.TrimSpace(line)
		if found := javaError.FindString(line); found != "" {
			said = found
			break
		}
		if said == "" && !javaWarning.MatchString(line) {
			said = line
		}
	}
	switch {
	case said == "":
		return ""
	case wrongJava.MatchString(said):
		return fmt.Sprintf(": %s (this Hadoop wants another Java; JAVA_HOME is %q)", said, os.Getenv("JAVA_HOME"))
	}
	return ": " + said
}
