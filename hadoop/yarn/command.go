package yarn

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/treereduce/treereduce/hadoop/kerberos"
	"github.com/treereduce/treereduce/internal/system"
)

const (
	// commandTime limits a command: a JVM that starts on a busy machine, and asks. Hadoop's own clients would
	// wait a quarter of an hour for a resource manager that does not answer.
	commandTime = time.Minute
	// clientOptions reduce the start time of Hadoop's client to two thirds.
	clientOptions = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
	// maxMessages is how many lines of a client are kept that may contain the cause of a failure.
	maxMessages = 10
)

// jobID returns the identifier of an application's MapReduce job.
func jobID(app string) string { return "job_" + strings.TrimPrefix(app, "application_") }

// Command returns Hadoop's command with arguments, in an environment in which it logs in as this process does, and
// starts quickly.
func (c *Client) Command(args ...string) *exec.Cmd {
	cmd := exec.Command(c.command, args...)
	cmd.Env = append(kerberos.Environ(), "HADOOP_CLIENT_OPTS="+clientOptions+" "+os.Getenv("HADOOP_CLIENT_OPTS"))
	cmd.WaitDelay = time.Second
	return cmd
}

// Run runs Hadoop's command, for at most a minute, and returns what it prints on stdout. The error has one line.
func (c *Client) Run(ctx context.Context, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, commandTime, fmt.Errorf("no end within %v", commandTime))
	defer cancel()
	return c.Output(ctx, args...)
}

// Output is Run without a limit of time.
func (c *Client) Output(ctx context.Context, args ...string) ([]byte, error) {
	cmd := c.Command(args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := system.Run(ctx, cmd); err != nil {
		return nil, fmt.Errorf("%s %s: %w%s", c.command, strings.Join(args[:min(3, len(args))], " "), err, Complaint(stderr.String()))
	}
	return stdout.Bytes(), nil
}

// wrongJava matches errors of a Java version that is too old or too new for this Hadoop.
var wrongJava = regexp.MustCompile(`UnsupportedClassVersionError|getSubject is |InaccessibleObjectException|^Unrecognized (VM )?option`)

// Complaint returns the error in a Java program's stderr, after a colon, and whether the Java
// version is wrong; "" if there is none.
func Complaint(stderr string) string {
	cause := errorLine(stderr)
	switch {
	case cause == "":
		return ""
	case wrongJava.MatchString(cause):
		return fmt.Sprintf(": %s (this Hadoop wants another Java; JAVA_HOME is %q)", cause, os.Getenv("JAVA_HOME"))
	}
	return ": " + cause
}

// Classes of the commands yarn application and mapred job. The command hadoop runs them by name.
const (
	applications = "org.apache.hadoop.yarn.client.cli.ApplicationCLI"
	jobs         = "org.apache.hadoop.mapred.JobClient"
)

// Running returns the identifiers of the applications with a tag that have not ended, such as application_1795287426079_0001.
func (c *Client) Running(ctx context.Context, tag string) (ids []string, err error) {
	out, err := c.Run(ctx, applications, "application", "-list", "-appTags", tag, "-appStates", "NEW,NEW_SAVING,SUBMITTED,ACCEPTED,RUNNING")
	for _, line := range listedLine.FindAllSubmatch(out, -1) {
		ids = append(ids, string(line[1]))
	}
	return ids, err
}

// fraction parses a percentage.
func fraction(percent string) float64 {
	f, err := strconv.ParseFloat(percent, 64)
	if err != nil || !(f >= 0 && f <= 100) {
		return 0
	}
	return f / 100
}

// Kill kills an application, and waits for its end, for some seconds. It is an error if the application has ended.
func (c *Client) Kill(ctx context.Context, app string) error {
	_, err := c.Run(ctx, jobs, "-kill", jobID(app))
	return err
}

// Counters contains the values of counters by group and name. Hadoop's own groups and counters have the names that
// its client prints.
type Counters map[string]map[string]int64

// A Report is what Hadoop's client prints about a job.
type Report struct {
	App         string  // "" until the application is submitted
	TrackingURL string  // "" until it is submitted
	Running     bool    // there was a line with the progress
	Map, Reduce float64 // shares of the work of the maps and of the reduces
	Counters    Counters
	Messages    []string // the first lines that may contain the cause of a failure
}

// Lines that Hadoop's client prints.
var (
	listedLine    = regexp.MustCompile(`(?m)^(application_\d+_\d+)\s`)
	submittedLine = regexp.MustCompile(`Submitted application (application_\d+_\d+)`)
	trackingLine  = regexp.MustCompile(`The url to track the job: (\S+)`)
	progressLine  = regexp.MustCompile(`map (\d+)% reduce (\d+)%`)
	groupLine     = regexp.MustCompile(`^\t(\S.*?)\s*$`)
	counterLine   = regexp.MustCompile(`^\t\t(\S.*)=(\d+)$`)
	causeLine     = regexp.MustCompile(`(?i)error|exception|failed|caused by`)
)

// Read reads the output of Hadoop's client until it ends, and calls changed when there is a tracking URL or progress.
// After a line that is too long for a Scanner, it discards the rest, since the client blocks if the output is not read.
func (r *Report) Read(output io.Reader, changed func()) {
	defer io.Copy(io.Discard, output)
	group := ""
	for lines := bufio.NewScanner(output); lines.Scan(); {
		line := lines.Text()
		if m := progressLine.FindStringSubmatch(line); m != nil {
			r.Running, r.Map, r.Reduce = true, fraction(m[1]), fraction(m[2])
			changed()
		} else if m := submittedLine.FindStringSubmatch(line); m != nil {
			r.App = m[1]
		} else if m := trackingLine.FindStringSubmatch(line); m != nil {
			r.TrackingURL = m[1]
			changed()
		} else if m := counterLine.FindStringSubmatch(line); m != nil {
			if r.Counters == nil {
				r.Counters = make(Counters)
			}
			if r.Counters[group] == nil {
				r.Counters[group] = make(map[string]int64)
			}
			n, _ := strconv.ParseInt(m[2], 10, 64) // these are digits; of too many, n is the largest int64
			r.Counters[group][m[1]] = n
		} else if m := groupLine.FindStringSubmatch(line); m != nil {
			group = m[1]
		} else if causeLine.MatchString(line) && len(r.Messages) < maxMessages {
			r.Messages = append(r.Messages, strings.TrimSpace(line))
		}
	}
}
