package web

import (
	"context"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/table"
)

// In a browser nothing reads a complete table.

const hasWhole = false

type whole struct{}

func (s *Server) wholeRoutes() {}

func drawn(context.Context, *table.Table, string, string, string) (game.Position, error) {
	return 0, errNoTable
}
