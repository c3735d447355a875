package web

import (
	"fmt"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/play/internal/player"
)

// find returns a play whose last position a request describes in another way than play: by its squares, or at random by its
// value.
func (s *Server) find(r *Request, g *served, h *player.History) (*player.History, error) {
	query := r.Parameters()
	switch {
	case query.Has("board"):
		p, err := arranged(g, query.Get("board"), query.Get("turn"))
		if err != nil {
			return nil, badRequest(err)
		}
		return player.NewHistoryFrom(g.g, p), nil
	case query.Has("random"):
		if g.table == nil {
			return nil, errNoTable
		}
		var p game.Position
		err := s.withSlot(r.Context(), g, func(*slot) (err error) {
			p, err = drawn(r.Context(), g.table, query.Get("tier"), query.Get("remoteness"), query.Get("outcome"))
			return err
		})
		if err != nil {
			return nil, err
		}
		return player.NewHistoryFrom(g.g, p), nil
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
	if err == nil && g.table != nil {
		if _, ok, unread := g.table.Lookup(p); unread == nil && !ok {
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
