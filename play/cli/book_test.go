package play

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/play/internal/book"
)

// TestBook makes a book of a small board, goes on with an interrupted one, and checks the
// errors.
func TestBook(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "book")
	words := "book connectn --width 4 --height 4 --connect 4 --plies 4 --memory 1M --out " + name
	status, stdout, stderr := runLine(some(), words, "")
	if status != 0 || !strings.HasPrefix(stdout, "connectn width=4 height=4 connect=4: 82 positions of ply 4, 82 searched in ") || stderr != "" {
		t.Fatalf("status %d\n%s%s", status, stdout, stderr)
	}
	if b, err := book.Open(name, all.Kinds().Parse); err != nil {
		t.Error(err)
	} else if v, ok := b.Lookup(b.Game().Start()); !ok || v.String() != "tie in 16" {
		t.Errorf("the initial position: %v %v", v, ok)
	}
	if status, _, stderr := runLine(some(), words, ""); status != 1 || stderr != "play: "+name+": the file exists already\n" {
		t.Errorf("status %d\n%s", status, stderr)
	}

	// A file that was interrupted, of another book.
	must.OK(t, os.Rename(name, filepath.Join(dir, "again.part")))
	if status, _, stderr := runLine(some(), "book connectn --plies 4 --out "+dir+"/again", ""); status != 1 || !strings.HasPrefix(stderr, "play: "+dir+"/again.part: it is of connectn width=4 height=4 connect=4 with 4 plies and 82 positions: ") {
		t.Errorf("status %d\n%s", status, stderr)
	}
	words = strings.Replace(words, name, dir+"/again", 1)
	status, stdout, stderr = runLine(some(), words, "")
	if status != 0 || !strings.Contains(stdout, ": 82 positions of ply 4, 0 searched in ") || stderr != "play: "+dir+"/again.part has 82 of 82 positions\n" {
		t.Errorf("status %d\n%s%s", status, stdout, stderr)
	}
	name = dir + "/again"

	for words, want := range map[string]string{
		"book connectn --plies 2":                  "--out: expected the name of a file",
		"book connectn --plies 10 --out x":         "--plies 10: expected 0 to 9",
		"book connectn --plies 2 --out x more":     `unexpected argument "more"`,
		"tui connectn --book " + name:              "is of connectn width=4 height=4 connect=4, but the game is connectn width=3 height=3 connect=3",
		"web --book " + filepath.Join(dir, "none"): "no such file",
		"book connectn --width 7 --height 6 --connect 4 --plies 14 --out " + dir + "/large": "choose fewer plies",
	} {
		if status, _, stderr := runLine(some(), words, ""); status == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d\n%s", words, status, stderr)
		}
	}
}
