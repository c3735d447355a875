package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/play/player"
)

// find returns a play that begins at the position that a request describes in another way than
// play: by its squares, or at random.
func (s *Server) find(r *http.Request, g *served, h *player.History) (*player.History, error) {
	query := r.URL.Query()
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
		if errors.Is(err, context.DeadlineExceeded) {
			err = errBusy
		}
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
		var ok bool
		if _, ok, err = g.source.Table.Lookup(p); err == nil && !ok {
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
	values := g.Values()
	words := []string{values.Word(game.FirstWins), values.Word(game.SecondWins), values.Word(game.Tie)}
	if game.MethodOf(g).States != nil {
		words = append(words, values.Word(game.Undecided))
	}
	return words
}

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

// drawn returns a random position of those that the filter selects. Each is equally likely: first the
// tier is drawn, by the numbers of positions.
func drawn(ctx context.Context, t *Source, f filter) (game.Position, error) {
	counts := make([]uint64, f.last-f.first+1)
	var all uint64
	for i := range counts {
		values, err := t.Table.Counts(f.first + i)
		if err != nil {
			return 0, err
		}
		for v, n := range values {
			if f.wanted(v) {
				counts[i] += n
			}
		}
		all += counts[i]
	}
	if all == 0 {
		return 0, badRequest(errors.New("the table has no position with this tier, result and number of moves to the end"))
	}
	n, tier := rand.Uint64N(all), f.first
	for ; n >= counts[tier-f.first]; tier++ {
		n -= counts[tier-f.first]
	}
	scan, err := t.Table.Scan(ctx, func(of int) bool { return of == tier })
	if err != nil {
		return 0, err
	}
	picked, _, err := scan.Sample(ctx, 1, rand.Uint64(), f.wanted)
	for _, b := range picked {
		if len(b.Positions) > 0 {
			return b.Positions[0], nil
		}
	}
	if err != nil {
		return 0, err
	}
	for b, err := range scan.Batches() {
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return 0, err
		}
		for i, v := range b.Values {
			if !f.wanted(v) {
				continue
			}
			if n == 0 {
				return b.Positions[i], nil
			}
			n--
		}
	}
	return 0, fmt.Errorf("%s: tier %d has fewer positions than its file records", t.Name, tier)
}
