package referee_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/referee"
)

// TestAsk checks the answers of players: after a fault the entrant makes a new player, and an entrant that cannot
// make one any more has a fault.
func TestAsk(t *testing.T) {
	h := player.NewHistory(solved.Game(t, three))
	answers := []string{"1", "7", "2"}
	made, asked := 0, 0
	a := referee.NewAsker(referee.Entrant{Name: "A", New: func(context.Context) (player.Player, error) {
		if made++; made > 2 {
			return nil, errors.New("no more")
		}
		return does(func(context.Context, *player.History, time.Duration) (string, error) {
			asked++
			return answers[(asked-1)%3], nil
		}), nil
	}}, referee.Rules{})
	defer a.Close()
	var got []string
	for range 6 {
		name, _, fault, err := a.Ask(t.Context(), h)
		got = append(got, fmt.Sprintf("%s%v%v", name, fault != nil, err != nil))
	}
	if fmt.Sprint(got) != "[1falsefalse truefalse 2falsefalse 1falsefalse truefalse truefalse]" || made != 3 || len(h.Names()) != 0 {
		t.Error(got, made, h.Names())
	}
}

// TestAskEnds checks the errors that end the questions.
func TestAskEnds(t *testing.T) {
	h := player.NewHistory(solved.Game(t, three))
	leaves := does(func(context.Context, *player.History, time.Duration) (string, error) { return "", player.ErrLeft })
	if _, _, fault, err := referee.NewAsker(entrant("A", leaves), referee.Rules{}).Ask(t.Context(), h); fault != nil || err != player.ErrLeft {
		t.Error(fault, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	waits := does(func(ctx context.Context, _ *player.History, _ time.Duration) (string, error) {
		cancel()
		<-ctx.Done()
		return "", ctx.Err()
	})
	if _, _, fault, err := referee.NewAsker(entrant("A", waits), referee.Rules{}).Ask(ctx, h); fault != nil || !errors.Is(err, context.Canceled) {
		t.Error(fault, err)
	}
}
