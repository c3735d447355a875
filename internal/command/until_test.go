package command_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/internal/command"
)

// TestUntil checks that Until returns the same bytes as its reader, in pieces of any size, and
// that a waiting read ends with ctx, after which nothing more is read.
func TestUntil(t *testing.T) {
	text := strings.Repeat("0123456789", 20_000)
	ctx, cancel := context.WithCancel(t.Context())
	for _, r := range []io.Reader{strings.NewReader(text), iotest.DataErrReader(strings.NewReader(text)), iotest.HalfReader(strings.NewReader(text))} {
		if got, err := io.ReadAll(iotest.OneByteReader(command.Until(ctx, r))); err != nil || string(got) != text {
			t.Errorf("%d bytes of %d, %v", len(got), len(text), err)
		}
	}
	failing := errors.New("failing")
	if _, err := io.ReadAll(command.Until(ctx, iotest.ErrReader(failing))); !errors.Is(err, failing) {
		t.Error(err)
	}

	waiting, w := io.Pipe()
	defer w.Close()
	r := command.Until(ctx, waiting)
	time.AfterFunc(20*time.Millisecond, cancel)
	for range 2 {
		if n, err := r.Read(make([]byte, 10)); n != 0 || !errors.Is(err, context.Canceled) {
			t.Errorf("%d bytes, %v", n, err)
		}
	}
}

// TestEachLine checks that an answer is written completely before the next line is read, that a
// wrong line is reported immediately, and that an error of answer ends EachLine after its
// output has been written.
func TestEachLine(t *testing.T) {
	var out, stderr strings.Builder
	log := ""
	app := &cli.App{Name: "test", Action: func(c *cli.Context) error {
		return command.EachLine(t.Context(), c.App, "a word", func(w io.Writer, line string) error {
			log += out.String() + stderr.String() + "|"
			if line == "bad" {
				return command.Refuse(errors.New("no"))
			}
			io.WriteString(w, line)
			if line == "ccc" {
				return errors.New("three")
			}
			return nil
		})
	}}
	for stdin, want := range map[string]struct {
		status           int
		out, stderr, log string
	}{
		"a\r\nbad\nbb": {1, "abb", "test: stdin:2: expected a word (no), found \"bad\"\n", "|a|atest: stdin:2: expected a word (no), found \"bad\"\n|"},
		"a\nccc\nbb":   {1, "accc", "test: three\n", "|a|"},
		"":             {0, "", "", ""},
	} {
		out.Reset()
		stderr.Reset()
		log = ""
		status := command.Run(t.Context(), app, []string{"test"}, strings.NewReader(stdin), &out, &stderr)
		if status != want.status || out.String() != want.out || stderr.String() != want.stderr || log != want.log {
			t.Errorf("%q: status %d, %q, %q, %q", stdin, status, out.String(), stderr.String(), log)
		}
	}
}
