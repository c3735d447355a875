package driver

import (
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/mnk"
	"github.com/treereduce/treereduce/game/quickcross"
)

// TestHelpNamesOwnGames reads the help of every command of a program without connectn: no
// example uses a game that the program does not have.
func TestHelpNamesOwnGames(t *testing.T) {
	games := game.Kinds{mnk.Kind, quickcross.Kind}
	for _, line := range []string{"help", "help solve mnk", "help status", "help lookup", "help stats", "help export", "help compare", "help verify", "help plan mnk"} {
		status, stdout, stderr := runLine(games, line, "")
		if status != 0 || strings.Contains(stdout, "connectn") {
			t.Errorf("driver %s: status %d, %s%s", line, status, stdout, stderr)
		}
	}
	if _, stdout, _ := runLine(games, "help", ""); !strings.Contains(stdout, "driver solve mnk --width 3 --height 3 --connect 3\n      driver lookup --start\n") {
		t.Errorf("driver help: %s", stdout)
	}
}

// TestValueNamesPlayers checks that lookup --value has the game's names of the players, not X and O.
func TestValueNamesPlayers(t *testing.T) {
	domineering := mnk.Kind
	domineering.New = func(args []int) (game.Game, error) {
		g, err := mnk.Kind.New(args)
		if err != nil {
			return nil, err
		}
		return named{g}, nil
	}
	for line, want := range map[string]string{
		"lookup --game mnk --value 5":        "5 = 1·4 + 1: H wins in 1 move\n",
		"lookup --game mnk --value 0x42":     "66 = 16·4 + 2: V wins in 16 moves\n",
		"lookup --game quickcross --value 6": "6 = 1·4 + 2: WIN in 1 move\n",
		"lookup --game network --value 66":   "",
	} {
		status, stdout, stderr := runLine(game.Kinds{domineering, quickcross.Kind}, line, "")
		if stdout != want || (status == 0) != (want != "") {
			t.Errorf("driver %s: status %d, %q%s, want %q", line, status, stdout, stderr, want)
		}
	}
}

// named is a game whose players are V and H.
type named struct{ game.Game }

func (named) Values() game.Values { return game.Values{Players: [2]string{"V", "H"}} }
