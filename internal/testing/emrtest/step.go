package emrtest

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/treereduce/treereduce/internal/cloud/s3"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// A step is a step of a cluster. The server's lock protects the fields that change.
type step struct {
	c      *cluster
	config stepConfig
	id     string
	ctx    context.Context    // done when the step must end
	done   context.CancelFunc //

	state    string
	reason   reason
	failure  *failureDetails
	timeline timeline
}

func newStep(c *cluster, config stepConfig) *step {
	if config.ActionOnFailure == "" {
		config.ActionOnFailure = "TERMINATE_CLUSTER"
	}
	s := &step{c: c, config: config, id: c.s.newID("s"), state: "PENDING", timeline: make(timeline)}
	s.ctx, s.done = context.WithCancel(c.ctx)
	s.timeline.set("CreationDateTime")
	return s
}

func (s *step) out() stepOut {
	jar := s.config.HadoopJarStep
	return stepOut{
		Id: s.id, Name: s.config.Name, ActionOnFailure: s.config.ActionOnFailure,
		Config: map[string]any{"Jar": jar.Jar, "Args": append([]string{}, jar.Args...), "Properties": map[string]string{}},
		Status: status{State: s.state, StateChangeReason: s.reason, FailureDetails: s.failure, Timeline: s.timeline},
	}
}

// ended reports whether the step has ended.
func (s *step) ended() bool {
	return !slices.Contains([]string{"PENDING", "RUNNING", "CANCEL_PENDING"}, s.state)
}

func (s *step) begin() {
	s.state = "RUNNING"
	s.timeline.set("StartDateTime")
}

func (s *step) end(state, message string) {
	s.state, s.reason = state, reason{Message: message}
	s.timeline.set("EndDateTime")
	s.done()
}

// cancelled handles a request to cancel the step.
func (s *step) cancelled() {
	if s.state == "PENDING" {
		s.end("CANCELLED", "Job terminated")
		return
	}
	s.state = "CANCEL_PENDING"
	s.done()
}

// logs are the log files of a step, by name.
type logs map[string][]byte

// run runs a step to its end and, if the step has failed, performs its action on failure.
func (s *step) run() {
	begun := time.Now()
	output := make(logs)
	err := s.do(output)
	s.c.s.mu.Lock()
	var logFile string
	if uri := s.logURI(); uri != "" {
		logFile = uri + "/stderr.gz"
	}
	switch {
	case s.c.ctx.Err() != nil: // the step ended with its cluster
		state := "CANCELLED"
		if s.c.last != "TERMINATED" {
			state = "INTERRUPTED"
		}
		s.end(state, "Job terminated")
	case s.ctx.Err() != nil:
		s.end("CANCELLED", "Job terminated")
	case err == nil:
		s.end("COMPLETED", "")
	default:
		s.failure = &failureDetails{Reason: "Unknown Error.", LogFile: logFile}
		s.end("FAILED", "")
		switch s.config.ActionOnFailure {
		case "TERMINATE_CLUSTER", "TERMINATE_JOB_FLOW":
			s.c.end("TERMINATED_WITH_ERRORS", "STEP_FAILURE", "Shut down as step failed")
		case "CANCEL_AND_WAIT":
			for _, other := range s.c.steps {
				if other.state == "PENDING" {
					other.end("CANCELLED", "Job terminated")
				}
			}
		}
	}
	s.c.s.mu.Unlock()
	code := exitCode(err)
	words := append([]string{"hadoop", "jar", "/var/lib/aws/emr/step-runner/hadoop-jars/" + s.config.HadoopJarStep.Jar}, s.config.HadoopJarStep.Args...)
	output["controller"] = fmt.Appendf(output["controller"], "INFO startExec '%s'\nINFO waitProcessCompletion ended with exit code %d : %s\nINFO Step %s with exitCode %d and took %d seconds\n",
		strings.Join(words, " "), code, strings.Join(words, " "), map[bool]string{true: "succeeded", false: "failed"}[code == 0], code, int(time.Since(begun).Seconds()))
	s.putLogs(s.logURI(), output)
}

// exitCode returns the exit code of a command that returned err.
func exitCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit) && exit.ExitCode() >= 0:
		return exit.ExitCode()
	}
	return 1
}

// do performs the work of a step.
func (s *step) do(output logs) error {
	jar := s.config.HadoopJarStep
	if jar.Jar != "command-runner.jar" || len(jar.Args) == 0 {
		return fmt.Errorf("emrtest: jar %q with %d arguments: only command-runner.jar is known", jar.Jar, len(jar.Args))
	}
	server := s.c.s
	if server.config.Hadoop == nil {
		if server.config.Run == nil {
			return nil
		}
		err := server.config.Run(s.ctx, jar.Args)
		if err != nil {
			output["stderr"] = []byte(err.Error() + "\n")
		}
		return err
	}
	dir := filepath.Join(s.c.dir(), s.id)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	stdout, stderr, err := s.c.command(s.ctx, dir, jar.Args[0], jar.Args[1:]...)
	output["stdout"], output["stderr"] = stdout, stderr
	return err
}

// endWait is the time that a command gets to end when it is asked to.
const endWait = 30 * time.Second

// command runs a command, and the processes that it starts, on the master in a folder. When
// ctx ends, the command is asked to end; when its cluster ends, it is killed.
func (c *cluster) command(ctx context.Context, dir, name string, args ...string) (stdout, stderr []byte, err error) {
	env := c.environment()
	program, err := lookPath(name, env)
	if err != nil {
		return nil, []byte(err.Error() + "\n"), err
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Args[0] = name
	cmd.Env, cmd.Dir = env, dir
	cmd.SysProcAttr, cmd.WaitDelay = &syscall.SysProcAttr{Setpgid: true}, endWait
	cmd.Cancel = func() error {
		if c.ctx.Err() != nil {
			return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		}
		return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
	}
	var out, output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &output
	if err = cmd.Start(); err == nil {
		// A command that was asked to end may still be running when the cluster ends.
		stop := context.AfterFunc(c.ctx, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
		err = cmd.Wait()
		stop()
	}
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	return out.Bytes(), output.Bytes(), err
}

// environment returns the environment of commands on the master.
func (c *cluster) environment() []string {
	config := c.s.config
	env := os.Environ()
	if config.Hadoop != nil {
		env = append(config.Hadoop.Env(), "HADOOP_STREAMING_JAR="+config.Hadoop.StreamingJar())
	}
	env = slices.DeleteFunc(env, func(v string) bool { return strings.HasPrefix(v, "AWS_") })
	env = append(env, config.Env...)
	found := ""
	for _, v := range env {
		if list, ok := strings.CutPrefix(v, "PATH="); ok {
			found = list
		}
	}
	return append(env,
		"AWS_ENDPOINT_URL="+c.s.URL, "AWS_ENDPOINT_URL_S3="+config.S3,
		masterVariable+"="+c.dir(),
		"PATH="+strings.Join([]string{c.s.toolsDir(), config.Tools, found}, string(os.PathListSeparator)))
}

// lookPath finds a program in the PATH of an environment.
func lookPath(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	for _, v := range slices.Backward(env) {
		list, ok := strings.CutPrefix(v, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(list) {
			program := filepath.Join(dir, name)
			if info, err := os.Stat(program); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
				return program, nil
			}
		}
		break
	}
	return "", fmt.Errorf("java.io.IOException: Cannot run program %q: error=2, No such file or directory", name)
}

// bootstrap runs a bootstrap action on the master.
func (c *cluster) bootstrap(i int, action bootstrapAction) error {
	server := c.s
	if server.config.S3 == "" {
		return nil
	}
	dir := filepath.Join(c.dir(), fmt.Sprintf("bootstrap-%d", i+1))
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	script := filepath.Join(dir, path.Base(action.ScriptBootstrapAction.Path))
	bucket, key, err := server.bucket(c.ctx, action.ScriptBootstrapAction.Path)
	if err != nil {
		return err
	}
	text, err := store.ReadFile(bucket, key)
	if err == nil {
		err = os.WriteFile(script, text, 0o777)
	}
	if err != nil {
		return err
	}
	_, stderr, err := c.command(c.ctx, dir, "bash", append([]string{script}, action.ScriptBootstrapAction.Args...)...)
	if err != nil {
		return fmt.Errorf("%w: %s", err, stderr)
	}
	return nil
}

// logURI returns the address of the step's logs, or "" if they are not stored.
func (s *step) logURI() string {
	if s.c.in.LogUri == "" || s.c.s.config.S3 == "" {
		return ""
	}
	return s.c.logURI() + "/steps/" + s.id
}

// logURI returns the address of the cluster's logs.
func (c *cluster) logURI() string {
	uri := "s3://" + c.in.LogUri[strings.Index(c.in.LogUri, "://")+len("://"):] // s3n:// means the same
	return strings.TrimSuffix(uri, "/") + "/" + c.id
}

// putLogs stores compressed logs under an address in S3 after LogDelay, even if the cluster
// has ended by then.
func (s *step) putLogs(uri string, output logs) {
	server := s.c.s
	if uri == "" {
		return
	}
	server.alive.Go(func() {
		// When the cluster ends, the delay is cut short, so that the end of a test does not
		// wait.
		s.c.sleep(server.seconds(server.config.LogDelay))
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		bucket, dir, err := server.bucket(ctx, uri)
		for name, text := range output {
			var packed bytes.Buffer
			if w := gzip.NewWriter(&packed); err == nil {
				_, err = w.Write(text)
				err = errors.Join(err, w.Close())
			}
			if err == nil {
				err = store.WriteFile(bucket, path.Join(dir, name+".gz"), packed.Bytes())
			}
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "emrtest: logs %s: %v\n", uri, err)
		}
	})
}

// bucket returns the bucket and the path that an address in S3 refers to.
func (s *Server) bucket(ctx context.Context, uri string) (*s3.FS, string, error) {
	bucket, dir, err := s3.Split(uri)
	if err != nil {
		return nil, "", err
	}
	f, err := s3.New(ctx, aws.Config{
		BaseEndpoint: &s.config.S3, Region: s3.HomeRegion, Credentials: credentials.NewStaticCredentialsProvider("testing", "testing", ""),
	}, bucket)
	return f, dir, err
}
