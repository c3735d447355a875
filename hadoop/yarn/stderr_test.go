package yarn

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestProgramLines(t *testing.T) {
	for name, test := range map[string]struct{ stderr, want string }{
		"nothing": {"", ""},
		"one":     {"solve_map: no such tier\n", "solve_map: no such tier"},
		"protocol": {"reporter:counter:a,b,1\nreporter:status:half\nreporter: me\n",
			"reporter: me"},
		"loggers": {"log4j:WARN No appenders could be found for logger (x).\nSLF4J: Class path\nSLF4J(W): no providers\nword\n" +
			"OpenJDK 64-Bit Server VM warning: no\nPicked up JAVA_TOOL_OPTIONS: -X\ncreate_map: see create_map --help\nmapper: see mapper create --help\n" +
			"2026-11-21 19:01:11,528 WARN [main] org.apache.hadoop.X: y\n26/11/21 19:01:11 INFO mapred.X: y\n",
			"word"},
		"java.util.logging": {"Nov 21, 2026 7:01:07 PM com.sun.jersey.server.impl.application.WebApplicationImpl _initiate\n" +
			"INFO: Initiating Jersey application\nword\n", "word"},
		"trace": {"word\nException in thread \"main\" java.lang.Error: x\n\tat a.b.C$D.<init>(C.java:3)\n" +
			"\tat java.base/a.B.c(Native Method)\n\t... 3 more\nCaused by: java.io.IOException: x\njava.lang.RuntimeException: y\n", "word"},
		"no trace":   {"at home (or not)\n  at all\njava.lang is a package\n", "at home (or not)\n  at all\njava.lang is a package"},
		"no newline": {"word", "word"},
		"carriage":   {"a\r\n\r\n\tb\r\n", "a\n\tb"},
		"bytes":      {"a\xffb\n", "a\uFFFDb"},
	} {
		if got := strings.Join(programLines(test.stderr), "\n"); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// TestProgramLinesMany checks that the end of a long output is kept or, if the program panics,
// the beginning of the panic.
func TestProgramLinesMany(t *testing.T) {
	var long strings.Builder
	for i := range 100 {
		fmt.Fprintln(&long, "line", i)
	}
	lines := programLines(long.String())
	if len(lines) != maxLines || lines[maxLines-1] != "line 99" {
		t.Errorf("%q", lines)
	}
	lines = programLines("before\npanic: no board\n" + long.String())
	if len(lines) != maxLines || lines[0] != "panic: no board" {
		t.Errorf("%q", lines)
	}
	if got := (Failure{"map 3", "a", "host", strings.Join(lines, "\n")}).String(); got != "map 3 on host: panic: no board (one of 20 lines)" {
		t.Errorf("%q", got)
	}
	if got := (Failure{Task: "map 3", Text: "a\nb"}).String(); got != "map 3: b (one of 2 lines)" {
		t.Errorf("%q", got)
	}
	if got := (Failure{Text: "a\nb"}).String(); got != "a (one of 2 lines)" {
		t.Errorf("%q", got)
	}
}

// limits is the message of a node manager for a container that it killed because of its
// memory.
const limits = "[2026-11-21 19:01:46.899]Container [pid=7,containerID=container_1] is running beyond physical memory limits. Killing container.\n" +
	"Dump of the process-tree for container_1 :\n\t|- PID PPID\n\n[2026-11-21 19:01:46.907]Container killed on request. Exit code is 143\n"

func TestExplain(t *testing.T) {
	const pipe = "Error: java.lang.RuntimeException: PipeMapRed.waitOutputThreads(): subprocess failed with code %d\n" +
		"\tat org.apache.hadoop.streaming.PipeMapRed.waitOutputThreads(PipeMapRed.java:326)\n"
	over := "Container [pid=7,containerID=container_1] is running beyond physical memory limits. Killing container."
	for name, test := range map[string]struct{ diagnostics, said, want string }{
		"program":    {fmt.Sprintf(pipe, 1), "word", "word"},
		"silent":     {fmt.Sprintf(pipe, 3), "", "the program ended with code 3 and wrote nothing to stderr"},
		"signal":     {fmt.Sprintf(pipe, 137), "", "the program was ended by signal 9 (killed) and wrote nothing to stderr"},
		"said, then": {fmt.Sprintf(pipe, 139), "word", "word\nthe program was ended by signal 11 (segmentation fault)"},
		"memory":     {limits, "word", "word\n" + over},
		"timeout":    {"AttemptID:a Timed out after 4 secs\n[2026-11-21 19:01:46.899]Container killed by the ApplicationMaster.\n", "", "AttemptID:a Timed out after 4 secs"},
		"Java":       {"Error: java.io.FileNotFoundException: /in\n\tat a.B.c(B.java:1)\n", "", "FileNotFoundException: /in"},
		"cause":      {"Error: java.lang.RuntimeException: x\n\tat a.B.c(B.java:1)\nCaused by: a.b.BadException: because\n\t... 2 more\n", "", "BadException: because"},
		"daemon":     {"Error: java.io.IOException: x\nCaused by: org.apache.hadoop.ipc.RemoteException(a.b.FullException): no room\n", "", "FullException: no room"},
		"no message": {"Error: java.lang.RuntimeException: x\nCaused by: java.lang.NullPointerException\n", "", "NullPointerException"},
		"frames":     {"Exception from container-launch.\nExit code: 1\n", "", "Exception from container-launch."},
		"noise": {"[2026-11-21 19:01:46.899]Exception from container-launch.\nLast 4096 bytes of stderr :\n" +
			"Nov 21, 2026 7:01:07 PM com.sun.jersey.A register\nINFO: Registering\nlog4j:WARN x\nwhat counts\n", "", "what counts"},
		"nothing": {"", "", ""},
	} {
		var lines []string
		if test.said != "" {
			lines = []string{test.said}
		}
		if got := explain(test.diagnostics, lines, nil); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestLastError(t *testing.T) {
	const log = "2026-11-21 19:01:11,528 ERROR [main] org.apache.hadoop.A: first\n" +
		"2026-11-21 19:01:12,528 ERROR [Thread-5] org.apache.hadoop.mapreduce.v2.app.MRAppMaster: Error starting MRAppMaster\n" +
		"java.lang.RuntimeException: x\n\tat a.B.c(B.java:1)\nCaused by: java.io.IOException: No space left on device\n\t... 2 more\n" +
		"2026-11-21 19:01:13,528 INFO [main] org.apache.hadoop.B: bye\n"
	if got := lastError(log); got != "Error starting MRAppMaster: IOException: No space left on device" {
		t.Errorf("%q", got)
	}
	if got := lastError("2026-11-21 19:01:13,528 INFO [main] org.apache.hadoop.B: bye\n"); got != "" {
		t.Errorf("no error: %q", got)
	}
}

func TestUnwrap(t *testing.T) {
	frame := "Container: container_1 on host:1\nLogAggregationType: LOCAL\n=====\nLogType:stderr\nLogLength:5\nLogContents:\n%sEnd of LogType:stderr.\n*****\n"
	for _, log := range []string{"", "word\n", "End of LogType:stderr.\nword\n", "a\n\nb\n"} {
		if got := strings.TrimSuffix(unwrap(fmt.Sprintf(frame, log)), "\n"); got != strings.TrimSuffix(log, "\n") {
			t.Errorf("%q became %q", log, got)
		}
	}
	for _, plain := range []string{"", "word\n", "my\nLogContents:\nx\n"} {
		if got := unwrap(plain); got != plain {
			t.Errorf("without a frame %q became %q", plain, got)
		}
	}
}

func TestTaskName(t *testing.T) {
	for attempt, want := range map[string]string{
		"attempt_1_0001_m_000003_0": "map 3",
		"attempt_1_0001_r_000120_2": "reduce 120",
		"attempt_x":                 "task attempt_x",
	} {
		if got := taskName(attempt); got != want {
			t.Errorf("%s: %s, want %s", attempt, got, want)
		}
	}
}

// FuzzProgramLines checks that there are at most maxLines lines, and that each is part of the
// stderr.
func FuzzProgramLines(f *testing.F) {
	f.Add("word\nlog4j:WARN x\n\tat a.B.c(B.java:1)\n")
	f.Add("Nov 21, 2026 7:01:07 PM a.b c\nINFO: x\npanic: y\n" + strings.Repeat("z\n", 30))
	f.Fuzz(func(t *testing.T, stderr string) {
		lines := programLines(stderr)
		if len(lines) > maxLines {
			t.Errorf("%d lines", len(lines))
		}
		for _, line := range lines {
			if strings.TrimSpace(line) == "" || strings.Contains(line, "\n") || !utf8.ValidString(line) {
				t.Errorf("a line is %q", line)
			}
			if utf8.ValidString(stderr) && !strings.Contains(stderr, line) {
				t.Errorf("%q is not in %q", line, stderr)
			}
		}
		if again := programLines(strings.Join(lines, "\n")); len(again) > len(lines) {
			t.Errorf("%q became %q", lines, again)
		}
	})
}

// FuzzMeaning checks that every text has some meaning, and that logs cause no panic.
func FuzzMeaning(f *testing.F) {
	f.Add(limits)
	f.Add("Error: a.b.C: x\nCaused by: d.E: y\n")
	f.Fuzz(func(t *testing.T, diagnostics string) {
		if text, clear := meaning(diagnostics); clear && text == "" {
			t.Errorf("%q is clear, but empty", diagnostics)
		}
		lastError(diagnostics)
		unwrap(diagnostics)
		for _, task := range []string{"", "map 3"} {
			if line := (Failure{Task: task, Text: explain(diagnostics, programLines(diagnostics), nil)}).String(); strings.Contains(line, "\n") {
				t.Errorf("a failure of several lines: %q", line)
			}
		}
	})
}
