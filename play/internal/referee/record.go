package referee

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/streamfmt"
)

// A file of played games is text: a heading, and for each game an empty line and six to eight
// lines. Each of these is a word, a space and a value. The heading of a match or tournament has
// a second line with its settings.
//
//	treereduce games 1
//	settings seed=5 games=4
//
//	game connectn width=3 height=3 connect=3
//	first machine:depth=3
//	second random
//	opening 2
//	moves 1 0 1 2 1
//	result first finished
//	times 1.2ms 4µs
//
// first and second are the names of the players, opening is the number of moves that were
// given. The result is first, second, tie or draw, and a Reason, followed by the description
// of a fault: "result first illegal move 4, second at …". A line "fault …" has Played.Did, unless that is "". The
// result of a play that has not ended is "none adjourned". The times, if they are known, are Played.Times; earlier
// versions wrote CPU times after a slash, which the reader ignores. There is only one way to write a game otherwise;
// the reader rejects any other.
const heading = "treereduce games 1"

// outcomes are the words for the outcomes.
var outcomes = [...]string{game.Undecided: "draw", game.SecondWins: "second", game.FirstWins: "first", game.Tie: "tie"}

// WriteHeading writes the heading of a file of played games, with settings unless they are "".
func WriteHeading(w io.Writer, settings string) error {
	text := heading + "\n"
	if settings != "" {
		text += "settings " + settings + "\n"
	}
	_, err := io.WriteString(w, text)
	return err
}

// Write writes a game to a file of played games, in one call of w.Write.
func (p Played) Write(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\ngame %s\nfirst %s\nsecond %s\nopening %d\n", p.Game, oneLine(p.Players[0]), oneLine(p.Players[1]), p.Opening)
	fmt.Fprintf(&b, "%s\n", strings.Join(append([]string{"moves"}, p.Moves...), " "))
	fmt.Fprintf(&b, "result %s %s", p.Result(), p.Reason)
	if p.Fault() {
		fmt.Fprintf(&b, " %s", p.Detail())
	}
	b.WriteString("\n")
	if p.Did != "" {
		fmt.Fprintf(&b, "fault %s\n", p.Did)
	}
	if len(p.Times) > 0 {
		b.WriteString("times")
		for _, took := range p.Times {
			fmt.Fprintf(&b, " %v", took)
		}
		b.WriteString("\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// none is the result of a play that has not ended.
const none = "none"

// Result returns the word for the outcome: first, second, tie or draw; or none, if the play
// has not ended.
func (p Played) Result() string {
	if p.Reason == Adjourned {
		return none
	}
	return outcomes[p.Outcome]
}

// A Reader reads a file of played games and replays each: the moves must be legal, and the
// result must be the one that they lead to.
type Reader struct {
	source   string // for errors
	lines    *streamfmt.LineReader
	parse    func(spec string) (game.Game, error)
	begun    bool
	settings string
	ended    bool // an empty line has been read after the last line of a game or of the heading
}

// NewReader makes a Reader of r. Errors refer to the file as source. parse makes the game of
// a spec, as game.Kinds.Parse does.
func NewReader(r io.Reader, source string, parse func(spec string) (game.Game, error)) *Reader {
	return &Reader{source: source, lines: streamfmt.NewEditedReader(r, source), parse: parse}
}

// line reads a line, which must begin with word and a blank, and returns the rest. If word
// is empty, the line must be empty.
func (r *Reader) line(word string) (string, error) {
	line, err := r.lines.Next()
	if err == io.EOF {
		err = r.lines.Errorf(fmt.Sprintf("%q and more text: the file is truncated", word), nil)
		if word == "" {
			err = io.EOF
		}
	}
	if err != nil {
		return "", err
	}
	text := string(line)
	if word == "" {
		if text != "" {
			return "", r.lines.Errorf("an empty line", line)
		}
		return "", nil
	}
	if text == word {
		return "", nil
	}
	rest, ok := strings.CutPrefix(text, word+" ")
	if !ok || rest == "" {
		return "", r.lines.Errorf(fmt.Sprintf("%q, a space and more text", word), line)
	}
	return rest, nil
}

// Settings returns those in the heading, after the first call of Next.
func (r *Reader) Settings() string { return r.settings }

// optional reads a line that begins with one of words and a space, or the empty line that follows where
// there is no such line, or the end of the file. It returns the word and the rest of the line; "" if there is
// none.
func (r *Reader) optional(words ...string) (word, rest string, err error) {
	line, err := r.lines.Next()
	if err == io.EOF {
		return "", "", nil
	}
	if err != nil {
		return "", "", err
	}
	if len(line) == 0 {
		r.ended = true
		return "", "", nil
	}
	word, rest, _ = strings.Cut(string(line), " ")
	if !slices.Contains(words, word) || rest == "" {
		return "", "", r.lines.Errorf(fmt.Sprintf("%q, a space and more text, or an empty line", words[len(words)-1]), line)
	}
	return word, rest, nil
}

// Next returns the next game and its history, or io.EOF after the last. Any other error
// names the line; the Reader cannot be used after it.
func (r *Reader) Next() (Played, *player.History, error) {
	if !r.begun {
		line, err := r.lines.Next()
		if err == io.EOF {
			return Played{}, nil, fmt.Errorf("%s is empty: expected a file of --save", r.source)
		}
		if err != nil {
			return Played{}, nil, err
		}
		if string(line) != heading {
			return Played{}, nil, r.lines.Errorf(strconv.Quote(heading), line)
		}
		r.begun = true
		if _, r.settings, err = r.optional("settings"); err != nil {
			return Played{}, nil, err
		}
	}
	if !r.ended {
		if _, err := r.line(""); err != nil {
			return Played{}, nil, err
		}
	}
	r.ended = false
	return r.game()
}

// ReadAll returns the settings and the games of a file that is being written: if its last game
// is incomplete, because the writer was stopped, it is not among them. Length is the length of
// the text up to there.
func ReadAll(text []byte, source string, parse func(spec string) (game.Game, error)) (settings string, games []Played, length int, err error) {
	for _, length = range []int{bytes.LastIndexByte(text, '\n') + 1, bytes.LastIndex(text, []byte("\n\n")) + 1} {
		r := NewReader(bytes.NewReader(text[:length]), source, parse)
		games = nil
		for err = nil; err == nil; {
			var p Played
			if p, _, err = r.Next(); err == nil {
				games = append(games, p)
			}
		}
		if err == io.EOF {
			return r.Settings(), games, length, nil
		}
	}
	return "", nil, 0, err
}

// game reads the lines of a game.
func (r *Reader) game() (p Played, h *player.History, err error) {
	// wrong makes an error for the last line read.
	wrong := func(want, found string) error { return r.lines.Errorf(want, []byte(found)) }
	if p.Game, err = r.line("game"); err != nil {
		return p, nil, err
	}
	g, err := r.parse(p.Game)
	if err != nil {
		return p, nil, wrong(fmt.Sprintf("a game (%v)", err), p.Game)
	}
	if g.Spec() != p.Game {
		return p, nil, wrong(g.Spec(), p.Game)
	}
	for i, word := range []string{"first", "second"} {
		if p.Players[i], err = r.line(word); err != nil {
			return p, nil, err
		}
		if name := p.Players[i]; name != oneLine(name) {
			return p, nil, wrong("a name", name)
		}
	}
	opening, err := r.line("opening")
	if err != nil {
		return p, nil, err
	}
	if p.Opening, err = strconv.Atoi(opening); err != nil || p.Opening < 0 || strconv.Itoa(p.Opening) != opening {
		return p, nil, wrong("number of opening moves", opening)
	}
	moves, err := r.line("moves")
	if err != nil {
		return p, nil, err
	}
	h = player.NewHistory(g)
	rule := game.DrawRuleOf(g)
	if moves != "" {
		for i, name := range strings.Split(moves, " ") {
			if _, _, over := Ended(h, rule); over {
				return p, nil, wrong(fmt.Sprintf("%d moves, after which the game is over", i), moves)
			}
			if err := h.Play(name); err != nil {
				return p, nil, wrong(fmt.Sprintf("moves of the game (move %d: %v)", i+1, err), moves)
			}
		}
	}
	if p.Moves = slices.Clone(h.Names()); p.Opening > len(p.Moves) {
		return p, nil, wrong(fmt.Sprintf("at least the %d opening moves", p.Opening), moves)
	}
	result, err := r.line("result")
	if err != nil {
		return p, nil, err
	}
	if want := p.read(result, h); want != "" {
		return p, nil, wrong(want, result)
	}
	optional := []string{"fault", "times"}
	if !p.Fault() {
		optional = optional[1:]
	}
	word, times, err := r.optional(optional...)
	if word == "fault" {
		if p.Did = times; p.Did != oneLine(p.Did) {
			return p, nil, wrong("what the player did", p.Did)
		}
		_, times, err = r.optional("times")
	}
	if err != nil {
		return p, nil, err
	}
	if !p.readTimes(times) {
		return p, nil, wrong("times of the moves", times)
	}
	return p, h, nil
}

// readTimes parses the times of a game, and reports whether they are as Write writes them.
func (p *Played) readTimes(text string) bool {
	if text == "" {
		return true
	}
	for word := range strings.SplitSeq(text, " ") {
		word, _, _ = strings.Cut(word, "/")
		took, err := time.ParseDuration(word)
		if err != nil || took < 0 || took.String() != word {
			return false
		}
		p.Times = append(p.Times, took)
	}
	chosen := len(p.Moves) - p.Opening
	return len(p.Times) == chosen || p.Reason == Late && len(p.Times) == chosen+1
}

// read parses the result of a game with history h. If it is wrong, want describes what was
// expected.
func (p *Played) read(result string, h *player.History) (want string) {
	outcome, rest, _ := strings.Cut(result, " ")
	reason, detail, known := strings.Cut(rest, " ")
	o, r := slices.Index(outcomes[:], outcome), slices.Index(reasons[:], reason)
	if outcome == none {
		o = int(game.Undecided)
	}
	if o < 0 || r < 0 || (outcome == none) != (Reason(r) == Adjourned) {
		return fmt.Sprintf("first, second, tie or draw, and one of %s; or %s %s",
			strings.Join(reasons[:Adjourned], " "), none, Adjourned)
	}
	p.Outcome, p.Reason, p.Message = game.Outcome(o), Reason(r), detail
	if place := placeOf(h); strings.HasPrefix(detail, place+": ") && len(detail) > len(place)+2 {
		p.Place, p.Message = place, detail[len(place)+2:]
	}
	if known != p.Fault() || known && (detail == "" || detail != oneLine(detail)) {
		return "a description for illegal, failed and late, and none for other reasons"
	}
	real, why, over := Ended(h, game.DrawRuleOf(h.Game()))
	switch {
	case over && (real != p.Outcome || why != p.Reason):
		return fmt.Sprintf("%s %s, according to the moves", outcomes[real], why)
	case !over && p.Reason != Adjourned && (p.Reason != Resigned && !p.Fault() || p.Outcome != game.WinFor(h.Turn().Other())):
		return fmt.Sprintf("a loss of %s, the player to move of the unfinished game", player.Side(h.Turn()))
	}
	return ""
}
