package tui

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/treereduce/treereduce/play/internal/book"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/table"
)

// levels returns the levels, the weakest first, and the index of the initial one. own is the
// level that the command line asks for: one of player.Levels, or one with a depth or a time,
// which stands before the perfect one. If it is none of these, the machine plays from the table
// or, without a table, searches for a second.
func levels(table bool, own player.Level) (all []player.Level, first int) {
	all = player.Opponents()
	last := len(all) - 1
	switch {
	case own.Name != "":
		return all, slices.IndexFunc(all, func(l player.Level) bool { return l.Name == own.Name })
	case own.Depth == 0 && own.Time == 0 && table:
		return all, last
	case own.Depth == 0 && own.Time == 0:
		own.Time = time.Second
	}
	return slices.Insert(all, last, own), last
}

// An opponent is the machine, which plays at any level. It is safe for concurrent use; it
// chooses one move at a time.
type opponent struct {
	table     *table.Table
	book      *book.Book
	searching player.Search
	seed      uint64 // of the next move

	working sync.Mutex
}

// move returns the move that the opponent makes at a level, after at most limit unless that is 0.
func (op *opponent) move(ctx context.Context, h *player.History, l player.Level, limit time.Duration) (string, error) {
	op.working.Lock()
	defer op.working.Unlock()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	op.seed++
	return player.NewLevel(l, op.table, op.book, op.searching, op.seed).Move(ctx, h, limit)
}

// close waits until the current move is chosen, and prevents further ones.
func (op *opponent) close() { op.working.Lock() }
