package web

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/search"
)

// maxMoveTime is the longest time of a machine's move that a request may ask for.
const maxMoveTime = 10 * time.Second

// chosen returns the move of a machine. level names it, or is adapts. The parameter limit is the most time that it may take, in
// milliseconds; a hint takes player.HintTime.
func (s *Server) chosen(r *Request, at *state, level string) (move string, err error) {
	h, limit := at.History(), player.HintTime
	if level == adapts {
		level = r.Parameters().Get("level")
	}
	l, err := player.ParseLevel(level)
	if err != nil {
		return "", badRequest(err)
	}
	if text := r.Parameters().Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if most := int(maxMoveTime.Milliseconds()); err != nil || n < 1 || n > most {
			return "", badRequest(fmt.Errorf("limit %q: expected milliseconds, from 1 to %d", text, most))
		}
		limit = time.Duration(n) * time.Millisecond
	} else if at.Thinking() {
		limit = 0
	}
	searching := func(ctx context.Context, p game.Position, l search.Limit) (found search.Result, err error) {
		err = s.withSlot(ctx, at.g, func(sl *slot) (err error) {
			found, err = sl.searcher.Search(ctx, p, l)
			return err
		})
		return found, err
	}
	return player.NewLevel(l, at.g.table, at.g.book, searching, uint64(time.Now().UnixNano())).Move(r.Context(), h, limit)
}
