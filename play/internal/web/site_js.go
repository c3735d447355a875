package web

import (
	"context"

	"github.com/treereduce/treereduce/game"
)

// In a browser nothing reads a complete table.

const hasWhole = false

type whole struct{}

func (s *Server) wholeRoutes() {}

func drawn(context.Context, *Source, filter) (game.Position, error) { return 0, errNoTable }
