package referee_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/play/internal/referee"
)

// TestAppendTo appends games to files, of which the last one is read again. A file of another format, or a damaged one, is
// left unchanged.
func TestAppendTo(t *testing.T) {
	parse := all.Kinds().Parse
	p := referee.Played{Game: "connectn width=3 height=3 connect=3", Players: [2]string{"human", "machine:level=club"}, Reason: referee.Adjourned}
	dir := t.TempDir()
	name := filepath.Join(dir, "games")
	if _, err := referee.LastOf(name, parse); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	for _, moves := range [][]string{{"0"}, {"0", "1"}, nil} {
		p.Moves = moves
		must.OK(t, p.AppendTo(name, parse))
		if last := must.Get(referee.LastOf(name, parse))(t); strings.Join(last.Moves, " ") != strings.Join(moves, " ") || last.Players != p.Players {
			t.Errorf("%+v, want %v", last, moves)
		}
	}
	if text := string(must.Get(os.ReadFile(name))(t)); strings.Count(text, "treereduce games 1\n") != 1 || strings.Count(text, "\ngame ") != 3 {
		t.Error(text)
	}
	for text, want := range map[string]string{
		"hello\n":              `:1: expected "treereduce games 1", found "hello"`,
		"treereduce games 1\n": "the file has no games",
		"treereduce games 1\n\ngame connectn width=3 height=3 connect=3\n": "truncated",
	} {
		must.OK(t, os.WriteFile(name, []byte(text), 0o666))
		if _, err := referee.LastOf(name, parse); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
		empty := strings.HasSuffix(want, "no games")
		if err := p.AppendTo(name, parse); (err == nil) != empty {
			t.Errorf("%q: %v", text, err)
		}
		if now := string(must.Get(os.ReadFile(name))(t)); (now == text) == empty {
			t.Errorf("%q is now %q", text, now)
		}
	}
	if err := p.AppendTo(filepath.Join(dir, "none", "such"), parse); err == nil {
		t.Error("a file in a directory that is missing")
	}
}
