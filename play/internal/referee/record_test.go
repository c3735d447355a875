package referee_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/referee"
)

// written returns a file of these games.
func written(t testing.TB, games ...referee.Played) string {
	t.Helper()
	var b strings.Builder
	for _, p := range games {
		must.OK(t, p.Record(0).Write(&b))
	}
	return b.String()
}

// read returns the games of a file, up to the first error.
func read(text string) (games []referee.Played, err error) {
	for p, err := range referee.Games(strings.NewReader(text), "file", all.Kinds().Parse) {
		if err != nil {
			return games, err
		}
		games = append(games, p)
	}
	return games, nil
}

// show describes games whole.
func show(games ...referee.Played) (text string) {
	for _, p := range games {
		h := p.History
		p.History = nil
		text += fmt.Sprintf("%s %q %+v\n", h.Game().Spec(), h.Names(), p)
	}
	return text
}

// samples returns games that ended in different ways.
func samples(t testing.TB) []referee.Played {
	after := func(spec, moves string, p referee.Played) referee.Played {
		t.Helper()
		p.History = player.NewHistory(solved.Game(t, spec))
		for _, name := range strings.Fields(moves) {
			must.OK(t, p.History.Play(name))
		}
		return p
	}
	ab := [2]string{"A", "B"}
	return []referee.Played{
		after(three, "0 1 0 1 0", referee.Played{Players: [2]string{"machine:depth=3", "A <B>  \"ü"}, Opening: 2, Outcome: game.FirstWins}),
		after(three, "0", referee.Played{Players: ab, Outcome: game.FirstWins, Reason: referee.Resigned}),
		after(three, "", referee.Played{Players: ab, Outcome: game.SecondWins, Reason: referee.Failed, Place: `move 1, first at "         "`, Did: "gave no answer", Message: "gone"}),
		after("mnk width=1 height=2 connect=2", "a1 a2", referee.Played{Players: ab, Outcome: game.Tie}),
		after(cross, "a1- a1| a1- a1| a1-", referee.Played{Players: ab, Reason: referee.Repeated}),
		after(three, "0 1", referee.Played{Players: ab, Reason: referee.Adjourned}),
		after(three, "0", referee.Played{Players: ab, Outcome: game.FirstWins, Reason: referee.Late, Message: "late", Times: []time.Duration{1234567, time.Hour + 1}}),
	}
}

// TestRecord checks that games are read as they were written, also from a file with a byte order mark, carriage returns and
// empty lines.
func TestRecord(t *testing.T) {
	text := written(t, samples(t)...)
	const first = `{"spec":"connectn width=3 height=3 connect=3","first":"machine:depth=3","second":"A \u003cB\u003e  \"ü","opening":2,` +
		`"moves":["0","1","0","1","0"],"result":"first","reason":"finished"}` + "\n{"
	if !strings.HasPrefix(text, first) {
		t.Errorf("%s, want %s", text, first)
	}
	for _, text := range []string{text, strings.TrimSuffix(text, "\n"), "\ufeff" + strings.ReplaceAll(text, "\n", "\r\n\r\n")} {
		got, err := read(text)
		if err != nil || show(got...) != show(samples(t)...) {
			t.Errorf("%v\n%s, want\n%s", err, show(got...), show(samples(t)...))
		}
	}
	if got := samples(t)[5].Text(game.Values{}); got != "adjourned after 2 moves" {
		t.Errorf("%q", got)
	}
}

// TestRecordRefuses checks that every kind of invalid line is refused with its number and the reason.
func TestRecordRefuses(t *testing.T) {
	good := written(t, samples(t)[0])
	for _, tt := range []struct{ old, new, want string }{
		{good, "treereduce games 1\n", "expected a line of JSON: invalid character"},
		{"}", "}}", "expected a line of JSON: invalid character"},
		{"}", "", "expected a line of JSON: unexpected end"},
		{"connect=3", "connect=4", `spec "connectn width=3 height=3 connect=4": connectn: connect 4 is longer than both sides of a board of 3×3`},
		{"machine", `a\r`, `expected a text on one line, found "a\r:depth=3"`},
		{"machine:depth=3", "", `expected a text on one line, found ""`},
		{`"opening":2`, `"opening":-1`, "opening: expected 0 to 5 moves, found -1"},
		{`"opening":2`, `"opening":6`, "opening: expected 0 to 5 moves, found 6"},
		{`"1","0"]`, `"9"]`, `move 4: expected one of 0 1 2, found "9"`},
		{`"1","0"]`, `"1","0","1"]`, "expected 5 moves, after which the game is over, found 6"},
		{`"finished"`, `"won"`, `reason: expected one of ["finished" "resigned" "illegal" "failed" "late" "repetition" "plies" "adjourned"], found "won"`},
		{`"finished"`, `"late","message":"too long"`, "reason: expected finished, by the moves, found late"},
		{`"finished"`, `"adjourned"`, "reason: expected finished, by the moves, found adjourned"},
		{`"first","reason"`, `"second","reason"`, `result: expected first, by the moves and the reason, found "second"`},
		{`"1","0"]`, `"1"]`, "reason: expected that of an unfinished game, found finished"},
		{`"1","0"],"result":"first","reason":"finished"`, `"1"],"result":"first","reason":"resigned"`, `result: expected second, by the moves and the reason, found "first"`},
		{`"1","0"],"result":"first","reason":"finished"`, `"1"],"result":"second","reason":"failed"`, "expected a message for the reasons"},
		{`"finished"`, `"finished","message":"well"`, "expected a message for the reasons"},
		{`"finished"`, `"finished","did":"well"`, "expected a message for the reasons"},
		{`"1","0"],"result":"first","reason":"finished"`, `"1"],"result":"second","reason":"failed","message":"gone","did":"a\tb"`, `expected a text on one line, found "-a\tb"`},
		{`"finished"`, `"finished","seconds":[1]`, "seconds: expected those of 3 moves, found 1"},
		{`"finished"`, `"finished","seconds":[1,2,-1]`, "seconds: expected times of moves, found -1"},
		{`"finished"`, `"finished","seconds":[1,2,1e300]`, "seconds: expected times of moves, found 1e+300"},
	} {
		text := strings.Replace(good, tt.old, tt.new, 1)
		if games, err := read(good + text); text == good || err == nil || !strings.HasPrefix(err.Error(), "file:2: "+tt.want) || len(games) != 1 {
			t.Errorf("%q for %q: %v, want %s", tt.new, tt.old, err, tt.want)
		}
	}
}

// TestReadAll checks that, wherever the writer of a file is stopped, its complete games are read, and
// the settings; and that what is written after them makes a valid file.
func TestReadAll(t *testing.T) {
	var b strings.Builder
	must.OK(t, referee.WriteSettings(&b, [][2]string{{"Seed", "1"}}))
	heading := b.Len()
	text := b.String() + written(t, samples(t)...)
	for end := heading; end <= len(text); end++ {
		settings, games, length, err := referee.ReadAll([]byte(text[:end]), "file", all.Kinds().Parse)
		if want := strings.Count(text[heading:end], "\n"); err != nil || fmt.Sprint(settings) != "[[Seed 1]]" || len(games) != want || length > end {
			t.Fatalf("%q: %v, %d games, length %d, %v, want %d games", text[:end], settings, len(games), length, err, want)
		}
		if again, err := read(text[:length] + written(t, samples(t)[0])); err != nil || len(again) != len(games)+1 {
			t.Fatalf("%q: %d games, %v", text[:length], len(again), err)
		}
	}
	if _, _, _, err := referee.ReadAll([]byte(strings.Replace(text, `["0"]`, `["7"]`, 1)), "file", all.Kinds().Parse); err == nil || !strings.HasPrefix(err.Error(), "file:3: ") {
		t.Error(err)
	}
}

// TestAppendTo appends games to files, of which the last one is read again. A file of another format, or a damaged one, is
// left unchanged.
func TestAppendTo(t *testing.T) {
	parse, dir := all.Kinds().Parse, t.TempDir()
	name := filepath.Join(dir, "games")
	if _, err := referee.LastOf(name, parse); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	for _, p := range samples(t) {
		must.OK(t, p.AppendTo(name, parse))
		if last := must.Get(referee.LastOf(name, parse))(t); show(last) != show(p) {
			t.Errorf("%s, want %s", show(last), show(p))
		}
	}
	if games := must.Get(read(string(must.Get(os.ReadFile(name))(t))))(t); len(games) != len(samples(t)) {
		t.Error(games)
	}
	one := written(t, samples(t)[0])
	for text, want := range map[string]string{"hello\n": ":1: expected a line of JSON", "hello\n" + one: ":1: expected a line of JSON", "\n": "the file has no games", one + one[:20]: ":2: expected a line of JSON", strings.TrimSuffix(one, "\n"): ""} {
		must.OK(t, os.WriteFile(name, []byte(text), 0o666))
		if _, err := referee.LastOf(name, parse); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
		may := !strings.HasPrefix(want, ":")
		if err := samples(t)[1].AppendTo(name, parse); (err == nil) != may {
			t.Errorf("%q: %v", text, err)
		}
		if now := string(must.Get(os.ReadFile(name))(t)); (now == text) == may {
			t.Errorf("%q is now %q", text, now)
		}
		if _, err := referee.LastOf(name, parse); (err == nil) != may {
			t.Errorf("%q: %v", text, err)
		}
	}
	if err := samples(t)[0].AppendTo(filepath.Join(dir, "none", "such"), parse); err == nil {
		t.Error("a file in a directory that is missing")
	}
}

// FuzzRecord checks that the games of a valid file are read again as they are written.
func FuzzRecord(f *testing.F) {
	f.Add(written(f, samples(f)...))
	for _, p := range samples(f) {
		f.Add(written(f, p))
	}
	f.Fuzz(func(t *testing.T, text string) {
		games, err := read(text)
		if err != nil {
			return
		}
		if again, err := read(written(t, games...)); err != nil || show(again...) != show(games...) {
			t.Errorf("%q is read as %s, and again as %s, %v", text, show(games...), show(again...), err)
		}
	})
}
