package web

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/web/http"
)

// maxMoveTime is the longest time of a machine's move that a request may ask for.
const maxMoveTime = 10 * time.Second

// opponents returns the names of the machines that the page offers, the weakest first, as opponentOf reads
// them. A search with a time is perfect with a limit.
func opponents() (names []string) {
	names = []string{"random"}
	for _, l := range player.Levels() {
		names = append(names, l.Name)
	}
	return names
}

// opponentOf returns the level that a name stands for: random, a search with a time limit
// (time=1s), or one of player.Levels.
func opponentOf(name string) (player.Level, error) {
	if name == "random" {
		return player.Level{Name: name, Random: 1}, nil
	}
	if text, ok := strings.CutPrefix(name, "time="); ok {
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 || d > maxMoveTime {
			return player.Level{}, fmt.Errorf("level %q: expected a time of up to %v, such as time=1s", name, maxMoveTime)
		}
		return player.Level{Time: d}, nil
	}
	return player.ParseLevel(name)
}

// hintTime is the time of a search for a hint.
const hintTime = time.Second

// chosen returns the move of a machine. level names it. The parameter limit is the most time that it may take, in
// milliseconds; a hint takes hintTime.
func (s *Server) chosen(r *http.Request, at *state, level string) (move string, err error) {
	h, limit := at.History(), hintTime
	l, err := opponentOf(level)
	if err != nil {
		return "", err
	}
	if text := r.URL.Query().Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if most := int(maxMoveTime.Milliseconds()); err != nil || n < 1 || n > most {
			return "", badRequest(fmt.Errorf("limit %q: expected milliseconds, from 1 to %d", text, most))
		}
		limit = time.Duration(n) * time.Millisecond
	} else if at.Thinking() {
		limit = 0
	}
	if l.Perfect {
		move = at.g.knownMove(r.Context(), h, limit)
	}
	if move == "" {
		err = s.withSlot(r.Context(), at.g, func(sl *slot) (err error) {
			move, err = player.NewLevel(sl.searcher, nil, l, uint64(time.Now().UnixNano())).Move(r.Context(), h, limit)
			return err
		})
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = errBusy
	}
	return move, err
}

// knownMove returns the best move by the table or the book of a game, without a search; "" if there is none, or
// if the table cannot be read.
func (g *served) knownMove(ctx context.Context, h *player.History, limit time.Duration) string {
	if g.source != nil {
		if move, err := player.NewTable(g.source.Table).Move(ctx, h, limit); err == nil {
			return move
		}
	}
	if best, _, ok := g.book.Best(h.Position()); ok {
		return best.Name
	}
	return ""
}
