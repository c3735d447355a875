// Package web serves solved games, and games that it searches, to browsers and programs over
// HTTP: a page to play on and to look at positions, the JSON that the page reads, an interface
// in the form that GamesCrafters' viewers expect. Package runpages adds the progress of runs. It
// uses tables, searches and players; it knows no particular game, and never writes to a data
// directory.
package web

import (
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"log"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command/alias"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/play/internal/analysis"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/train"
	"github.com/treereduce/treereduce/table"
)

// A Source is a data directory that is served.
type Source struct {
	Name  string       // as the user gave it; "" on a site
	Table *table.Table // nil: there is no table yet
	FS    store.FS     // nil: its run is not shown
	Path  string
}

// Options configure a Server.
type Options struct {
	Games       game.Kinds
	Sources     []Source                                         // of several tables of a game, the first one is served
	Pages       func(s *Server, sources []Source) (Pages, error) // makes the pages of runs; nil: there are none
	HostAllowed func(host string) bool                           // reports whether a request may name a host; nil: any
	AllowOrigin string                                           // the value of Access-Control-Allow-Origin for the interface; "": none
	Searches    int                                              // searches that may run at the same time, at least 1
	Memory      int64                                            // bytes of the tables of all searches together; 0: DefaultMemory
	Log         *log.Logger
}

// Pages are pages of the runs in data directories.
type Pages interface {
	// Runs returns the runs, after it has read their states, unless it has done so just now.
	Runs() []Run
	// Refresh has the states read without waiting for them: the file system of a directory may be slow.
	Refresh()
}

// A Run is the run in a data directory, for the list of games.
type Run struct {
	Data, Title string
	Status      string
	Text        string // the status in words
	Link        string // the address of its page, from the first page
}

// DefaultMemory is the memory of searches.
const DefaultMemory = 64 << 20

// A Server answers requests. Its method Answer is safe for concurrent use.
type Server struct {
	o      Options
	pages  *template.Template
	routes []route
	kinds  func() []entry // the first board of each kind of games
	slots  chan *slot
	runs   Pages // nil: none

	streams chan struct{} // has an element for each event stream that is open

	reviewTime, reviewMost time.Duration

	mu       sync.Mutex
	games    map[string]*served         // by ID and variant: "connectn/7-6-4"; those with a table, and recently used others
	assessed map[place]*analysis.Report // finished analyses
	daily    map[string][]*train.Puzzle // puzzles of the day, by game and date
	tables   []*Source                  // data directories with a table
}

//go:embed static
var static embed.FS

// New makes a Server.
func New(o Options) (*Server, error) {
	s := &Server{o: o, reviewTime: reviewTime, reviewMost: reviewMost, games: make(map[string]*served), assessed: make(map[place]*analysis.Report),
		daily: make(map[string][]*train.Puzzle), streams: make(chan struct{}, maxStreams), kinds: sync.OnceValue(func() []entry { return entriesOf(o.Games) })}
	if o.Searches < 1 {
		return nil, fmt.Errorf("web: %d searches at a time: expected 1 or more", o.Searches)
	}
	if o.Memory == 0 {
		s.o.Memory = DefaultMemory
	}
	s.slots = make(chan *slot, o.Searches)
	for range o.Searches {
		s.slots <- new(slot)
	}
	var err error
	if s.pages, err = template.ParseFS(static, "static/*.html"); err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	for i := range o.Sources {
		if o.Sources[i].Table != nil {
			s.add(&o.Sources[i])
		}
	}
	if o.Pages != nil {
		s.runs, err = o.Pages(s, o.Sources)
	}
	s.register()
	return s, err
}

// Limits of a request.
const (
	answerTime = 30 * time.Second // of an answer that is no stream
	maxQuery   = 16 << 10
	maxStreams = 200 // event streams at the same time
)

// page returns the handler of a page made from a template.
func (s *Server) page(name string) Handler {
	return func(r *Request) (*Answer, error) {
		data := map[string]any{}
		if r.PathValue("game") != "" {
			g, err := s.game(r)
			if err != nil {
				return nil, err
			}
			data["Title"], data["ID"], data["Variant"], data["Whole"] = g.title(), g.id, g.variant, g.table != nil && hasWhole
			data["Solved"], data["Bands"] = g.table != nil, train.Bands()
			data["Outcomes"], data["Tiers"], data["Puzzle"] = outcomes(g.g), game.LastTier(g.g), g.g.Values().Puzzle
			start := g.g.Picture(g.g.Start())
			data["Columns"] = start.Above == nil && len(start.Below) > 0 && start.Below[0] == "0" // moves are columns
			data["Opponents"], data["Rules"] = player.Opponents(), game.Paragraphs(game.RulesOf(g.g))
		} else {
			games, runs := s.list()
			data["Games"], data["Runs"], data["Solved"] = games, runs, slices.ContainsFunc(games, func(e entry) bool { return e.Solved })
			if kind, ok := alias.KindOf(s.o.Games, "connect4"); ok {
				if g, err := kind.Default(); err == nil {
					data["Connect4"] = game.TitleOf(g)
				}
			}
		}
		return s.Page(r, name, data)
	}
}

// root returns the relative address of the first page. All links are relative, so that a proxy can
// serve the pages below a path.
func root(r *Request) string {
	return "./" + strings.Repeat("../", max(0, strings.Count(r.Path, "/")-1))
}

// Page answers with a page made from a template.
func (s *Server) Page(r *Request, name string, data map[string]any) (*Answer, error) {
	data["Root"] = root(r)
	page, err := s.Render(name, data)
	return Text("text/html; charset=utf-8", "no-cache", []byte(page)), err
}

// Render returns what a template makes of data.
func (s *Server) Render(name string, data any) (template.HTML, error) {
	var text strings.Builder
	err := s.pages.ExecuteTemplate(&text, name, data)
	return template.HTML(text.String()), err
}

// Parse adds the templates of files. They may use the template head.
func (s *Server) Parse(files fs.FS, pattern string) error {
	_, err := s.pages.ParseFS(files, pattern)
	return err
}
