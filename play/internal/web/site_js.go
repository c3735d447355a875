package web

import (
	"context"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/play/internal/web/http"
)

// In a browser nothing reads a complete table.

const hasWhole = false

type whole struct{}

func (s *Server) wholeRoutes(*http.ServeMux) {}

func drawn(context.Context, *Source, filter) (game.Position, error) { return 0, errNoTable }
