package referee

import (
	"context"
	"errors"
	"time"

	"github.com/treereduce/treereduce/play/internal/player"
)

// An Asker asks an entrant for single moves, each at a position of its own, by the rules of a play.
type Asker struct {
	entrant Entrant
	rules   Rules
	player  player.Player // nil: to be made
}

// NewAsker makes an Asker.
func NewAsker(e Entrant, r Rules) *Asker { return &Asker{entrant: e.giveUp(), rules: r} }

// Ask asks for the move at the last position of h, which is not finished. If a player would lose a play there
// by resigning or by a fault, fault is the reason, and the next call begins with a new player. err is the
// cause of ctx's end, or player.ErrLeft.
func (a *Asker) Ask(ctx context.Context, h *player.History) (name string, took time.Duration, fault, err error) {
	if a.rules.Watch != nil {
		a.rules.Watch(h.Clone())
	}
	if a.player == nil {
		a.player, fault = a.entrant.New(ctx)
	}
	if fault == nil {
		name, took, fault = a.rules.ask(ctx, Seat{a.entrant.Name, a.player, a.entrant.Limit}, h.Clone())
		if fault == nil {
			fault = h.Clone().Play(name)
		}
	}
	switch {
	case fault == nil:
		return name, took, nil, nil
	case errors.Is(fault, errAbandoned):
		a.player = nil // it must not be called again
	default:
		a.Close()
	}
	switch {
	case ctx.Err() != nil:
		return "", took, nil, context.Cause(ctx)
	case errors.Is(fault, player.ErrLeft):
		return "", took, nil, fault
	}
	return "", took, errors.New(brief(fault.Error())), nil
}

// Close closes the player, if there is one.
func (a *Asker) Close() {
	if a.player != nil {
		a.player.Close()
		a.player = nil
	}
}
