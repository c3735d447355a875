package program

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/testing/must"
)

const (
	small    = "treereduce rules 1\nname small\nbits 8\nstart 7"
	tiered12 = "treereduce rules 1\nname tiers\nbits 8\nstart 7\ntiers 12"
)

func headerOf(text string) (*header, error) {
	return parseHeader(bytes.Split([]byte(text), []byte("\n")))
}

func TestParseHeader(t *testing.T) {
	h := must.Get(headerOf("treereduce rules 1\nname chomp\ntitle Chomp 5×4\nrules Eat.\nrules Do not die.\nparameter width 5\n" +
		"parameter height -4\nbits 20\ntiers 12\nties late\nstart 7\nplayers X, O\ntext\npicture\nbelow 1000000"))(t)
	got := fmt.Sprintf("%+v", *h)
	want := `{name:chomp title:Chomp 5×4 rules:Eat.

Do not die. params:[{name:width value:5} {name:height value:-4}] bits:20 start:7 below:1000000 most:999999 tiers:12 loops:map[] allLoop:false players:[X O] tiesLate:true puzzle:false text:true picture:true}`
	if got != want {
		t.Errorf("found %s\nwant  %s", got, want)
	}
	if tier := h.tier(5<<16 + 7); tier != 5 {
		t.Errorf("tier %d, want 5", tier)
	}
	for text, want := range map[string]string{
		"":                                    `expected "treereduce rules 1" as the first line, found ""`,
		"treereduce rules 2":                  `expected "treereduce rules 1" as the first line`,
		"treereduce rules 1":                  "the header has no line name",
		small + "\nstart 8":                   `"start 8": it is there twice`,
		small + "\nsize 8":                    "expected name, title, rules",
		small + "\nparameter width":           "expected parameter NAME INTEGER",
		small + "\nbelow x":                   "expected a number from 1 to 18446744073709551615",
		small + "\nbelow 0":                   "expected a number from 1 to",
		small + "\nbelow 257":                 "below 257 is more than 8 bits",
		small + "\nbelow 7":                   "the initial position 7 is not below 7",
		small + "\ntiers 0":                   "expected a number from 1 to 16383",
		small + "\ntiers 255":                 "tier 255 needs 8 bits, expected fewer than the 8 bits of a position",
		small + "\ntiers 127":                 "the initial position 7 is in tier 3, expected 0",
		small + "\nplayers X":                 "expected two names",
		small + "\nplayers X, X":              "expected two names",
		small + "\nties late":                 "ties late and loops need tiers",
		small + "\nloops all":                 "ties late and loops need tiers",
		tiered12 + "\nloops 2 ":               "expected all, or the numbers of tiers, separated by one blank",
		tiered12 + "\nloops none":             "expected all, or the numbers of tiers",
		tiered12 + "\nloops 3 13":             "loops has a tier after the last one, 12",
		tiered12 + "\nloops 0\nties late":     "ties late is for games without loops",
		tiered12 + "\nloops all\nties late":   "ties late is for games without loops",
		small + "\nties soon":                 "expected late",
		small + "\npuzzle\nplayers X, O":      "a puzzle has neither tiers nor players",
		small + "\ntext yes":                  "expected nothing after the first word",
		strings.Replace(small, "8", "65", 1):  "expected a number from 1 to 64",
		strings.Replace(small, "7", "256", 1): "the initial position 256 is not below 256",
	} {
		if _, err := headerOf(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if h := must.Get(headerOf("treereduce rules 1\nname wide\nbits 64\nstart 18446744073709551615"))(t); h.most != 1<<64-1 {
		t.Errorf("64 bits: positions up to %d", h.most)
	}
}

func TestParseAnswer(t *testing.T) {
	for _, test := range []struct{ more, line, want string }{
		{"", "win", "0 WIN []"}, {"", "lose", "0 LOSE []"}, {"", "tie", "0 TIE []"},
		{"", "5", "0 DRAW [{5 5}]"}, {"", "5 a:6 c:255", "0 DRAW [{5 5} {a 6} {c 255}]"}, {"", "b:c:255", `found "b:c:255"`}, {"", "lose ", "0 LOSE []"},
		{"\nplayers X, O", "2 lose", "1 LOSE []"}, {"\nplayers X, O", "1 a:5", "0 DRAW [{a 5}]"},
		{"\npuzzle", "solved", "0 TIE []"}, {"\npuzzle", "stuck", "0 DRAW [{stuck 3}]"},
		{"\npuzzle", "win", `expected solved, stuck or moves to numbers up to 255, separated by one blank, found "win"`},
		{"", "solved", `expected win, lose, tie or moves to numbers up to 255, separated by one blank, found "solved"`},
		{"", "", "found two blanks"}, {"", "5  6", "found two blanks"}, {"", "5 ", "0 DRAW [{5 5}]"}, {"", ":5", `found ":5"`}, {"", "a:", `found "a:"`},
		{"", "256", `found "256"`}, {"", "18446744073709551621", "found"}, {"", "-1", "found"}, {"", "0x1", "found"}, {"", "5,6", "found"},
		{"", "error no such", "no such"}, {"", "error ", "it is not a position"}, {"\nplayers X, O", "lose", "expected it to begin with the player to move"},
		{"\nplayers X, O", "3 5", "expected it to begin"}, {"", strings.Repeat(" 5", 65536)[1:], "found 65536 moves, expected at most 65535"},
	} {
		h := must.Get(headerOf(small + test.more))(t)
		var names []string
		s, to, err := h.parse([]byte(test.line), 3, nil, &names)
		moves, _ := byName(to, names)
		got := fmt.Sprint(int(s.mover), " ", s.result, " ", moves)
		if err = cmp.Or(refusal([]byte(test.line)), err); err != nil {
			got = err.Error()
		}
		if got != test.want && (err == nil || !strings.Contains(got, test.want)) {
			t.Errorf("%q: %s, want %s", test.line, got, test.want)
		}
	}
}

// TestCheckText checks each kind of character at each place of a line.
func TestCheckText(t *testing.T) {
	for _, good := range []string{"", "take1:0", "Häuser 5×4", "♟️ 👩‍🚀 日本語 ~"} {
		for n := range 20 {
			must.OK(t, checkText([]byte(strings.Repeat("x", n)+good+strings.Repeat("~", n%9))))
		}
	}
	for _, bad := range []string{"\x00", "\t", "\r", "\x1b", "\x1f", "\x7f", "\u0080", "\u009f", "\u2028", "\u2029", "\u202e", "\u2066", "\u200f", "\xff", "\xc3", "\xed\xa0\x80"} {
		for n := range 20 {
			if err := checkText([]byte(strings.Repeat("x", n) + bad + strings.Repeat("~", n%9))); err == nil {
				t.Errorf("%q after %d bytes is not found", bad, n)
			}
		}
	}
}

// FuzzProgram checks that no header and no answer is read beyond its limits.
func FuzzProgram(f *testing.F) {
	f.Add(small, "5 a:6")
	f.Add(small+"\nplayers X, O\ntiers 3\nties late", "1 win")
	f.Add(tiered12+"\nloops 0 2 12", "5")
	f.Add(small+"\npuzzle\nbelow 200", "stuck")
	f.Fuzz(func(t *testing.T, text, line string) {
		h, err := headerOf(text)
		if err != nil {
			return
		}
		if h.start > h.most || h.bits < 64 && h.most>>h.bits > 0 || h.tiers >= 0 && h.tier(h.start) != 0 {
			t.Fatalf("%q: %+v", text, h)
		}
		var names []string
		found, to, err := h.parse([]byte(line), h.start, nil, &names)
		if err != nil {
			return
		}
		if (found.result == game.Draws) != (len(to) > 0) || len(to) > game.MaxMoves || len(to) != len(names) {
			t.Fatalf("%q: %v, moves %v to %v", line, found, names, to)
		}
		for i, name := range names {
			if to[i] > h.most || name == "" || strings.Contains(name, " ") {
				t.Fatalf("%q: move %s to %d", line, name, to[i])
			}
		}
		again, more, err := h.parse([]byte(line), h.start, make([]game.Position, 1, 100), nil)
		if err != nil || again != found || !slices.Equal(more[1:], to) {
			t.Fatalf("%q without names: %v, %v, %v", line, again, more, err)
		}
	})
}

// TestAsk asks a program, which ends lines as Windows does, after a question of which it dies, when the game keeps as many
// answers as it may, and for a number that is too high.
func TestAsk(t *testing.T) {
	name := filepath.Join(t.TempDir(), "rules.sh")
	text := "printf '" + strings.ReplaceAll(small, "\n", `\n`) + `\n\n'; while read -r p; do case $p in '') printf '\r\n' ;; 5) exit 4 ;; *) printf 'lose\r\n' ;; esac; done`
	must.OK(t, os.WriteFile(name, []byte(text), 0o666))
	p := must.Get(Open(t.Context(), "sh "+name, Options{}))(t)
	defer p.Close()
	g := must.Get(p.Kind().New([]int{0}))(t).(*rules)
	if _, err := g.Batch([]game.Position{5}); err == nil {
		t.Error("it answered, and died")
	}
	for i := range game.Position(mostKept) {
		g.kept[i+256] = answer{}
	}
	if err := g.Check(3); err != nil || len(g.kept) != 1 {
		t.Errorf("%d answers are kept, %v", len(g.kept), err)
	}
	if err := g.Check(256); err == nil || err.Error() != "position 256: expected a number up to 255" {
		t.Errorf("%v", err)
	}
}
