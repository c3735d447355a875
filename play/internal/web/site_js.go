package web

import (
	"context"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/play/internal/web/http"
)

// In a browser there are no hosts and no runs, and nothing reads a complete table.

const hasWhole = false

func (s *Server) hostAllowed(string) bool { return true }

type whole struct{}

type watchedRun struct{ source *Source }

// An apiRun is the state of a run, for the list of games.
type apiRun struct{ Data, Title, Status, Text string }

func (a *apiRun) isSolved() bool { return false }

func (s *Server) refresh() {}

func (s *Server) states() []*apiRun { return nil }

func (s *Server) apiRuns(*http.Request) (any, error) { return []*apiRun{}, nil }

func (s *Server) wholeRoutes(*http.ServeMux) {}

func drawn(context.Context, *Source, filter) (game.Position, error) { return 0, errNoTable }
