package referee

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"slices"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/play/internal/player"
)

// A Record is a game as a line of JSON. A file of played games has a line for each, and may have empty lines:
//
//	{"spec":"connectn width=3 height=3 connect=3","first":"machine:depth=3","second":"random","opening":2,
//	"moves":["1","0","1","2","1"],"result":"first","reason":"finished","seconds":[0.0012,0.000004,0.001]}
//
// That of a match or tournament begins with a line that has only settings.
type Record struct {
	Settings [][2]string `json:"settings,omitempty"` // what the games of a match or tournament depend on, by name
	Number   int         `json:"game,omitempty"`     // from 1; not in files
	Spec     string      `json:"spec"`
	First    string      `json:"first"` // the names of the players
	Second   string      `json:"second"`
	Opening  int         `json:"opening"` // number of moves that were given
	Moves    []string    `json:"moves"`
	Result   string      `json:"result"` // see Played.Result
	Reason   string      `json:"reason"`
	Place    string      `json:"place,omitempty"` // these three describe the fault of the loser, see Played
	Did      string      `json:"did,omitempty"`
	Message  string      `json:"message,omitempty"`
	Seconds  []float64   `json:"seconds,omitempty"` // Played.Times
}

// outcomes are the words for the outcomes.
var outcomes = [...]string{game.Undecided: "draw", game.SecondWins: "second", game.FirstWins: "first", game.Tie: "tie"}

// Result returns the word for the outcome: first, second, tie or draw; or none, if the play
// has not ended.
func (p Played) Result() string {
	if p.Reason == Adjourned {
		return "none"
	}
	return outcomes[p.Outcome]
}

// Record returns the game as a line; number is its number, or 0 in a file.
func (p Played) Record(number int) Record {
	r := Record{
		Number: number, Spec: p.History.Game().Spec(), First: oneLine(p.Players[0]), Second: oneLine(p.Players[1]), Opening: p.Opening, Moves: append([]string{}, p.History.Names()...),
		Result: p.Result(), Reason: p.Reason.String(), Place: p.Place, Did: p.Did, Message: p.Message,
	}
	for _, took := range p.Times {
		r.Seconds = append(r.Seconds, took.Seconds())
	}
	return r
}

// Write writes the line to a file of played games, in one call of w.Write.
func (r Record) Write(w io.Writer) error { return json.NewEncoder(w).Encode(r) }

// WriteSettings writes the first line of the file of a match or tournament.
func WriteSettings(w io.Writer, settings [][2]string) error {
	return json.NewEncoder(w).Encode(map[string][][2]string{"settings": settings})
}

// Games reads a file of played games and replays each: the moves must be legal, and the
// result must be the one that they lead to. An error names the line, with the file as source, and is the last. parse makes the
// game of a spec, as game.Kinds.Parse does.
func Games(r io.Reader, source string, parse func(spec string) (game.Game, error)) iter.Seq2[Played, error] {
	return func(yield func(Played, error) bool) {
		in := bufio.NewReader(r)
		for line := 1; ; line++ {
			text, err := in.ReadBytes('\n')
			if err != nil && (err != io.EOF || len(text) == 0) {
				if err != io.EOF {
					yield(Played{}, err)
				}
				return
			}
			if line == 1 {
				text = bytes.TrimPrefix(text, []byte("\ufeff")) // an editor's byte order mark
			}
			if len(bytes.TrimSpace(text)) == 0 {
				continue
			}
			var p Played
			var record Record
			if err = json.Unmarshal(text, &record); err != nil {
				err = fmt.Errorf("expected a line of JSON: %w", err)
			} else if record.Settings != nil {
				continue
			} else {
				p, err = record.played(parse)
			}
			if err != nil {
				err = fmt.Errorf("%s:%d: %w", source, line, err)
			}
			if !yield(p, err) || err != nil {
				return
			}
		}
	}
}

// ReadAll returns the settings and the games of a file that is being written: if its last line
// is incomplete, because the writer was stopped, it is not among them. Length is the length of
// the text up to there.
func ReadAll(text []byte, source string, parse func(spec string) (game.Game, error)) (settings [][2]string, games []Played, length int, err error) {
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	for p, err := range Games(bytes.NewReader(text), source, parse) {
		if err != nil {
			return nil, nil, 0, err
		}
		games = append(games, p)
	}
	var first Record
	json.NewDecoder(bytes.NewReader(text)).Decode(&first) // an error is one of Games
	return first.Settings, games, len(text), nil
}

// played makes the moves of a game again, and checks the rest of the line.
func (r Record) played(parse func(spec string) (game.Game, error)) (p Played, err error) {
	g, err := parse(r.Spec)
	if err != nil {
		return p, fmt.Errorf("spec %q: %w", r.Spec, err)
	}
	h := player.NewHistory(g)
	p = Played{History: h, Players: [2]string{r.First, r.Second}, Opening: r.Opening, Place: r.Place, Did: r.Did, Message: r.Message}
	for i, name := range r.Moves {
		if _, _, over := Ended(h); over {
			return p, fmt.Errorf("expected %d moves, after which the game is over, found %d", i, len(r.Moves))
		}
		if err := h.Play(name); err != nil {
			return p, fmt.Errorf("move %d: %w", i+1, err)
		}
	}
	if r.Opening < 0 || r.Opening > len(r.Moves) {
		return p, fmt.Errorf("opening: expected 0 to %d moves, found %d", len(r.Moves), r.Opening)
	}
	reason := slices.Index(reasons[:], r.Reason)
	if reason < 0 {
		return p, fmt.Errorf("reason: expected one of %q, found %q", reasons, r.Reason)
	}
	p.Reason = Reason(reason)
	outcome, why, over := Ended(h)
	if p.Outcome = outcome; !over && p.Reason != Adjourned {
		p.Outcome = game.WinFor(h.Turn().Other())
	}
	switch {
	case over && p.Reason != why:
		return p, fmt.Errorf("reason: expected %s, by the moves, found %s", why, p.Reason)
	case !over && p.Reason != Adjourned && p.Reason != Resigned && !p.Fault():
		return p, fmt.Errorf("reason: expected that of an unfinished game, found %s", p.Reason)
	case r.Result != p.Result():
		return p, fmt.Errorf("result: expected %s, by the moves and the reason, found %q", p.Result(), r.Result)
	case p.Fault() != (r.Message != "") || !p.Fault() && r.Place+r.Did != "":
		return p, errors.New("expected a message for the reasons illegal, failed and late, and none for others")
	}
	for _, text := range []string{r.First, r.Second, "-" + r.Place, "-" + r.Did, "-" + r.Message} {
		if text != oneLine(text) {
			return p, fmt.Errorf("expected a text on one line, found %q", text)
		}
	}
	return p, p.setTimes(r.Seconds)
}

// setTimes sets the times of the moves, if they are known.
func (p *Played) setTimes(seconds []float64) error {
	for _, s := range seconds {
		if !(s >= 0 && s < math.MaxInt64/float64(time.Second)) {
			return fmt.Errorf("seconds: expected times of moves, found %v", s)
		}
		p.Times = append(p.Times, time.Duration(math.Round(s*float64(time.Second))))
	}
	if n, chosen := len(seconds), len(p.History.Names())-p.Opening; n > 0 && n != chosen && !(p.Reason == Late && n == chosen+1) {
		return fmt.Errorf("seconds: expected those of %d moves, found %d", chosen, n)
	}
	return nil
}

// errNoGames is the error for a file of played games without games.
var errNoGames = errors.New("the file has no games")

// LastOf returns the last game of a file of played games. parse is that of Games.
func LastOf(name string, parse func(spec string) (game.Game, error)) (last Played, err error) {
	f, err := os.Open(name)
	if err != nil {
		return last, err
	}
	defer f.Close()
	err = fmt.Errorf("%s: %w", name, errNoGames)
	for last, err = range Games(f, name, parse) {
	}
	return last, err
}

// AppendTo appends a game to a file of played games, and creates the file if necessary. A file in another format is left
// unchanged.
func (p Played) AppendTo(name string, parse func(spec string) (game.Game, error)) error {
	if _, err := LastOf(name, parse); err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, errNoGames) {
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString("\n") // the last line may lack its end
	return errors.Join(err, p.Record(0).Write(f), f.Close())
}
