package web

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/notation"
	"github.com/treereduce/treereduce/play/internal/analysis"
	"github.com/treereduce/treereduce/play/internal/board"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/referee"
	"github.com/treereduce/treereduce/play/internal/session"
)

// maxPlies is the number of moves that a request may name.
const maxPlies = 2000

// play returns the game and the play that a request describes: from is the position at which it begins, in any form that
// notation.Parse reads, of which moves are those of the play (the initial position if it is missing), and moves are the names
// of the moves since, with commas between them.
func (s *Server) play(r *Request) (*served, *player.History, error) {
	g, err := s.game(r)
	if err != nil {
		return nil, nil, err
	}
	query := r.Parameters()
	h := player.NewHistory(g.g)
	if from := query.Get("from"); from != "" {
		a, err := notation.Parse(g.g, from, notation.AnyForm)
		if err != nil {
			return nil, nil, badRequest(fmt.Errorf("position %q: %w", from, err))
		}
		if err := playAll(h, strings.Join(a.Moves, ",")); err != nil {
			return nil, nil, err
		}
		if len(a.Moves) == 0 {
			h = player.NewHistoryFrom(g.g, a.Position)
		}
	}
	return g, h, playAll(h, query.Get("moves"))
}

// playAll plays moves with commas between them.
func playAll(h *player.History, moves string) error {
	for name := range strings.FieldsFuncSeq(moves, func(r rune) bool { return r == ',' }) {
		if len(h.Names()) == maxPlies {
			return badRequest(fmt.Errorf("expected at most %d moves", maxPlies))
		}
		if err := h.Play(name); err != nil {
			return badRequest(fmt.Errorf("move %d: %w", len(h.Names())+1, err))
		}
	}
	return nil
}

// The following types are the JSON that the page reads. Values are from the view of the player
// to move at the position, or who makes the move.
type (
	// viewJSON is a position of a play.
	viewJSON struct {
		Game     map[string]string `json:"game"` // see state
		Players  [2]string         `json:"players"`
		Text     string            `json:"text"`
		Turn     int               `json:"turn"`
		Over     string            `json:"over,omitempty"`   // how the play has ended
		Result   string            `json:"result,omitempty"` // of the only person, in a play that is over: win, lose, tie or draw
		Said     string            `json:"said"`             // the last move, and session.State
		Hint     string            `json:"hint,omitempty"`
		Can      []string          `json:"can"`      // actions that make sense, see session.Can
		Thinking bool              `json:"thinking"` // the page is to ask for the move of a machine
		Waits    bool              `json:"waits"`    // machines do not move
		Free     bool              `json:"free"`     // no machine answers a move
		Picture  game.Picture      `json:"picture"`
		Look     game.Look         `json:"look"`
		Chosen   bool              `json:"chosen"`            // an editor must choose the player to move
		Last     []board.Place     `json:"last"`              // squares that the last move changed
		Threats  *threats          `json:"threats,omitempty"` // nil: pieces of no player make a line
		Moves    []board.Spot      `json:"moves"`
		Made     int               `json:"made"`   // the number of moves made
		Labels   bool              `json:"labels"` // labels of the board name moves

		reportJSON // in an analysis, and of a play that is over
	}
	// threats are the squares on which each player would complete a line.
	threats [2][][2]int
	// linePlyJSON is a move of a line.
	linePlyJSON struct {
		Move    string        `json:"move"`
		Turn    int           `json:"turn"`
		Changed []board.Place `json:"changed"`
		Squares []game.Square `json:"squares"` // what is on the squares of Changed after the move
		Won     [][2]int      `json:"won,omitempty"`
	}
)

// A state is a game in progress on the page. Each request has all of it, in the parameters of its query, and each answer
// has these parameters as they are after what was asked for. The server keeps nothing.
//
//	from      the position at which the play began, in any form that notation.Parse reads; missing: the initial one
//	moves     the names of the moves since, with commas between them
//	later     moves that were taken back
//	mode      play, without values; or else the play is analysed
//	seats     a person, the level of a machine, or adapts, for each side
//	rival     the level of the machine that gets the side that is not to move when the mode play begins
//	paused    set if machines wait
//	resigned  set if the player to move after all moves has resigned
//	practice  a session.Practice as JSON
type state struct {
	*session.Session
	g     *served
	seats [2]string
	rival string
}

// Seats that are no level: that of a person, and of a machine whose level the parameter level of a request for a move names.
const (
	person = "person"
	adapts = "adapts"
)

// checkSeat reports whether a name is that of a seat.
func checkSeat(name string) error {
	if name == person || name == adapts {
		return nil
	}
	_, err := player.ParseLevel(name)
	return err
}

// state returns the game that a request has.
func (s *Server) state(r *Request) (*state, error) {
	g, h, err := s.play(r)
	if err != nil {
		return nil, err
	}
	query, at := r.Parameters(), &state{g: g, seats: [2]string{person, person}}
	if query.Has("seats") {
		first, second, _ := strings.Cut(query.Get("seats"), ",")
		at.seats = [2]string{first, second}
	}
	for _, seat := range at.seats {
		if err := checkSeat(seat); err != nil {
			return nil, badRequest(err)
		}
	}
	if at.rival = query.Get("rival"); at.rival != "" && checkSeat(at.rival) != nil {
		at.rival = "regular"
	}
	whole := h.Clone()
	if err := playAll(whole, query.Get("later")); err != nil {
		return nil, err
	}
	at.Session = session.New(h, at.people(), whole.Names()[len(h.Names()):]...)
	at.Analysing, at.Paused, at.Resigned = query.Get("mode") != "play", query.Get("paused") != "", query.Get("resigned") != ""
	if text := query.Get("practice"); text != "" {
		err := json.Unmarshal([]byte(text), &at.Practice)
		if err = cmp.Or(err, at.Practice.Check(len(whole.Names()))); err != nil {
			return nil, badRequest(err)
		}
	}
	return at, nil
}

// people returns which seats are those of people.
func (at *state) people() [2]bool { return [2]bool{at.seats[0] == person, at.seats[1] == person} }

// query returns the parameters of the state.
func (at *state) query() map[string]string {
	made := len(at.History().Names())
	q := map[string]string{"moves": strings.Join(at.Moves()[:made], ","), "later": strings.Join(at.Moves()[made:], ","), "seats": strings.Join(at.seats[:], ","), "rival": at.rival}
	if first := at.History().At(0); first != at.g.g.Start() {
		q["from"] = string(at.g.g.AppendText(nil, first))
	}
	if !at.Analysing {
		q["mode"] = "play"
	}
	if at.Paused {
		q["paused"] = "1"
	}
	if at.Resigned {
		q["resigned"] = "1"
	}
	if at.Practice != nil {
		text, _ := json.Marshal(at.Practice) // cannot fail: numbers and names
		q["practice"] = string(text)
	}
	maps.DeleteFunc(q, func(_, value string) bool { return value == "" })
	return q
}

// begin replaces the play by another one.
func (at *state) begin(h *player.History) {
	before := at.Session
	at.Session = session.New(h, before.People)
	at.Analysing, at.Paused = before.Analysing, before.Paused
}

// do does what a request asks for: what session.Do does, new (a new game), seat SIDE NAME (who plays a side), machine (the move of
// a machine), hint, practise or next (the next mistake of a practice).
func (s *Server) do(r *Request, at *state, action string) error {
	words := strings.Fields(action)
	switch {
	case action == "new":
		at.begin(player.NewHistory(at.g.g))
	case len(words) == 3 && words[0] == "seat" && (words[1] == "0" || words[1] == "1"):
		if err := checkSeat(words[2]); err != nil {
			return badRequest(err)
		}
		at.seats[words[1][0]-'0'], at.rival = words[2], ""
		at.Sit(at.people())
	case action == "machine" && at.Thinking():
		move, err := s.chosen(r, at, at.seats[at.History().Turn()])
		if err != nil {
			return err
		}
		return at.Play(move)
	case action == "hint" && at.Can(action):
		move, err := s.chosen(r, at, player.Strongest().Name)
		at.Hint = move
		return err
	case action == "practise":
		judgments, _ := s.judge(at.g, at.Whole())
		if err := at.Practise(judgments); err != nil {
			return badRequest(err)
		}
	case action == "next" && at.Practice != nil:
		at.Next(s.known(at))
	default:
		before := at.People
		if err := at.Do(action); err != nil {
			return badRequest(err)
		}
		if at.People != before { // by swap
			at.seats[0], at.seats[1] = at.seats[1], at.seats[0]
		}
	}
	return nil
}

// view implements /view: the game after what the parameters do ask for, or at a position that find finds, and all that the page shows
// of it.
func (s *Server) view(r *Request) (any, error) {
	at, err := s.state(r)
	if err != nil {
		return nil, err
	}
	found, err := s.find(r, at.g, at.History())
	if err != nil {
		return nil, err
	}
	if found != at.History() {
		at.begin(found)
	}
	for _, action := range r.Parameters()["do"] {
		if err := s.do(r, at, action); err != nil {
			return nil, err
		}
	}
	if at.rival != "" && !at.Analysing && !at.g.g.Values().Puzzle {
		turn := at.History().Turn()
		at.seats[turn], at.seats[turn.Other()], at.rival = person, at.rival, ""
		at.People = at.people()
	}
	return s.viewOf(at)
}

// viewOf returns what the page shows of a game.
func (s *Server) viewOf(at *state) (v *viewJSON, err error) {
	h, g := at.History(), at.g.g
	p := h.Position()
	v = &viewJSON{
		Game: at.query(), Text: string(g.AppendText(nil, p)), Turn: int(h.Turn()), Hint: at.Hint, Can: []string{}, Thinking: at.Thinking(), Waits: at.Waits(),
		Players: [2]string{player.Who(g, game.First), player.Who(g, game.Second)}, Free: !at.Thinking() && (at.Paused || at.Persons() == 2),
		Look: g.Info().Look, Picture: g.Picture(p), Last: []board.Place{}, Moves: []board.Spot{}, Made: len(h.Names()), Labels: labelled(g), reportJSON: reportJSON{Done: true},
	}
	for _, action := range []string{"undo", "redo", "hint", "resign", "swap", "pause"} {
		if at.Can(action) {
			v.Can = append(v.Can, action)
		}
	}
	v.Threats = threatsOf(g.Picture(p), v.Look)
	_, v.Chosen = g.(game.Arranger)
	over, state := at.Over(), at.State()
	if over {
		v.Over = state
	}
	if result, ok := at.Result(); ok {
		v.Result = words[result]
	}
	v.Said = session.Capital(state) + "."
	if e, _ := at.End(); e.Reason == referee.Resigned {
		v.Said += " Undo takes it back."
	}
	if n := len(h.Names()); n > 0 {
		v.Last = board.Changes(g.Picture(h.At(n-1)), g.Picture(p))
		who := session.Capital(v.Players[h.Mover(n-1)])
		if g.Values().Puzzle {
			who = "You"
		}
		if !over {
			v.Said = fmt.Sprintf("%s played %s. %s", who, h.Names()[n-1], v.Said)
		}
	}
	if !over {
		v.Moves = board.Spots(g, p, h.Moves())
	}
	if over || at.Analysing {
		v.reportJSON, err = s.reportOf(at, s.known(at))
	}
	return v, err
}

// labelled reports whether labels of the board name moves.
func labelled(g game.Game) bool {
	start := g.Start()
	return slices.ContainsFunc(board.Spots(g, start, g.Moves(nil, start)), func(s board.Spot) bool { return s.Label })
}

// judge judges the moves of a play as far as their values are known, and returns what is known of its positions.
func (s *Server) judge(g *served, h *player.History) ([]analysis.Judgment, []analysis.Report) {
	reports := make([]analysis.Report, len(h.Names())+1)
	for i := range reports {
		reports[i] = analysis.Report{Position: h.At(i), Worth: s.worth(g, h.At(i)), Best: -1}
	}
	for i := range h.Names() { // only mistakes need lines, and what is known of other moves
		if analysis.IsMistake(g.g, h.At(i), reports[i].Worth, reports[i+1].Worth) {
			reports[i] = s.begin(g, h.At(i))
			if next := h.At(i + 1); g.g.Primitive(next) == 0 {
				reports[i+1].Line = s.begin(g, next).Line
			}
		}
	}
	return analysis.Review(g.g, h.Names(), 0, reports), reports
}

// lineTime is the time of the search for a line.
const lineTime = time.Second

// line implements /view/…/line: the squares that each move of a line changes. The line begins after the
// play, with the moves that the parameter line names; if best is set, best play follows, with what its winner threatens.
func (s *Server) line(r *Request) (any, error) {
	g, h, err := s.play(r)
	if err != nil {
		return nil, err
	}
	first, query, why := len(h.Names()), r.Parameters(), ""
	if err := playAll(h, query.Get("line")); err != nil {
		return nil, err
	}
	if query.Has("best") {
		best, err := s.assess(r.Context(), g, h.Position(), lineTime)
		if err == nil {
			err = playAll(h, strings.Join(best.Line, ","))
		}
		if err != nil {
			return nil, err
		}
		why = best.Why(g.g)
	}
	plies := []linePlyJSON{}
	for i := first; i < len(h.Names()); i++ {
		after := g.g.Picture(h.At(i + 1))
		ply := linePlyJSON{Move: h.Names()[i], Turn: int(h.Mover(i)), Changed: board.Changes(g.g.Picture(h.At(i)), after), Won: after.Won}
		for _, at := range ply.Changed {
			ply.Squares = append(ply.Squares, after.Rows[at[1]][at[0]])
		}
		plies = append(plies, ply)
	}
	return map[string]any{"plies": plies, "why": why}, nil
}

// threatsOf returns the threats in a game in which a line of one player's pieces wins.
func threatsOf(pic game.Picture, look game.Look) *threats {
	if pic.Line == 0 || !slices.ContainsFunc(look.Place, func(s game.Square) bool { return s.Owner != game.Nobody }) {
		return nil
	}
	found := threats(pic.Threats())
	return &found
}
