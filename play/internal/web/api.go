package web

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/notation"
	"github.com/treereduce/treereduce/play/internal/analysis"
	"github.com/treereduce/treereduce/search"
)

// openAPI describes the interface below /api/.
//
//go:embed openapi.json
var openAPI []byte

// The remotenesses of a draw, which has no end, and of an end whose distance is not known.
const (
	infinite = -200
	unknown  = -100
)

// unsolved is the value of a position that is not known.
const unsolved = "unsolved"

// The following types are the answers of the interface below /api/, in the form of
// GamesCrafters' server. openapi.json describes their fields.
type (
	apiEntry struct {
		ID   string `json:"id"`
		Name string `json:"name"`
		Type string `json:"type,omitempty"` // of a game
		GUI  string `json:"gui"`
	}
	apiGame struct {
		ID       string     `json:"id"`
		Name     string     `json:"name"`
		Variants []apiEntry `json:"variants"`
		Custom   bool       `json:"allowCustomVariantCreation"`
		WinBy    bool       `json:"supportsWinBy"`
	}
	apiVariant struct {
		ID           string         `json:"id"`
		Name         string         `json:"name"`
		Start        string         `json:"startPosition"`
		AutoGUIStart string         `json:"autoguiStartPosition"`
		Images       *autoGUIImages `json:"imageAutoGUIData"`
		GUI          string         `json:"gui"`
	}
	apiPlace struct {
		Position   string `json:"position"`
		AutoGUI    string `json:"autoguiPosition"`
		Value      string `json:"positionValue"` // for the player to move at the position
		Remoteness int    `json:"remoteness"`
	}
	apiPosition struct {
		apiPlace
		Moves []apiMove `json:"moves"`
	}
	apiMove struct {
		apiPlace
		Name        string `json:"move"`
		AutoGUIMove string `json:"autoguiMove"`
		MoveValue   string `json:"moveValue"` // for the player who moves
		Delta       int    `json:"deltaRemoteness"`
	}
)

// api registers the routes of the interface.
func (s *Server) api() {
	s.Handle("/api/openapi.json", func(*Request) (*Answer, error) { return Text("application/json", "no-cache", openAPI), nil })
	s.Handle("/api", s.JSON(s.apiGames))
	s.Handle("/api/{game}", s.JSON(s.apiGame))
	s.Handle("/api/{game}/{variant}", s.JSON(s.apiVariant))
	s.Handle("/api/{game}/{variant}/positions", s.JSON(s.apiPosition))
	s.Handle("/api/{game}/{variant}/instructions", s.JSON(s.apiInstructions))
}

// An invalid is an error of a request to the interface: what it names does not exist.
type invalid struct {
	what string // Game, Variant or Position
	why  error
}

func (e invalid) Error() string { return "Invalid " + e.what }

// Unwrap returns the problem with the status of the answer.
func (e invalid) Unwrap() error {
	if e.what == "Position" {
		return badRequest(e.why)
	}
	return NotFound(e.why)
}

// apiGames implements /api/: the games.
func (s *Server) apiGames(*Request) (any, error) {
	games := []apiEntry{}
	for _, kind := range s.o.Games {
		if g, err := kind.Default(); err == nil {
			games = append(games, apiEntry{kind.Name, nameOf(kind), "twoPlayer", guiOf(g)})
		}
	}
	slices.SortStableFunc(games, func(a, b apiEntry) int { return cmp.Compare(a.Name, b.Name) })
	return games, nil
}

// nameOf returns the name of a game without its parameters, for people.
func nameOf(kind game.Kind) string {
	name, _, _ := strings.Cut(kind.Usage, ": ")
	return cmp.Or(name, kind.Name)
}

// apiGame implements /api/GAME/: the variants of a game that have a table, and the one with the
// default parameters.
func (s *Server) apiGame(r *Request) (any, error) {
	kind, ok := s.o.Games.Named(r.PathValue("game"))
	if !ok {
		return nil, invalid{"Game", fmt.Errorf("expected one of %s", strings.Join(s.o.Games.Names(), ", "))}
	}
	answer := apiGame{ID: kind.Name, Name: nameOf(kind), Variants: []apiEntry{}, Custom: len(kind.Params) > 0}
	add := func(g game.Game) {
		id, variant := idOf(g.Spec())
		if id == kind.Name && !slices.ContainsFunc(answer.Variants, func(v apiEntry) bool { return v.ID == variant }) {
			answer.Variants = append(answer.Variants, apiEntry{ID: variant, Name: game.TitleOf(g), GUI: guiOf(g)})
		}
	}
	s.states() // which may open or drop tables
	for _, source := range s.opened() {
		add(source.Table.Game())
	}
	if g, err := kind.Default(); err == nil {
		add(g)
	}
	return answer, nil
}

// variant returns the game that a request to the interface names.
func (s *Server) variant(r *Request) (*served, error) {
	if _, ok := s.o.Games.Named(r.PathValue("game")); !ok {
		_, err := s.apiGame(r)
		return nil, err
	}
	g, err := s.game(r)
	if err != nil {
		return nil, invalid{"Variant", err}
	}
	return g, nil
}

// apiVariant implements /api/GAME/VARIANT/.
func (s *Server) apiVariant(r *Request) (any, error) {
	g, err := s.variant(r)
	if err != nil {
		return nil, err
	}
	at := atOf(g.g, g.g.Start(), g.g.ToMove(g.g.Start()))
	return apiVariant{g.variant, g.title(), at.text(), at.autoGUI(), imagesOf(g.g), guiOf(g.g)}, nil
}

// apiInstructions implements /api/GAME/VARIANT/instructions/, in English for every locale.
func (s *Server) apiInstructions(r *Request) (any, error) {
	g, err := s.variant(r)
	if err != nil {
		return nil, err
	}
	return map[string]string{"instructions": fmt.Sprintf("# %s\n\n%s", g.title(), game.RulesOf(g.g))}, nil
}

// An apiAt is a position with the player to move, which some games do not have in their
// positions.
type apiAt struct {
	g    game.Game
	p    game.Position
	turn game.Player
	pic  game.Picture
}

// atOf returns a position with its picture.
func atOf(g game.Game, p game.Position, turn game.Player) apiAt {
	return apiAt{g, p, turn, g.Picture(p)}
}

// after returns the position after a move.
func (at apiAt) after(m game.Move) apiAt {
	turn := at.g.ToMove(m.To)
	if at.g.Values().OfMover {
		turn = at.turn.Other()
	}
	return atOf(at.g, m.To, turn)
}

// turnless reports whether positions of a game do not contain the player to move.
func turnless(g game.Game) bool {
	if !g.Values().OfMover {
		return false
	}
	moves := g.Moves(nil, g.Start())
	return len(moves) > 0 && g.ToMove(moves[0].To) == g.ToMove(g.Start())
}

// blanks are what may stand for a blank in the text of a position, in order of preference.
var blanks = []string{"", ".", "_"}

// text returns the position as the interface writes it: 1 or 2 for the player to move, an
// underscore, and the text or the key of the position. It contains no blanks, and nothing that
// must be escaped in a query.
func (at apiAt) text() string {
	turn, text := string('1'+rune(at.turn))+"_", string(at.g.AppendText(nil, at.p))
	if !strings.ContainsAny(text, "_+&#%\"<>\\") {
		for _, blank := range blanks {
			short := strings.ReplaceAll(text, " ", blank)
			if p, err := parseText(at.g, short); err == nil && p == at.p {
				return turn + short
			}
		}
	}
	return fmt.Sprintf("%s0x%x", turn, at.p)
}

// parseText parses a board, in which underscores may stand for blanks, or a key.
func parseText(g game.Game, text string) (game.Position, error) {
	form := notation.FromBoard
	if strings.HasPrefix(text, "0x") {
		form = notation.FromKey
	}
	a, err := notation.Parse(g, text, form)
	if err != nil && strings.Contains(text, "_") {
		a, err = notation.Parse(g, strings.ReplaceAll(text, "_", " "), form)
	}
	return a.Position, err
}

// parseAt is the inverse of text. It also accepts what notation.Parse accepts.
func parseAt(g game.Game, text string) (apiAt, error) {
	if turn, rest, ok := strings.Cut(text, "_"); ok && (turn == "1" || turn == "2") {
		if p, err := parseText(g, rest); err == nil {
			at := atOf(g, p, game.Player(turn[0]-'1'))
			if at.turn != g.ToMove(p) && !turnless(g) {
				return at, fmt.Errorf("position %q: player %d is to move", text, g.ToMove(p)+1)
			}
			return at, nil
		}
	}
	a, err := notation.Parse(g, text, notation.AnyForm)
	if err != nil {
		return apiAt{}, err
	}
	return atOf(g, a.Position, g.ToMove(a.Position)), nil
}

// place returns the position with its value.
func (at apiAt) place(w analysis.Worth) apiPlace {
	out := apiPlace{at.text(), at.autoGUI(), unsolved, unknown}
	if w.Known {
		result := analysis.ResultOf(at.g, at.p, w.Value)
		out.Value = words[result]
		switch {
		case result == game.Draws:
			out.Remoteness = infinite
		case !w.Open:
			out.Remoteness = w.Value.Remoteness()
		}
	}
	return out
}

// errUnreached is the error for a position that play from the initial position does not reach.
var errUnreached = errors.New("play does not reach it, so the table does not contain it")

// apiPosition implements /api/GAME/VARIANT/positions/: a position and its moves with their
// values.
func (s *Server) apiPosition(r *Request) (any, error) {
	g, err := s.variant(r)
	if err != nil {
		return nil, err
	}
	at, err := parseAt(g.g, r.Parameters().Get("p"))
	if err != nil {
		return nil, invalid{"Position", err}
	}
	moves, report := g.g.Moves(nil, at.p), analysis.Report{}
	if g.table == nil {
		report = s.withMoves(g, s.begin(g, at.p))
	} else if _, ok, unread := g.table.Lookup(at.p); unread == nil && !ok && len(moves) > 0 {
		err = invalid{"Position", errUnreached}
	} else {
		report, err = analysis.New(g.g, g.table, nil, search.Options{}).AllValues(r.Context(), at.p, 0)
	}
	if err != nil {
		return nil, err
	}
	answer := apiPosition{at.place(report.Worth), make([]apiMove, len(moves))}
	after := make([]apiAt, len(moves))
	for i, m := range moves {
		after[i] = at.after(m)
	}
	buttons := at.autoGUIMoves(moves, after)
	for i, m := range report.Moves {
		place := after[i].place(analysis.Worth{Value: m.Child, Known: m.Known, Open: m.Open})
		answer.Moves[i] = apiMove{apiPlace: place, Name: m.Name, AutoGUIMove: buttons[i], MoveValue: unsolved}
		if m.Known {
			answer.Moves[i].MoveValue = words[analysis.ResultOf(at.g, at.p, m.Value)]
		}
	}
	sortMoves(answer.Moves)
	return answer, nil
}

// moveValues are the values of moves, the best first.
var moveValues = []string{"win", "tie", "draw", "lose", unsolved}

// sortMoves computes deltaRemoteness, which is how much a move is worse than the best one of the
// same value, and sorts the moves by value and deltaRemoteness. An end whose distance is not
// known counts as one ply farther than the farthest known one.
func sortMoves(moves []apiMove) {
	least, most, open := map[string]int{}, map[string]int{}, map[string]bool{}
	for _, m := range moves {
		switch n, ok := least[m.MoveValue]; {
		case m.Remoteness == unknown:
			open[m.MoveValue] = true
		case !ok:
			least[m.MoveValue], most[m.MoveValue] = m.Remoteness, m.Remoteness
		default:
			least[m.MoveValue], most[m.MoveValue] = min(n, m.Remoteness), max(most[m.MoveValue], m.Remoteness)
		}
	}
	for value := range open {
		if _, ok := least[value]; ok {
			most[value]++
		}
	}
	for i, m := range moves {
		if m.Remoteness == unknown {
			m.Remoteness = most[m.MoveValue]
		}
		switch m.MoveValue {
		case "win", "tie":
			moves[i].Delta = m.Remoteness - least[m.MoveValue]
		case "lose":
			moves[i].Delta = most[m.MoveValue] - m.Remoteness
		}
	}
	slices.SortStableFunc(moves, func(a, b apiMove) int {
		return cmp.Or(slices.Index(moveValues, a.MoveValue)-slices.Index(moveValues, b.MoveValue), a.Delta-b.Delta)
	})
}
