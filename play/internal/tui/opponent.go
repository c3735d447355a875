package tui

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/play/internal/book"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/search"
	"github.com/treereduce/treereduce/table"
)

// A level is a playing strength of the machine.
type level struct {
	player.Level
	words string // on the screen
}

// levels returns the levels, the weakest first, and the index of the initial one. own is the
// level that the command line asks for: one of player.Levels, or one with a depth or a time,
// which stands before the perfect one. If it is none of these, the machine plays from the table
// or, without a table, searches for a second.
func levels(table bool, own player.Level) (all []level, first int) {
	for _, l := range player.Opponents() {
		words := l.Name
		if l.Perfect && table {
			words += ", from the table"
		}
		all = append(all, level{l, words})
	}
	last := len(all) - 1
	if own.Name != "" {
		return all, slices.IndexFunc(all, func(l level) bool { return l.Name == own.Name })
	}
	if own.Depth == 0 && own.Time == 0 {
		if table {
			return all, last
		}
		own.Time = time.Second
	}
	l := level{own, fmt.Sprintf("%v a move", own.Time)}
	if own.Depth > 0 {
		l.words = numfmt.Count(own.Depth, "move") + " ahead"
	}
	return slices.Insert(all, last, l), last
}

// An opponent is the machine, which plays at any level. It is safe for concurrent use; it
// chooses one move at a time.
type opponent struct {
	g       game.Game
	table   *table.Table
	book    *book.Book
	options search.Options
	seed    uint64 // of the next move

	working  sync.Mutex
	searcher *search.Searcher // made when it is first needed
}

// move returns the move that the opponent makes at a level, after at most limit unless that is 0.
func (op *opponent) move(ctx context.Context, h *player.History, l player.Level, limit time.Duration) (string, error) {
	op.working.Lock()
	defer op.working.Unlock()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if l.Perfect {
		if move := player.Known(op.table, op.book, h.Position()); move != "" {
			return move, nil
		}
	}
	if op.searcher == nil {
		var err error
		if op.searcher, err = search.New(op.g, op.options); err != nil {
			return "", err
		}
	}
	op.seed++
	return player.NewLevel(op.searcher, nil, l, op.seed).Move(ctx, h, limit)
}

// close waits until the current move is chosen, and prevents further ones.
func (op *opponent) close() { op.working.Lock() }
