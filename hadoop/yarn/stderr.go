package yarn

import (
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// maxLines is the maximum number of lines of a program's output that are kept.
const maxLines = 20

// noise matches lines on stderr that do not come from the program: the protocol of Hadoop
// Streaming, logs, warnings of logging libraries and of the virtual machine, stack frames
// of Java, and hints.
var noise = regexp.MustCompile(strings.Join([]string{
	`^reporter:(counter|status):`,
	`^log4j:`,
	`^SLF4J[:(]`,
	`^(OpenJDK|Java HotSpot)\S* .*VM warning: `,
	`^Picked up \w*JAVA\w*:`,
	`^WARNING: (An illegal|Illegal) reflective access|^WARNING: (Please consider reporting this|Use --illegal-access|All illegal access)`,
	`^(\d{4}-\d\d-\d\d|\d\d/\d\d/\d\d) \d\d:\d\d:\d\d\S* (TRACE|DEBUG|INFO|WARN|ERROR|FATAL) `, // in Hadoop's log4j format
	`^Error: (Could not create the Java Virtual Machine|A fatal exception has occurred)\.`,     // the reason is on the line before
	`^\s+at [\w.$/<>@-]+\(.*\)$`,
	`^\s+\.\.\. \d+ more$`,
	`^\S+: see \S+( \S+)? --help$`, // a hint of ours after a usage error
}, "|"))

// exception matches the first line of a Java stack trace.
var exception = regexp.MustCompile(`^Caused by: |^Exception in thread "|^(java|javax|org\.apache|com\.sun)\.[\w.$]+(Exception|Error)\b`)

// stamp matches the prefix that may precede the message in a line of diagnostics.
var stamp = regexp.MustCompile(`(?m)^(.*Failing this attempt\.Diagnostics: )?\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+\]`)

// javaLog matches the first line of a two-line entry in the format of java.util.logging.
var javaLog = regexp.MustCompile(`^[A-Z][a-z]{2} \d\d?, \d{4},? \d\d?:\d\d:\d\d\s[AP]M [\w.$]+ \S+$`)

// quiet returns the lines of a text without noise, empty lines and trailing white space.
func quiet(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		skip := false
		for line := range strings.Lines(text) {
			line = strings.TrimRight(line, "\r\n\t ")
			switch {
			case skip:
				skip = false
			case javaLog.MatchString(line):
				skip = true
			case strings.TrimSpace(line) == "" || noise.MatchString(line):
			case !yield(strings.ToValidUTF8(line, "\uFFFD")):
				return
			}
		}
	}
}

// programLines returns the lines of a stderr that the program wrote, at most maxLines: the
// last ones or, if a Go program panics, those from the panic on.
func programLines(text string) []string {
	var lines []string
	for line := range quiet(text) {
		if !exception.MatchString(line) {
			lines = append(lines, line)
		}
	}
	if len(lines) <= maxLines {
		return lines
	}
	if at := panicLine(lines); at >= 0 {
		return lines[at:min(at+maxLines, len(lines))]
	}
	return lines[len(lines)-maxLines:]
}

// javaError matches an exception of Java, with its message.
var javaError = regexp.MustCompile(`\b(?:[a-z][\w$]*\.)+[A-Z][\w$]*(?:Exception|Error)\b.*`)

// errorLine returns the exception in a Java program's stderr or, if there is none, the first line
// that is not a warning; "" if there is none.
func errorLine(stderr string) string {
	first := ""
	for line := range quiet(stderr) {
		if found := javaError.FindString(line); found != "" {
			return found
		}
		if first == "" && !strings.HasPrefix(line, "WARNING: ") {
			first = strings.TrimSpace(line)
		}
	}
	return first
}

// panicLine returns the index of the line at which a Go program panics, or -1.
func panicLine(lines []string) int {
	for i, line := range lines {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return i
		}
	}
	return -1
}

// unwrap extracts a log from the text that node managers and the history server put around it:
//
//	Container: container_… on host:port
//	…
//	LogContents:
//	the log
//	End of LogType:stderr.
//	***…
func unwrap(answer string) string {
	for _, begin := range []string{"\nLogContents:\n", "\nLog Contents:\n"} {
		if _, log, ok := strings.Cut(answer, begin); ok && strings.Contains(answer[:len(answer)-len(log)], "LogType:") {
			if end := strings.LastIndex("\n"+log, "\nEnd of LogType:"); end >= 0 {
				log = log[:end]
			}
			return log
		}
	}
	return answer
}

var (
	silent     = regexp.MustCompile(`task timeout set: (\d+s), taskTimedOut: true`)
	exitCode   = regexp.MustCompile(`subprocess failed with code (\d+)`)
	remoteName = regexp.MustCompile(`^org\.apache\.hadoop\.ipc\.RemoteException\(([\w.$]+)\):`)
	javaName   = regexp.MustCompile(`^(?:[a-z][\w$]*\.)+([A-Z][\w$]*)(:|$)`)
	masterExit = regexp.MustCompile(`^Application application_\w+ failed \d+ times( \(.*\))? due to `)
	frame      = regexp.MustCompile(`^(Task KILL is received|Exception from container-launch|Container id:|Exit code:|` +
		`Container exited with a non-zero exit code|Container killed (on request|by the ApplicationMaster)|Last \d+ bytes of |` +
		`For more detailed output|\. ?Failing the application)`)
)

// meaning extracts the message from diagnostics. For exceptions of Java, it is the root cause;
// for the end of a container, what the container wrote. clear reports whether the message
// contains more than the fact that something failed.
func meaning(diagnostics string) (text string, clear bool) {
	if m := exitCode.FindStringSubmatch(diagnostics); m != nil {
		return "the program " + ending(m[1]), true
	}
	if m := silent.FindStringSubmatch(diagnostics); m != nil {
		return "nothing was read, written or reported for " + m[1] + " (mapreduce.task.timeout)", true
	}
	first := ""
	var causes, printed []string
	for line := range quiet(stamp.ReplaceAllString(diagnostics, "")) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "Error: ")
		if strings.HasPrefix(line, "Dump of the process-tree") {
			break
		}
		if first == "" {
			first = line
		}
		if cause, ok := strings.CutPrefix(line, "Caused by: "); ok {
			causes = append(causes, shortName(cause))
		} else if !frame.MatchString(line) && !masterExit.MatchString(line) {
			printed = append(printed, shortName(line))
		}
	}
	if len(causes) > 0 {
		return deepest(causes), true
	}
	if len(printed) == 0 {
		return first, false
	}
	// The output of a container comes twice, once with each of two exceptions.
	if half := len(printed) / 2; len(printed)%2 == 0 && slices.Equal(printed[:half], printed[half:]) {
		printed = printed[:half]
	}
	return strings.Join(printed[:min(len(printed), maxLines)], "\n"), true
}

// shortName removes the package from the name of an exception, and the prefix that marks an
// exception of a remote daemon.
func shortName(line string) string {
	return javaName.ReplaceAllString(remoteName.ReplaceAllString(line, "$1:"), "$1$2")
}

// deepest returns the last of the causes, or an earlier one that contains the same message and
// more.
func deepest(causes []string) string {
	last := len(causes) - 1
	_, message, ok := strings.Cut(causes[last], ": ")
	for ok && last > 0 && strings.Contains(causes[last-1], message) {
		last--
	}
	return causes[last]
}

// ending describes how a program ended, given Java's exit code. Codes above 128 are signals.
func ending(digits string) string {
	n, err := strconv.Atoi(digits)
	if err != nil || n <= 128 || n > 128+64 {
		return "ended with code " + digits
	}
	return fmt.Sprintf("was ended by signal %d (%v)", n-128, syscall.Signal(n-128))
}

// explain describes why an attempt failed: what its program wrote or, if that is nothing, the
// message of Hadoop. If a signal ended the program, it returns both, the signal last. missing
// is the reason why the program's output could not be read, or nil.
func explain(diagnostics string, lines []string, missing error) string {
	text := strings.Join(lines, "\n")
	cause, _ := meaning(diagnostics)
	switch {
	case text != "" && exitCode.MatchString(diagnostics) && strings.Contains(cause, "signal"):
		return text + "\n" + cause
	case text != "" && strings.Contains(diagnostics, "org.apache.hadoop.streaming.Pipe"):
		return text
	case text == "" && missing != nil && exitCode.MatchString(diagnostics):
		return cause + "; what it wrote to stderr is not to be had: " + missing.Error()
	case text == "" && exitCode.MatchString(diagnostics):
		return cause + " and wrote nothing to stderr"
	}
	return strings.TrimSpace(text + "\n" + cause)
}

// lastError returns the last error in a log of Hadoop, with its cause.
func lastError(log string) string {
	var found []string // the entry, with its trace
	in := false
	for line := range strings.Lines(log) {
		if m := logEntry.FindStringSubmatch(line); m != nil {
			in = m[1] == "ERROR" || m[1] == "FATAL"
			if in {
				found = []string{m[2] + "\n"}
			}
		} else if in {
			found = append(found, line)
		}
	}
	if len(found) == 0 {
		return ""
	}
	head := strings.TrimSpace(found[0])
	if cause, ok := meaning(strings.Join(found[1:], "")); ok {
		cause, _, _ = strings.Cut(cause, "\n")
		head += ": " + cause
	}
	return head
}

// logEntry matches an entry in a log of Hadoop, with groups for its level and message:
//
//	2026-11-21 19:01:11,528 ERROR [main] org.apache.hadoop.Name: message
var logEntry = regexp.MustCompile(`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+ ([A-Z]+) \[.*?\] [\w.$]+: (.*)`)
