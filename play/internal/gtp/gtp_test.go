package gtp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/internal/testing/must"
)

func TestParseCommand(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		{"quit", "-1 quit []"},
		{"12 play first 3", "12 play [first 3]"},
		{"  7\tplay  first\ta1-  # my move", "7 play [first a1-]"},
		{"\x01na\x07me\r", "-1 name []"},
		{"", "nothing"},
		{"   \t # only a comment", "nothing"},
		{"2147483647 name", "2147483647 name []"},
		{"2147483648 name", "expected a number up to 2147483647, found 2147483648"},
		{"99999999999999999999 name", "expected a number up to 2147483647, found 99999999999999999999"},
		{"5", "expected a command after the number 5"},
		{"-5 name", "-1 -5 [name]"},
	} {
		c, ok, err := ParseCommand(tt.line)
		got := fmt.Sprint(c.ID, " ", c.Name, " ", c.Args)
		if !ok {
			got = "nothing"
		}
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%q: %s, want %s", tt.line, got, tt.want)
		}
	}
}

// serve returns the output of an engine with two commands of its own.
func serve(t *testing.T, input string) string {
	t.Helper()
	e := NewEngine("test", "0.1")
	e.Handle("say", 0, 1000, "words", func(args []string) (string, error) { return strings.Join(args, "\n"), nil })
	e.Handle("board", 0, 1000, "words", func([]string) (string, error) { return "\n X\n\n O\n", nil })
	e.Handle("fail", 0, 1000, "words", func([]string) (string, error) { return "lost", errors.New("cannot") })
	e.Handle("blank", 0, 1000, "words", func([]string) (string, error) { return "", errors.New("\n") })
	var out strings.Builder
	must.OK(t, e.Serve(strings.NewReader(input), &out))
	return out.String()
}

func TestEngine(t *testing.T) {
	for _, tt := range []struct{ input, want string }{
		{"1 name\n2 version\n3 protocol_version\n", "=1 test\n\n=2 0.1\n\n=3 2\n\n"},
		{"name\n\n# nothing\n9 name\n", "= test\n\n=9 test\n\n"},
		{"quit\nname\n", "=\n\n"},
		{"4 quit\nname\n", "=4\n\n"},
		{"say a b\n", "= a\nb\n\n"},
		{"say", "=\n\n"},
		{"3 board\n", "=3\n X\n \n O\n\n"},
		{"3 fail\n", "?3 cannot\n\n"},
		{"blank\n", "? refused\n\n"},
		{"dance\n", "? unknown command\n\n"},
		{"name you\n", "? syntax error: expected no argument, found \"you\"\n\n"},
		{"known_command say\nknown_command dance\nknown_command\n", "= true\n\n= false\n\n? syntax error: expected a command name, found \"\"\n\n"},
		{"list_commands\n", "= blank\nboard\nfail\nknown_command\nlist_commands\nname\nprotocol_version\nquit\nsay\nversion\n\n"},
		{"name\n\n8\n" + strings.Repeat("x", maxLine+10) + "\nname\n",
			"= test\n\n? syntax error: line 3: expected a command after the number 8\n\n? syntax error: line 4: a line of more than 65536 bytes\n\n= test\n\n"},
	} {
		want := strings.Replace(tt.want, "? syntax error: line 3", "?8 syntax error: line 3", 1)
		if got := serve(t, tt.input); got != want {
			t.Errorf("%.40q: %q, want %q", tt.input, got, want)
		}
	}
}

// answers returns a client of an engine that writes text, whatever the commands are.
func answers(text string) *Client { return NewClient(strings.NewReader(text), io.Discard) }

func TestClient(t *testing.T) {
	for _, tt := range []struct{ output, want, err string }{
		{"=1\n\n", "", ""},
		{"=1 first\n\n", "first", ""},
		{"\n \n=1 \n a\n b\n\n", " a\n b", ""},
		{"=1 a\r\nb\r\n\r\n", "a\nb", ""},
		{"?1 illegal move\n\n", "", `answered "play 3" with an error: illegal move`},
		{"=2 a\n\n", "", `line 1: expected the answer =1, found "=2 a"`},
		{"= a\n\n", "", `line 1: expected the answer =1, found "= a"`},
		{"=+1 a\n\n", "", `line 1: expected the answer =1, found "=+1 a"`},
		{"\nhello\n", "", `line 2: expected an answer that begins with = or ?, found "hello"`},
		{"=1 a\n", "", "the answer lacks the empty line that ends it: unexpected EOF"},
		{"", "", "unexpected EOF"},
		{"=1 " + strings.Repeat("x", maxLine), "", "line 1: expected an answer, found a line of more than 65536 bytes"},
		{"=1 a\n" + strings.Repeat(strings.Repeat("x", 1000)+"\n", 1100), "", "line 1049: expected an answer of at most 1048576 bytes, found more"},
	} {
		c := answers(tt.output)
		got, err := c.Do(t.Context(), "play", "3")
		if text := fmt.Sprint(err); got != tt.want || text != tt.err && (err != nil || tt.err != "") {
			t.Errorf("%.40q: %q, %v, want %q, %q", tt.output, got, err, tt.want, tt.err)
		}
	}
}

// TestClientRefusesToSend checks that a command is not sent if it does not fit in a line, or
// would be parsed as something else.
func TestClientRefusesToSend(t *testing.T) {
	for _, words := range [][]string{{"play", "a\nquit"}, {"play", "a#"}, {"play", "a b"}, {""}, {"play", ""}, {"play", "a\tb"}} {
		var output strings.Builder
		_, err := NewClient(strings.NewReader("=1\n\n"), &output).Do(t.Context(), words[0], words[1:]...)
		if err == nil || output.Len() > 0 {
			t.Errorf("%q: %v, output %q", words, err, output.String())
		}
	}
}

// TestClientBreaks checks that a client remains usable after a refusal, but not after any
// other error.
func TestClientBreaks(t *testing.T) {
	c := answers("?1 no\n\n=2 yes\n\n=9\n\n=3 late\n\n")
	for i, want := range []string{"with an error", "", "expected the answer =3", "expected the answer =3"} {
		_, err := c.Do(t.Context(), "name")
		if err == nil && want != "" || err != nil && (want == "" || !strings.Contains(err.Error(), want)) {
			t.Errorf("question %d: %v, want %q", i+1, err, want)
		}
	}
}

// TestClientSilence checks that an engine that does not answer, or does not read, does not
// block the client.
func TestClientSilence(t *testing.T) {
	silent, engine := io.Pipe()
	defer engine.Close()
	deaf, w := io.Pipe()
	defer deaf.Close()
	for name, c := range map[string]*Client{"output nothing": NewClient(silent, io.Discard), "does not listen": NewClient(strings.NewReader("=1\n\n"), w)} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		if _, err := c.Do(ctx, "genmove", "first"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
		if _, err := c.Do(t.Context(), "name"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: asked again: %v", name, err)
		}
	}
}

// TestBothSides connects client and engine by pipes: the engine receives what the client
// sends.
func TestBothSides(t *testing.T) {
	toEngine, asked := io.Pipe()
	answered, fromEngine := io.Pipe()
	e := NewEngine("test", "0.1")
	e.Handle("say", 0, 1000, "words", func(args []string) (string, error) { return strings.Join(args, "\n"), nil })
	done := make(chan error)
	go func() { done <- e.Serve(toEngine, fromEngine) }()
	c := NewClient(answered, asked)
	for _, tt := range []struct{ ask, want string }{{"name", "test"}, {"say a b", "a\nb"}, {"say", ""}, {"quit", ""}} {
		words := strings.Fields(tt.ask)
		if got, err := c.Do(t.Context(), words[0], words[1:]...); got != tt.want || err != nil {
			t.Errorf("%s: %q, %v", tt.ask, got, err)
		}
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// FuzzCommand checks that a parsed command, written and parsed again, stays the same.
func FuzzCommand(f *testing.F) {
	f.Add("12 play first 3")
	f.Add("007\tname # x")
	f.Add("5")
	f.Fuzz(func(t *testing.T, line string) {
		c, ok, err := ParseCommand(line)
		if !ok || err != nil {
			return
		}
		again, ok, err := ParseCommand(c.String())
		if err != nil || !ok || again.String() != c.String() || again.ID != c.ID || len(again.Args) != len(c.Args) {
			t.Errorf("%q: %+v, then %+v, %v", line, c, again, err)
		}
	})
}

// FuzzEngine checks that a client can read every answer, and that there are no more answers
// than lines.
func FuzzEngine(f *testing.F) {
	f.Add("1 name\nsay a b\n2 board\nfail\n\n7\nquit\nname\n")
	f.Fuzz(func(t *testing.T, input string) {
		out := serve(t, input)
		answers := strings.Split(out, "\n\n")
		if last := answers[len(answers)-1]; last != "" || len(answers)-1 > strings.Count(input, "\n")+1 {
			t.Fatalf("%d answers, the last %q", len(answers)-1, last)
		}
		for _, a := range answers[:len(answers)-1] {
			if a == "" || a[0] != '=' && a[0] != '?' {
				t.Errorf("an answer is %q", a)
			}
		}
	})
}

// FuzzClient checks that any output of an engine is either understood or refused.
func FuzzClient(f *testing.F) {
	f.Add("=1 a\n\n")
	f.Add("\n?1 no\nno\n\n")
	f.Add("=2")
	f.Fuzz(func(t *testing.T, output string) {
		text, err := answers(output).Do(context.Background(), "genmove", "first")
		if err == nil && (strings.Contains(text, "\n\n") || !strings.Contains(output, "=1")) {
			t.Errorf("%q is understood as %q", output, text)
		}
	})
}

// TestRefusalIsOneLine checks that a text from outside becomes one line without control
// characters, including C1 and DEL.
func TestRefusalIsOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"?1 bad\nworse\n\n":                   `answered "name" with an error: bad worse`,
		"?1 \x1b[2J\u009b2Jred\x7f\u0085\n\n": `answered "name" with an error: [2J2Jred`,
		"?1 \x9b2J\n\n":                       "answered \"name\" with an error: \ufffd2J",
	} {
		c := NewClient(strings.NewReader(text), io.Discard)
		if _, err := c.Do(t.Context(), "name"); err == nil || err.Error() != want {
			t.Errorf("%q: %q, want %q", text, err, want)
		}
	}
}
