package dobutsu

import (
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
)

func TestContract(t *testing.T) { gametest.Contract(t, New()) }

var _ game.Symmetric = (*rules)(nil)
