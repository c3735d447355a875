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

// maxLines is how many lines of what a program said are kept.
const maxLines = 20

// noise are lines on stderr that are not the program's: Hadoop Streaming's
// protocol, logs, complaints of logging libraries and the virtual machine, and
// the frames of Java's traces.
var noise = regexp.MustCompile(strings.Join([]string{
	`^reporter:(counter|status):`,
	`^log4j:`,
	`^SLF4J[:(]`,
	`^(OpenJDK|Java HotSpot)\S* .*VM warning: `,
	`^Picked up \w*JAVA\w*:`,
	`^WARNING: (An illegal|Illegal) reflective access|^WARNING: (Please consider reporting this|Use --illegal-access|All illegal access)`,
	`^(\d{4}-\d\d-\d\d|\d\d/\d\d/\d\d) \d\d:\d\d:\d\d\S* (TRACE|DEBUG|INFO|WARN|ERROR|FATAL) `, // as Hadoop sets up log4j
	`^Error: (Could not create the Java Virtual Machine|A fatal exception has occurred)\.`,     // it says before why
	`^\s+at [\w.$/<>@-]+\(.*\)$`,
	`^\s+\.\.\. \d+ more$`,
}, "|"))

// exception is the head of one of Java's traces.
var exception = regexp.MustCompile(`^Caused by: |^Exception in thread "|^(java|javax|org\.apache|com\.sun)\.[\w.$]+(Exception|Error)\b`)

// stamp is what may stand before what a line of diagnostics says.
var stamp = regexp.MustCompile(`(?m)^(.*Failing this attempt\.Diagnostics: )?\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+\]`)

// javaLog begins an entry of two lines in java.util.logging's form.
var javaLog = regexp.MustCompile(`^[A-Z][a-z]{2} \d\d?, \d{4},? \d\d?:\d\d:\d\d\s[AP]M [\w.$]+ \S+$`)

// quiet are the lines of a text without noise, nor blanks at their ends.
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

// programLines are the lines of a stderr that the program wrote, at most
// maxLines: the last ones, or those from where a Go program panics.
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

// panicLine is where a Go program panics, or -1.
func panicLine(lines []string) int {
	for i, line := range lines {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return i
		}
	}
	return -1
}

// unwrap takes a log out of the frame that node managers and the history server
// put around it:
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

// meaning is what diagnostics say. Of Java's exceptions it is the cause of all
// others, of a container's end what the container wrote. It is clear if that is
// more than that something has failed.
func meaning(diagnostics string) (text string, clear bool) {
	if m := exitCode.FindStringSubmatch(diagnostics); m != nil {
		return "the program " + ending(m[1]), true
	}
	if m := silent.FindStringSubmatch(diagnostics); m != nil {
		return "nothing was read, written or reported for " + m[1] + " (mapreduce.task.timeout)", true
	}
	first := ""
	var causes, said []string
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
			said = append(said, shortName(line))
		}
	}
	if len(causes) > 0 {
		return deepest(causes), true
	}
	if len(said) == 0 {
		return first, false
	}
	// What a container wrote comes twice, with each of two exceptions.
	if half := len(said) / 2; len(said)%2 == 0 && slices.Equal(said[:half], said[half:]) {
		said = said[:half]
	}
	return strings.Join(said[:min(len(said), maxLines)], "\n"), true
}

// shortName takes the package from before the name of an exception, and what
// only says that a daemon threw it.
func shortName(line string) string {
	return javaName.ReplaceAllString(remoteName.ReplaceAllString(line, "$1:"), "$1$2")
}

// deepest is the last of causes, or one before it that says the same and more.
func deepest(causes []string) string {
	last := len(causes) - 1
	_, message, ok := strings.Cut(causes[last], ": ")
	for ok && last > 0 && strings.Contains(causes[last-1], message) {
		last--
	}
	return causes[last]
}

// ending says how a program ended, from the code that Java gives to it: 128 and
// more are signals.
func ending(digits string) string {
	n, err := strconv.Atoi(digits)
	if err != nil || n <= 128 || n > 128+64 {
		return "ended with code " + digits
	}
	return fmt.Sprintf("was ended by signal %d (%v)", n-128, syscall.Signal(n-128))
}

// explain is why an attempt failed: what its program wrote, or else what Hadoop
// says. If the program did not end by itself it is both, what ended it last. An
// error is why it is not known what the program wrote.
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

// lastError is the last error in a log of Hadoop's, with what caused it.
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

// logEntry is level and message of an entry in a log of Hadoop's:
//
//	2026-11-21 19:01:11,528 ERROR [main] org.apache.hadoop.Name: message
//	2026-11-21 19:01:11,528 ERROR org.apache.hadoop.Name (main): message   in the steps of Amazon EMR
var logEntry = regexp.MustCompile(`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+ ([A-Z]+) (?:\[.*?\] [\w.$]+|[\w.$]+ \(.*?\)): (.*)`)
