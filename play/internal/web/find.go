package web

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/play/internal/player"
)

// find returns a play whose last position a request describes in another way than play: by its squares, or at random.
func (s *Server) find(r *Request, g *served, h *player.History) (*player.History, error) {
	query := r.Parameters()
	switch {
	case query.Has("board"):
		p, err := arranged(g, query.Get("board"), query.Get("turn"))
		if err != nil {
			return nil, badRequest(err)
		}
		return player.NewHistoryFrom(g.g, p), nil
	case query.Get("tier")+query.Get("result")+query.Get("plies") != "":
		var p game.Position
		err := s.withSlot(r.Context(), g, func(*slot) error {
			f, err := filterOf(g, query.Get("tier"), query.Get("result"), query.Get("plies"))
			if err == nil {
				p, err = drawn(r.Context(), g.source, f)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		return player.NewHistoryFrom(g.g, p), nil
	case query.Has("random"):
		return randomPlay(g.g, h), nil
	}
	return h, nil
}

// arranged returns the position with these squares: the rows of a picture, with commas between
// squares and ends of lines between rows. turn is 0 or 1.
func arranged(g *served, board, turn string) (game.Position, error) {
	var squares [][]string
	for row := range strings.SplitSeq(board, "\n") {
		squares = append(squares, strings.Split(row, ","))
	}
	mover := game.First
	if turn == "1" {
		mover = game.Second
	}
	p, err := game.Arrange(g.g, squares, mover)
	if err == nil && g.source != nil {
		if _, ok, unread := g.source.Table.Lookup(p); unread == nil && !ok {
			err = errUnreached
		}
	}
	if err != nil {
		return 0, fmt.Errorf("there is no such position: %w", err)
	}
	return p, nil
}

// outcomes returns the outcomes of a game in words.
func outcomes(g game.Game) []string {
	var words []string
	for _, o := range game.Outcomes(g) {
		words = append(words, g.Values().Word(o))
	}
	return words
}

// errNoTable is the error for a game that is served by search.
var errNoTable = NotFound(fmt.Errorf("this game has no table here"))

// A filter selects positions of a table by tier and value.
type filter struct {
	first, last int // tiers
	wanted      func(game.Value) bool
}

// filterOf returns the filter of a tier, an outcome and a number of plies to the end; "" stands for
// any.
func filterOf(g *served, tierText, outcome, pliesText string) (f filter, err error) {
	if g.source == nil {
		return f, errNoTable
	}
	if outcome != "" && !slices.Contains(outcomes(g.g), outcome) {
		return f, badRequest(fmt.Errorf("result %q: expected one of %s", outcome, strings.Join(outcomes(g.g), ", ")))
	}
	f.last = g.source.Table.Tiers()
	if tierText != "" {
		tier, err := strconv.Atoi(tierText)
		if err != nil || tier < 0 || tier > f.last {
			return f, badRequest(fmt.Errorf("tier %q: expected a number from 0 to %d", tierText, f.last))
		}
		f.first, f.last = tier, tier
	}
	plies := -1
	if pliesText != "" {
		n, err := strconv.ParseUint(pliesText, 10, 14)
		if err != nil {
			return f, badRequest(fmt.Errorf("plies %q: expected a number", pliesText))
		}
		plies = int(n)
	}
	f.wanted = func(v game.Value) bool {
		return (outcome == "" || g.g.Values().Word(v.Outcome()) == outcome) && (plies < 0 || v.Valid() && v.Remoteness() == plies)
	}
	return f, nil
}
