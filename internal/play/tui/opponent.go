package tui

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/play/player"
	"github.com/treereduce/treereduce/search"
	"github.com/treereduce/treereduce/table"
)

// A level is a playing strength of the machine: with a depth or a time it searches.
type level struct {
	name  string // in a file of played games: the name of the player as in a command line
	words string // on the screen
	depth int
	time  time.Duration
	table bool
}

// levels returns the levels, the weakest first, and the index of the initial one. own is
// the level that the command line asks for, if it has a depth or a time.
func levels(table bool, own level) (all []level, first int) {
	all = []level{{name: "random", words: "random moves"}}
	for _, depth := range []int{1, 2, 4, 8} {
		all = append(all, deep(depth))
	}
	for _, limit := range []time.Duration{200 * time.Millisecond, time.Second, 5 * time.Second, 30 * time.Second} {
		all = append(all, timed(limit))
	}
	if table {
		all = append(all, level{name: "table", words: "the table", table: true})
	}
	switch {
	case own.depth > 0:
		own = deep(own.depth)
		first = slices.IndexFunc(all, func(l level) bool { return l.depth >= own.depth || l.time > 0 })
	case own.time > 0:
		own = timed(own.time)
		first = slices.IndexFunc(all, func(l level) bool { return l.time >= own.time || l.table })
	case table:
		return all, len(all) - 1
	default:
		return all, slices.IndexFunc(all, func(l level) bool { return l.time == time.Second })
	}
	if first < 0 {
		first = len(all)
	}
	if first == len(all) || all[first] != own {
		all = slices.Insert(all, first, own)
	}
	return all, first
}

func deep(depth int) level {
	words := fmt.Sprintf("%d moves ahead", depth)
	if depth == 1 {
		words = "1 move ahead"
	}
	return level{name: fmt.Sprintf("machine:depth=%d", depth), words: words, depth: depth}
}

func timed(limit time.Duration) level {
	return level{name: fmt.Sprintf("machine:time=%v", limit), words: fmt.Sprintf("%v a move", limit), time: limit}
}

// An opponent is the machine, which plays at any level. It is safe for concurrent use; it
// chooses one move at a time.
type opponent struct {
	g       game.Game
	table   *table.Table
	options search.Options
	random  *player.Random

	working  sync.Mutex
	searcher *search.Searcher // made when it is first needed
}

// move returns the move that the opponent makes at a level.
func (op *opponent) move(ctx context.Context, h *player.History, l level) (string, error) {
	op.working.Lock()
	defer op.working.Unlock()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	var p player.Player = op.random
	switch {
	case l.table:
		p = player.NewTable(op.table)
	case l.depth > 0 || l.time > 0:
		if op.searcher == nil {
			var err error
			if op.searcher, err = search.New(op.g, op.options); err != nil {
				return "", err
			}
		}
		p = player.NewMachine(op.searcher, search.Limit{Depth: l.depth, Time: l.time})
	}
	return p.Move(ctx, h, 0)
}

// close waits until the current move is chosen, and prevents further ones.
func (op *opponent) close() { op.working.Lock() }
