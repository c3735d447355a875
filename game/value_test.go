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
		{game.Undecided, 0, 0, "draw"},
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

// eachScores calls do for the scores of each player, with each combination of Values.
func eachScores(do func(vs game.Values, p game.Player, s *game.Scores)) {
	for _, vs := range []game.Values{{}, {TiesSoon: true}, {OfMover: true}, {OfMover: true, TiesSoon: true}} {
		for _, p := range []game.Player{game.First, game.Second} {
			do(vs, p, vs.Scores(p))
		}
	}
}

func TestScoresAreInOrder(t *testing.T) {
	eachScores(func(vs game.Values, p game.Player, s *game.Scores) {
		score := s.OfSuccessor
		for v := range score {
			for w := range score {
				if score[v] == 0 || score[w] == 0 {
					continue
				}
				if got, want := score[v] > score[w], vs.Better(p, game.Value(v), game.Value(w)); got != want {
					t.Errorf("%+v, player %d: score of %v > score of %v is %v, want %v", vs, p, game.Value(v), game.Value(w), got, want)
				}
			}
		}
	})
}

// Value is the inverse of OfSuccessor with one more ply, Successor is the inverse itself. Values
// that no successor can have get no score, and invalid scores have no value.
func TestScoresInverse(t *testing.T) {
	eachScores(func(vs game.Values, p game.Player, s *game.Scores) {
		used := map[game.Score]bool{}
		for i, score := range s.OfSuccessor {
			v := game.Value(i)
			if !v.Valid() || v.Remoteness() == game.MaxByteRemoteness {
				if score != 0 {
					t.Errorf("%+v, player %d: %v (%d) has the score %d, want none", vs, p, v, v, score)
				}
				continue
			}
			if score == 0 || used[score] {
				t.Errorf("%+v, player %d: %v has the score %d, which is none or another's", vs, p, v, score)
			}
			used[score] = true
			if got, want := s.Value[score], vs.Before(v); got != want {
				t.Errorf("%+v, player %d: a move to %v has the value %v, want %v", vs, p, v, got, want)
			}
			if got := s.Successor[score]; got != v {
				t.Errorf("%+v, player %d: the score of %v is of a move to %v", vs, p, v, got)
			}
		}
		for score := range s.Value {
			if !used[game.Score(score)] && (s.Value[score] != 0 || s.Successor[score] != 0) {
				t.Errorf("%+v, player %d: score %d is of no value, but gives %v of %v", vs, p, score, s.Value[score], s.Successor[score])
			}
		}
	})
}

// Values in words, for each combination of Values.
func TestValuesText(t *testing.T) {
	players, mover := game.Values{Players: [2]string{"row 0", "row 1"}}, game.Values{OfMover: true}
	for _, tt := range []struct {
		values game.Values
		v      game.Value
		want   string
	}{
		{players, game.NewValue(game.FirstWins, 3), "row 0 wins in 3"},
		{players, game.NewValue(game.SecondWins, 0), "row 1 wins in 0"},
		{players, game.NewValue(game.Tie, 1023), "tie in 1023"},
		{players, 0, "draw"},
		{mover, game.Wins.In(3), "WIN in 3"},
		{mover, game.Loses.In(0), "LOSE in 0"},
		{mover, game.Ties.In(9), "TIE in 9"},
		{mover, game.Draws.In(9), "DRAW"},
	} {
		if got := tt.values.Text(tt.v); got != tt.want {
			t.Errorf("%+v: value %d is %q, want %q", tt.values, tt.v, got, tt.want)
		}
	}
}

// The preferences of a player, from best to worst, for each combination of Values.
func TestBetter(t *testing.T) {
	wins := func(p game.Player, n int) game.Value { return game.NewValue(game.WinFor(p), n) }
	tie := func(n int) game.Value { return game.NewValue(game.Tie, n) }
	for _, p := range []game.Player{game.First, game.Second} {
		o := p.Other()
		for _, tt := range []struct {
			values game.Values
			order  []game.Value
		}{
			{game.Values{}, []game.Value{wins(p, 0), wins(p, 1), wins(p, 16383), tie(16383), tie(64), tie(0), 0, wins(o, 16383), wins(o, 0)}},
			{game.Values{TiesSoon: true}, []game.Value{wins(p, 1), tie(0), tie(64), tie(16383), 0, wins(o, 64), wins(o, 0)}},
			{game.Values{OfMover: true, TiesSoon: true}, []game.Value{game.Loses.In(0), game.Loses.In(64), tie(0), tie(9), 0, game.Wins.In(9), game.Wins.In(1)}},
			{game.Values{OfMover: true}, []game.Value{game.Loses.In(0), tie(9), tie(0), 0, game.Wins.In(9)}},
		} {
			for i, v := range tt.order {
				for j, w := range tt.order {
					if got := tt.values.Better(p, v, w); got != (i < j) {
						t.Errorf("%+v, player %s: %d better than %d is %v", tt.values, p, v, w, got)
					}
				}
			}
		}
	}
}

// A move gives a position the value of its successor, one ply later.
func TestBefore(t *testing.T) {
	for _, tt := range []struct{ v, players, mover game.Value }{
		{0, 0, 0},
		{game.NewValue(game.FirstWins, 0), game.NewValue(game.FirstWins, 1), game.Loses.In(1)},
		{game.NewValue(game.SecondWins, 99), game.NewValue(game.SecondWins, 100), game.Wins.In(100)},
		{game.NewValue(game.Tie, 7), game.NewValue(game.Tie, 8), game.Ties.In(8)},
	} {
		if got := (game.Values{}).Before(tt.v); got != tt.players {
			t.Errorf("players: before %d is %d, want %d", tt.v, got, tt.players)
		}
		if got := (game.Values{OfMover: true}).Before(tt.v); got != tt.mover {
			t.Errorf("mover: before %d is %d, want %d", tt.v, got, tt.mover)
		}
	}
}

// The value of a terminal position names a player; Ended may convert it to the mover's view.
func TestEnded(t *testing.T) {
	o := game.NewValue(game.SecondWins, 0)
	for _, tt := range []struct {
		ofMover bool
		v       game.Value
		mover   game.Player
		want    game.Value
	}{
		{false, o, game.Second, o},
		{true, o, game.Second, game.Wins.In(0)},
		{true, o, game.First, game.Loses.In(0)},
		{true, game.NewValue(game.Tie, 0), game.Second, game.Ties.In(0)},
		{true, 0, game.Second, 0},
	} {
		if got := (game.Values{OfMover: tt.ofMover}).Ended(tt.v, tt.mover); got != tt.want {
			t.Errorf("%+v: got %d", tt, got)
		}
	}
}
