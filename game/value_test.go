package game_test

import (
	"testing"

	"github.com/treereduce/treereduce/game"
)

func TestValue(t *testing.T) {
	for _, tt := range []struct {
		outcome    game.Outcome
		remoteness int
		value      game.Value
		text       string
	}{
		{game.Undecided, 0, 0, "undecided"},
		{game.SecondWins, 0, 1, "O wins in 0"},
		{game.FirstWins, 0, 2, "X wins in 0"},
		{game.Tie, 0, 3, "tie in 0"},
		{game.FirstWins, 1, 6, "X wins in 1"},
		{game.FirstWins, 2, 10, "X wins in 2"},
		{game.SecondWins, 2, 9, "O wins in 2"},
		{game.Tie, 9, 39, "tie in 9"},
		{game.FirstWins, 41, 166, "X wins in 41"},
		{game.Tie, game.MaxByteRemoteness, 255, "tie in 63"},
	} {
		v := game.NewValue(tt.outcome, tt.remoteness)
		if v != tt.value {
			t.Errorf("NewValue(%d, %d) = %d, want %d", tt.outcome, tt.remoteness, v, tt.value)
		}
		if v.Outcome() != tt.outcome || v.Remoteness() != tt.remoteness {
			t.Errorf("value %d has outcome %d and remoteness %d, want %d and %d", v, v.Outcome(), v.Remoteness(), tt.outcome, tt.remoteness)
		}
		if v.Valid() != (tt.outcome != game.Undecided) {
			t.Errorf("value %d: Valid() = %v", v, v.Valid())
		}
		if got := v.String(); got != tt.text {
			t.Errorf("value %d: String() = %q, want %q", v, got, tt.text)
		}
	}
}

func TestPlayers(t *testing.T) {
	if game.First.Other() != game.Second || game.Second.Other() != game.First {
		t.Error("Other is not the opponent")
	}
	if game.WinFor(game.First) != game.FirstWins || game.WinFor(game.Second) != game.SecondWins {
		t.Error("WinFor is not the player's win")
	}
}

// better says in plain words whether player p would rather have v than w: a win
// before a tie before a loss; the winner hastens, the loser delays, ties are
// drawn out.
func better(p game.Player, v, w game.Value) bool {
	rank := func(v game.Value) int {
		switch v.Outcome() {
		case game.WinFor(p):
			return 3
		case game.Tie:
			return 2
		}
		return 1
	}
	if rank(v) != rank(w) {
		return rank(v) > rank(w)
	}
	if rank(v) == 3 {
		return v.Remoteness() < w.Remoteness()
	}
	return v.Remoteness() > w.Remoteness()
}

func TestScoresAreInOrder(t *testing.T) {
	for _, p := range []game.Player{game.First, game.Second} {
		score := game.ScoresFor(p).OfChild
		for v := range score {
			for w := range score {
				if score[v] == 0 || score[w] == 0 {
					continue
				}
				if got, want := score[v] > score[w], better(p, game.Value(v), game.Value(w)); got != want {
					t.Errorf("player %d: score of %v > score of %v is %v, want %v", p, game.Value(v), game.Value(w), got, want)
				}
			}
		}
	}
}

// Value undoes OfChild, with one move more; what cannot be a child's value has
// no score, and what is no score has no value.
func TestScoresInverse(t *testing.T) {
	for _, p := range []game.Player{game.First, game.Second} {
		s := game.ScoresFor(p)
		used := map[game.Score]bool{}
		for i, score := range s.OfChild {
			v := game.Value(i)
			if !v.Valid() || v.Remoteness() == game.MaxByteRemoteness {
				if score != 0 {
					t.Errorf("player %d: %v (%d) has the score %d, want none", p, v, v, score)
				}
				continue
			}
			if score == 0 || used[score] {
				t.Errorf("player %d: %v has the score %d, which is none or another's", p, v, score)
			}
			used[score] = true
			if got, want := s.Value[score], game.NewValue(v.Outcome(), v.Remoteness()+1); got != want {
				t.Errorf("player %d: a move to %v has the value %v, want %v", p, v, got, want)
			}
		}
		for score, v := range s.Value {
			if !used[game.Score(score)] && v != 0 {
				t.Errorf("player %d: score %d is of no value, but gives %v", p, score, v)
			}
		}
	}
}
