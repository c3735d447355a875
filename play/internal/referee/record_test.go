package referee_test

import (
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/play/internal/referee"
)

// written returns a file of these games.
func written(t testing.TB, games ...referee.Played) string {
	t.Helper()
	var b strings.Builder
	must.OK(t, referee.WriteHeading(&b, ""))
	for _, p := range games {
		must.OK(t, p.Write(&b))
	}
	return b.String()
}

// read returns the games of a file, up to the first error.
func read(text string) (games []referee.Played, err error) {
	r := referee.NewReader(strings.NewReader(text), "file", all.Kinds().Parse)
	for {
		p, h, err := r.Next()
		if err == io.EOF {
			return games, nil
		}
		if err != nil {
			return games, err
		}
		if h.Game().Spec() != p.Game || fmt.Sprint(h.Names()) != fmt.Sprint(p.Moves) {
			return games, fmt.Errorf("history %v of %+v", h.Names(), p)
		}
		games = append(games, p)
	}
}

var samples = []referee.Played{
	{Game: three, Players: [2]string{"machine:depth=3", "A B  C"}, Opening: 2, Moves: []string{"0", "1", "0", "1", "0"}, Outcome: game.FirstWins},
	{Game: three, Players: [2]string{"A", "B"}, Moves: []string{"0"}, Outcome: game.FirstWins, Reason: referee.Resigned},
	{Game: three, Players: [2]string{"A", "B"}, Outcome: game.SecondWins, Reason: referee.Failed, Place: `move 1, first at "         "`, Did: "gave no answer", Message: "gone"},
	{Game: "mnk width=1 height=2 connect=2", Players: [2]string{"A", "B"}, Moves: []string{"a1", "a2"}, Outcome: game.Tie},
	{Game: cross, Players: [2]string{"A", "B"}, Moves: []string{"a1-", "a1|", "a1-", "a1|", "a1-"}, Reason: referee.Repeated},
	{Game: three, Players: [2]string{"A", "B"}, Moves: []string{"0", "1"}, Reason: referee.Adjourned},
	{Game: three, Players: [2]string{"A", "B"}, Moves: []string{"0"}, Outcome: game.FirstWins, Reason: referee.Late, Message: `move 1, first at "  ": late`,
		Times: []time.Duration{time.Millisecond, time.Second}},
}

func TestRecord(t *testing.T) {
	text := written(t, samples...)
	const first = `treereduce games 1

game connectn width=3 height=3 connect=3
first machine:depth=3
second A B  C
opening 2
moves 0 1 0 1 0
result first finished

game connectn`
	if !strings.HasPrefix(text, first) {
		t.Errorf("%s, want %s", text, first)
	}
	got, err := read(text)
	for i := range got {
		if len(got[i].Moves) == 0 {
			got[i].Moves = nil
		}
	}
	if err != nil || !reflect.DeepEqual(got, samples) {
		t.Errorf("%v\n%+v, want\n%+v", err, got, samples)
	}
	// Earlier versions wrote CPU times, too.
	if old, err := read(strings.Replace(text, "times 1ms 1s", "times 1ms/10ms 1s/0s", 1)); err != nil || !reflect.DeepEqual(old[len(old)-1].Times, samples[len(samples)-1].Times) {
		t.Errorf("%v\n%+v", err, old)
	}
	if got := samples[len(samples)-2].Text(game.Values{}); got != "adjourned after 2 moves" {
		t.Errorf("%q", got)
	}
	if got, err := read("treereduce games 1\n"); got != nil || err != nil {
		t.Errorf("no games: %v, %v", got, err)
	}
}

// TestEditedRecord checks that a file with a byte order mark and carriage returns is read.
func TestEditedRecord(t *testing.T) {
	games, err := read("\ufeff" + strings.ReplaceAll(written(t, samples...), "\n", "\r\n"))
	if err != nil || !reflect.DeepEqual(games, samples) {
		t.Errorf("%+v, want %+v; %v", games, samples, err)
	}
}

// TestRecordRefuses checks that every kind of invalid file is refused with the line and the
// reason.
func TestRecordRefuses(t *testing.T) {
	good := written(t, samples[0])
	for _, tt := range []struct{ old, new, want string }{
		{good, "", `file is empty: expected a file of --save`},
		{"games 1", "games 2", `file:1: expected "treereduce games 1", found "treereduce games 2"`},
		{"\n\ngame", "\ngame", `file:2: expected "settings", a space and more text, or an empty line, found "game connectn width=3 height=3 connect=3"`},
		{"finished\n", "finished\ntimes 1ms\n", `file:9: expected times of the moves, found "1ms"`},
		{"finished\n", "finished\ntimes 1ms 2s 0.1s\n", `file:9: expected times of the moves, found "1ms 2s 0.1s"`},
		{"finished\n", "finished\ntimes 1ms 2s -1s\n", `file:9: expected times of the moves, found "1ms 2s -1s"`},
		{"finished\n", "finished\ntime 1ms\n", `file:9: expected "times", a space and more text, or an empty line, found "time 1ms"`},
		{"game connectn", "gain connectn", `file:3: expected "game", a space and more text, found "gain connectn width=3 height=3 connect=3"`},
		{"connect=3", "connect=4", `file:3: expected a game (connectn: connect 4 is longer than both sides of a board of 3×3), found "connectn width=3 height=3 connect=4"`},
		{"width=3 height", "width=3  height", `file:3: expected connectn width=3 height=3 connect=3, found "connectn width=3  height=3 connect=3"`},
		{"A B", "A\rB", `file:5: expected a name, found "A\rB  C"`},
		{"moves 0 1 0 1 0", "moves ", `file:7: expected "moves", a space and more text, found "moves "`},
		{"second A B  C", "second", `file:5: expected a name, found ""`},
		{"opening 2", "opening 02", `file:6: expected number of opening moves, found "02"`},
		{"opening 2", "opening -1", `file:6: expected number of opening moves, found "-1"`},
		{"opening 2", "opening 6", `file:7: expected at least the 6 opening moves, found "0 1 0 1 0"`},
		{"0 1 0 1 0", "0 1 9", `file:7: expected moves of the game (move 3: expected one of 0 1 2, found "9"), found "0 1 9"`},
		{"0 1 0 1 0", "0 1 0 1 0 1", `file:7: expected 5 moves, after which the game is over, found "0 1 0 1 0 1"`},
		{"0 1 0 1 0", "0  1", `file:7: expected moves of the game (move 2: expected one of 0 1 2, found ""), found "0  1"`},
		{"first finished", "second finished", `file:8: expected first finished, according to the moves, found "second finished"`},
		{"first finished", "first late too long", `file:8: expected first finished, according to the moves, found "first late too long"`},
		{"first finished", "first won", `file:8: expected first, second, tie or draw, and one of finished resigned illegal failed late repetition plies; or none adjourned, found "first won"`},
		{"first finished", "draw adjourned", `file:8: expected first, second, tie or draw, and one of finished resigned illegal failed late repetition plies; or none adjourned, found "draw adjourned"`},
		{"first finished", "none finished", `file:8: expected first, second, tie or draw, and one of finished resigned illegal failed late repetition plies; or none adjourned, found "none finished"`},
		{"first finished", "none adjourned", `file:8: expected first finished, according to the moves, found "none adjourned"`},
		{"first finished", "first finished well", `file:8: expected a description for illegal, failed and late, and none for other reasons, found "first finished well"`},
		{"first finished", "first late", `file:8: expected a description for illegal, failed and late, and none for other reasons, found "first late"`},
		{"0 1 0 1 0\n", "0 1 0 1\n", `file:8: expected a loss of first, the player to move of the unfinished game, found "first finished"`},
		{"0 1 0 1 0\nresult first finished", "0 1 0 1\nresult first resigned", `file:8: expected a loss of first, the player to move of the unfinished game, found "first resigned"`},
		{"0 1 0 1 0\nresult first finished", "0 1 0 1\nresult draw repetition", `file:8: expected a loss of first, the player to move of the unfinished game, found "draw repetition"`},
		{"finished\n", "finished\nfault failed\n", `file:9: expected "times", a space and more text, or an empty line, found "fault failed"`},
		{"0 1 0 1 0\nresult first finished\n", "0 1 0 1\nresult second failed gone\nfault a\tb\n", `file:9: expected what the player did, found "a\tb"`},
		{"result first finished\n", "", `file:7: expected "result" and more text: the file is truncated, found ""`},
		{"finished\n", "finished\n\n", `file:9: expected "game" and more text: the file is truncated, found ""`},
	} {
		text := strings.Replace(good, tt.old, tt.new, 1)
		if _, err := read(text); text == good || err == nil || err.Error() != tt.want {
			t.Errorf("%q for %q: %v, want %s", tt.new, tt.old, err, tt.want)
		}
	}
}

// TestReadAll checks that, wherever the writer of a file is stopped, its complete games are read, and
// the settings; and that what is written after them makes a valid file.
func TestReadAll(t *testing.T) {
	var b strings.Builder
	referee.WriteHeading(&b, "seed=1")
	heading := b.Len()
	samples := []referee.Played{samples[1], samples[2], samples[len(samples)-1]}
	for _, p := range samples {
		p.Write(&b)
	}
	text := b.String()
	complete := 0 // games before the end
	for end := heading; end <= len(text); end++ {
		settings, games, length, err := referee.ReadAll([]byte(text[:end]), "file", all.Kinds().Parse)
		if err != nil || settings != "seed=1" || len(games) < complete || len(games) > complete+1 || length > end {
			t.Fatalf("%q: %q, %d games, length %d, %v, want %d games", text[:end], settings, len(games), length, err, complete)
		}
		complete = len(games)
		again := new(strings.Builder)
		again.WriteString(text[:length])
		samples[0].Write(again)
		if games, err := read(again.String()); err != nil || len(games) != complete+1 {
			t.Fatalf("%q: %d games, %v", again, len(games), err)
		}
	}
	if complete != len(samples) {
		t.Errorf("%d games, want %d", complete, len(samples))
	}
	damaged := strings.Replace(text, "moves 0\n", "moves 7\n", 1)
	if _, _, _, err := referee.ReadAll([]byte(damaged), "file", all.Kinds().Parse); err == nil || !strings.HasPrefix(err.Error(), "file:8: ") {
		t.Error(err)
	}
}

// FuzzRecord checks that a valid file equals what is written for its games.
func FuzzRecord(f *testing.F) {
	f.Add(written(f, samples...))
	for _, p := range samples {
		f.Add(written(f, p))
	}
	f.Fuzz(func(t *testing.T, text string) {
		games, err := read(text)
		if again := written(t, games...); err == nil && len(games) > 0 && again != text && again != text+"\n" {
			t.Errorf("%q is written %q", text, again)
		}
	})
}
