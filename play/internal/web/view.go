package web

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
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
	"github.com/treereduce/treereduce/play/internal/web/http"
)

// maxPlies is the number of moves that a request may name.
const maxPlies = 2000

// play returns the game and the play that a request describes: from is the position at which it
// begins, in any form that notation.Parse reads (the initial position if it is missing), and
// moves are the names of the moves since, with commas between them.
func (s *Server) play(r *http.Request) (*served, *player.History, error) {
	g, err := s.game(r)
	if err != nil {
		return nil, nil, err
	}
	query := r.URL.Query()
	h := player.NewHistory(g.g)
	if from := query.Get("from"); from != "" {
		a, err := notation.Parse(g.g, from, notation.AnyForm)
		if err != nil {
			return nil, nil, badRequest(fmt.Errorf("position %q: %w", from, err))
		}
		h = player.NewHistoryFrom(g.g, a.Position)
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
		Spec    string         `json:"spec"`
		Title   string         `json:"title"`
		Players [2]string      `json:"players"`
		Table   bool           `json:"table"` // values come from a table
		From    string         `json:"from"`  // "" if the play began at the initial position
		Text    string         `json:"text"`
		Turn    int            `json:"turn"`
		Over    string         `json:"over,omitempty"` // how the play has ended
		State   string         `json:"state"`          // whose turn it is, or how the play has ended
		Picture pictureJSON    `json:"picture"`
		Look    game.Look      `json:"look"`
		Place   []board.Square `json:"place"`             // what an editor can put on squares
		Chosen  bool           `json:"chosen"`            // an editor must choose the player to move
		Last    [][2]int       `json:"last"`              // squares that the last move changed
		Threats *threats       `json:"threats,omitempty"` // nil: pieces of no player make a line
		Moves   []moveJSON     `json:"moves"`
		Plies   []plyJSON      `json:"plies"` // the positions of the play, with the moves that were taken back
		Ply     int            `json:"ply"`   // index of this position in Plies
		Tiers   int            `json:"tiers,omitempty"`
		Tier    int            `json:"tier"`
		Labels  bool           `json:"labels"` // labels of the board name moves
	}
	// threats are the squares on which each player would complete a line.
	threats     [2][][2]int
	pictureJSON struct {
		Rows               [][]board.Square `json:"rows"`
		Above, Below, Left []string
		Won                [][2]int   `json:"won"`
		Line               int        `json:"line"`
		Links              [][][2]int `json:"links"`
	}
	moveJSON struct {
		Name    string     `json:"name"`
		Text    string     `json:"text"` // the position after it
		Spot    *[2]int    `json:"spot,omitempty"`
		Label   bool       `json:"label,omitempty"`
		Squares [][2]int   `json:"squares"` // a click on one of them can mean the move
		Path    bool       `json:"path"`    // the name contains the squares, in this order
		Worth   *worthJSON `json:"worth,omitempty"`
	}
	plyJSON struct {
		Turn    int        `json:"turn"`
		Move    string     `json:"move,omitempty"` // that was made here
		Worth   *worthJSON `json:"worth,omitempty"`
		Judged  bool       `json:"judged,omitempty"`  // it is known whether the move is a mistake
		Mistake string     `json:"mistake,omitempty"` // the move, what it gave away, and what was better
	}
	// linePlyJSON is a move of a line.
	linePlyJSON struct {
		Move    string         `json:"move"`
		Turn    int            `json:"turn"`
		Changed [][2]int       `json:"changed"`
		Squares []board.Square `json:"squares"` // what is on the squares of Changed after the move
		Won     [][2]int       `json:"won,omitempty"`
	}
	worthJSON struct {
		Value      string `json:"value,omitempty"` // win, lose, tie or draw; "" if not known
		Word       string `json:"word,omitempty"`  // for people, in a puzzle
		Remoteness int    `json:"remoteness"`
		Open       bool   `json:"open,omitempty"`  // the remoteness is not proven
		Score      int    `json:"score,omitempty"` // evaluation, if the value is not known
		Depth      int    `json:"depth,omitempty"` // plies searched for it
	}
)

// words are the words for results in JSON.
var words = [...]string{game.Draws: "draw", game.Loses: "lose", game.Wins: "win", game.Ties: "tie"}

// worthOf converts what is known of a position, or of a move at it.
func worthOf(g game.Game, p game.Position, w analysis.Worth) *worthJSON {
	switch {
	case w.Known:
		known := &worthJSON{Value: words[analysis.ResultOf(g, p, w.Value)], Remoteness: w.Value.Remoteness(), Open: w.Open}
		if values := g.Values(); values.Puzzle {
			known.Word = values.Word(w.Value.Outcome())
		}
		return known
	case w.Depth > 0:
		return &worthJSON{Score: w.Score, Depth: w.Depth}
	}
	return nil
}

// view implements /view: a position of a play, its moves, and the plies before it. later are moves
// that were taken back, which belong to the play as well.
func (s *Server) view(r *http.Request) (any, error) {
	g, h, err := s.play(r)
	if err != nil {
		return nil, err
	}
	if h, err = s.find(r, g, h); err != nil {
		return nil, err
	}
	whole, query := h.Clone(), r.URL.Query()
	if err := playAll(whole, query.Get("later")); err != nil {
		return nil, err
	}
	at := session.New(h, peopleIn(query), whole.Names()[len(h.Names()):]...)
	switch query.Get("do") {
	case "undo":
		at.Undo()
		whole = at.History()
	case "resign":
		err = at.Resign()
	}
	if err != nil {
		return nil, badRequest(err)
	}
	at.Paused = query.Has("paused") || len(whole.Names()) > len(h.Names()) // no machine moves before the end of the play
	return s.viewOf(g, at, whole), nil
}

// peopleIn returns which players are people: those that the parameter people lists, or both.
func peopleIn(query url.Values) [2]bool {
	if !query.Has("people") {
		return [2]bool{true, true}
	}
	sides := query.Get("people")
	return [2]bool{strings.Contains(sides, "0"), strings.Contains(sides, "1")}
}

// randomPlay continues a play with a random number of random moves, and returns a play that
// begins at the last position that is not finished.
func randomPlay(g game.Game, h *player.History) *player.History {
	p := h.Position()
	for range rand.IntN(40) {
		moves := g.Moves(nil, p)
		if len(moves) == 0 {
			break
		}
		if next := moves[rand.IntN(len(moves))].To; g.Primitive(next) == 0 {
			p = next
		}
	}
	return player.NewHistoryFrom(g, p)
}

// viewOf returns the position of a session. whole has its moves and those that were taken back.
func (s *Server) viewOf(g *served, at *session.Session, whole *player.History) *viewJSON {
	h := at.History()
	p := h.Position()
	v := &viewJSON{
		Spec: g.g.Spec(), Title: g.title(), Table: g.source != nil, Text: string(g.g.AppendText(nil, p)), Turn: int(h.Turn()),
		Players: [2]string{player.Who(g.g, game.First), player.Who(g.g, game.Second)},
		Look:    g.g.Info().Look, Picture: pictureOf(g.g.Picture(p)), Last: [][2]int{}, Moves: []moveJSON{}, Plies: s.pliesOf(g, whole), Ply: len(h.Names()),
		Tiers: game.LastTier(g.g), Tier: game.TierOf(g.g, p), State: at.State(),
	}
	v.Place, v.Labels = squaresOf(v.Look.Place), labelled(g.g)
	v.Threats = threatsOf(g.g.Picture(p), v.Look)
	_, v.Chosen = g.g.(game.Arranger)
	if first := h.At(0); first != g.g.Start() {
		v.From = string(g.g.AppendText(nil, first))
	}
	if n := len(h.Names()); n > 0 {
		v.Last = pairs(board.Changes(g.g.Picture(h.At(n-1)), g.g.Picture(p)))
	}
	end, over := at.End()
	if over {
		v.Over = overOf(g.g, end)
	}
	if !over || end.Reason == referee.Resigned { // an analysis goes on from there
		report := s.begin(g, p)
		moves := h.Moves()
		spots := board.Spots(g.g, p, moves)
		for i, m := range moves {
			move := moveJSON{Name: m.Name, Text: string(g.g.AppendText(nil, m.To)), Label: spots[i].Label, Squares: pairs(spots[i].Changed), Worth: worthOf(g.g, p, report.Moves[i].Worth)}
			if path := spots[i].Path; path != nil {
				move.Squares, move.Path = pairs(path), true
			}
			if spots[i].Known {
				move.Spot = &[2]int{spots[i].At.X, spots[i].At.Y}
			}
			v.Moves = append(v.Moves, move)
		}
	}
	return v
}

// labelled reports whether labels of the board name moves.
func labelled(g game.Game) bool {
	start := g.Start()
	return slices.ContainsFunc(board.Spots(g, start, g.Moves(nil, start)), func(s board.Spot) bool { return s.Label })
}

// pliesOf returns the plies of a play, and judges its moves as far as their values are known.
func (s *Server) pliesOf(g *served, h *player.History) []plyJSON {
	plies, reports := make([]plyJSON, len(h.Names())+1), make([]analysis.Report, len(h.Names())+1)
	for i := range plies {
		p := h.At(i)
		reports[i] = analysis.Report{Position: p, Worth: s.worth(g, p), Best: -1}
		plies[i] = plyJSON{Turn: int(h.Mover(i)), Worth: worthOf(g.g, p, reports[i].Worth)}
	}
	for i := range h.Names() { // only mistakes need what is known of other moves
		if _, ok := analysis.MistakeOf(g.g, h.At(i), reports[i].Worth, reports[i+1].Worth); ok {
			reports[i] = s.begin(g, h.At(i))
		}
	}
	for i, j := range analysis.Review(g.g, h.Names(), 0, reports) {
		plies[i].Move, plies[i].Judged = j.Move, j.Known()
		if j.Mistake {
			plies[i].Mistake = j.Text(g.g, h.At(i))
		}
	}
	return plies
}

// lineTime is the time of the search for a line.
const lineTime = time.Second

// line implements /view/…/line: the squares that each move of a line changes. The line begins after the
// play, with the moves that the parameter line names; if best is set, best play follows.
func (s *Server) line(r *http.Request) (any, error) {
	g, h, err := s.play(r)
	if err != nil {
		return nil, err
	}
	first, query := len(h.Names()), r.URL.Query()
	if err := playAll(h, query.Get("line")); err != nil {
		return nil, err
	}
	if query.Has("best") {
		best, err := s.bestLine(r.Context(), g, h.Position())
		if err != nil {
			return nil, err
		}
		if err := playAll(h, strings.Join(best, ",")); err != nil {
			return nil, err
		}
	}
	plies := []linePlyJSON{}
	for i := first; i < len(h.Names()); i++ {
		after := g.g.Picture(h.At(i + 1))
		ply := linePlyJSON{Move: h.Names()[i], Turn: int(h.Mover(i)), Changed: pairs(board.Changes(g.g.Picture(h.At(i)), after)), Won: after.Won}
		for _, at := range ply.Changed {
			ply.Squares = append(ply.Squares, squaresOf(after.Rows[at[1]][at[0]:at[0]+1])...)
		}
		plies = append(plies, ply)
	}
	return map[string]any{"plies": plies}, nil
}

// bestLine returns best play from a position: as far as it is known, or else as a search finds it.
func (s *Server) bestLine(ctx context.Context, g *served, p game.Position) (line []string, err error) {
	if g.g.Primitive(p) != 0 {
		return nil, nil
	}
	if line = s.begin(g, p).Line; len(line) > 0 {
		return line, nil
	}
	err = s.withSlot(ctx, g, func(sl *slot) error {
		report, err := sl.analyzer.Assess(ctx, p, lineTime)
		line = report.Line
		return err
	})
	if errors.Is(err, context.DeadlineExceeded) {
		err = errBusy
	}
	return line, err
}

// overOf describes the end of a play.
func overOf(g game.Game, end session.End) string {
	switch values := g.Values(); {
	case end.Outcome == game.Undecided:
		return "draw (" + end.Reason.String() + ")"
	case end.Outcome == game.Tie && values.Puzzle:
		return values.Word(end.Outcome)
	case end.Outcome == game.Tie:
		return "tie"
	}
	return player.Who(g, end.Outcome.Winner()) + " wins"
}

// threatsOf returns the threats in a game in which a line of one player's pieces wins.
func threatsOf(pic game.Picture, look game.Look) *threats {
	if pic.Line == 0 || !slices.ContainsFunc(look.Place, func(s game.Square) bool { return s.Owner != game.Nobody }) {
		return nil
	}
	found := threats(pic.Threats())
	return &found
}

func pictureOf(p game.Picture) pictureJSON {
	out := pictureJSON{Above: p.Above, Below: p.Below, Left: p.Left, Won: p.Won, Line: p.Line, Links: p.Links}
	for _, row := range p.Rows {
		out.Rows = append(out.Rows, squaresOf(row))
	}
	return out
}

func squaresOf(row []game.Square) []board.Square {
	squares := make([]board.Square, len(row))
	for i, s := range row {
		squares[i] = board.SquareOf(s)
	}
	return squares
}

func pairs(places []board.Place) [][2]int {
	all := make([][2]int, len(places))
	for i, p := range places {
		all[i] = [2]int{p.X, p.Y}
	}
	return all
}
