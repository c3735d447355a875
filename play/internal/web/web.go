// Package web serves solved games, and games that it searches, to browsers and programs over
// HTTP: a page to play on and to look at positions, the JSON that the page reads, an interface
// in the form that GamesCrafters' viewers expect. Package runpages adds the progress of runs. It
// uses tables, searches and players; it knows no particular game, and never writes to a data
// directory.
package web

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"log"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/chart"
	"github.com/treereduce/treereduce/internal/command/alias"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/play/internal/analysis"
	"github.com/treereduce/treereduce/play/internal/board"
	"github.com/treereduce/treereduce/play/internal/book"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/web/http"
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
	Book        *book.Book                                       // an opening book, for the game that it is of; nil: none
	Pages       func(s *Server, sources []Source) (Pages, error) // makes the pages of runs; nil: there are none
	HostAllowed func(host string) bool                           // reports whether a request may name a host; nil: any
	AllowOrigin string                                           // the value of Access-Control-Allow-Origin for the interface; "": none
	Searches    int                                              // searches that may run at the same time, at least 1
	Memory      int64                                            // bytes of the tables of all searches together; 0: DefaultMemory
	Log         *log.Logger
}

// Pages are pages of the runs in data directories.
type Pages interface {
	// Register adds the pages to the routes.
	Register(mux *http.ServeMux)
	// Runs returns the runs, after it has read their states, unless it has done so just now.
	Runs() []Run
	// Refresh has the states read without waiting for them: the file system of a directory may be slow.
	Refresh()
}

// A Run is the run in a data directory, for the list of games.
type Run struct {
	Data   string `json:"data"`
	Title  string `json:"title,omitempty"`
	Status string `json:"status"`
	Text   string `json:"text"` // the status in words
	Link   string `json:"-"`    // the address of its page, from the first page
	Solved bool   `json:"-"`
}

// DefaultMemory is the memory of searches.
const DefaultMemory = 64 << 20

// A Server answers requests. Its Handler is safe for concurrent use.
type Server struct {
	o     Options
	pages *template.Template
	slots chan *slot
	runs  Pages // nil: none

	streams chan struct{} // has an element for each event stream that is open

	aliveEvery, reviewTime time.Duration

	mu       sync.Mutex
	games    map[string]*served         // by ID and variant: "connectn/7-6-4"; those with a table, and recently used others
	assessed map[place]*analysis.Report // finished analyses
	tables   []*Source                  // data directories with a table
}

//go:embed static
var static embed.FS

// New makes a Server.
func New(o Options) (*Server, error) {
	s := &Server{o: o, aliveEvery: aliveEvery, reviewTime: reviewTime, games: make(map[string]*served), assessed: make(map[place]*analysis.Report),
		streams: make(chan struct{}, maxStreams)}
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
	return s, err
}

// Limits of a request.
const (
	answerTime = 30 * time.Second // of an answer that is no stream
	maxQuery   = 16 << 10
	maxStreams = 200 // event streams at the same time
)

// Handler returns the handler of all requests.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	files, _ := fs.Sub(static, "static")
	mux.Handle("GET /static/{file}", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if file := r.PathValue("file"); path.Ext(file) == ".html" || strings.Contains(file, "/") {
			s.Fail(w, r, errNotFound)
			return
		}
		w.Header().Set("Cache-Control", "max-age=3600")
		http.ServeFileFS(w, r, files, r.PathValue("file"))
	}))
	mux.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "image/svg+xml")
		http.ServeFileFS(w, r, files, "icon.svg")
	})
	for _, file := range []struct{ name, kind, text string }{
		{"board.js", "text/javascript", string(board.Script)}, {"board.css", "text/css", board.StyleSheet}, {"chart.css", "text/css", chart.StyleSheet},
	} {
		mux.HandleFunc("GET /static/"+file.name, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", file.kind+"; charset=utf-8")
			w.Header().Set("Cache-Control", "max-age=3600")
			io.WriteString(w, file.text)
		})
	}
	s.wholeRoutes(mux)
	if s.runs != nil {
		s.runs.Register(mux)
	}
	mux.HandleFunc("GET /{$}", s.page("index.html"))
	mux.HandleFunc("GET /open/{game}", s.open)
	mux.HandleFunc("GET /play/{game}", s.open)
	mux.HandleFunc("GET /play/{game}/{variant}", s.page("play.html"))
	mux.HandleFunc("GET /view/{game}/{variant}", s.json(s.view))
	mux.HandleFunc("GET /view/{game}/{variant}/line", s.json(s.line))
	mux.HandleFunc("GET /view/{game}/{variant}/analysis", s.events(s.analysis))
	mux.HandleFunc("GET /view/{game}/{variant}/review", s.events(s.review))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { s.Fail(w, r, errNotFound) })
	return s.guard(mux)
}

// A problem is an error with the status of its answer.
type problem struct {
	status int
	error
}

func (p problem) Unwrap() error { return p.error }

var (
	errNotFound = problem{http.StatusNotFound, errors.New("there is no such page")}
	errBusy     = problem{http.StatusServiceUnavailable, errors.New("the server is busy; try again in a moment")}
)

// NotFound returns the error for a request that names what does not exist.
func NotFound(err error) error { return problem{http.StatusNotFound, err} }

// badRequest returns the error for an invalid request.
func badRequest(err error) error { return problem{http.StatusBadRequest, err} }

// policy forbids everything that is not served here.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// isAPI reports whether a request is for the interface for programs.
func isAPI(r *http.Request) bool {
	return r.URL.Path == "/api" || strings.HasPrefix(r.URL.Path, "/api/")
}

// guard checks what all requests must satisfy, and sets the headers of all answers.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		if s.o.AllowOrigin != "" && isAPI(r) {
			h.Set("Access-Control-Allow-Origin", s.o.AllowOrigin)
			h.Set("Cross-Origin-Resource-Policy", "cross-origin")
			if s.o.AllowOrigin != "*" {
				h.Set("Vary", "Origin")
			}
		}
		switch {
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			h.Set("Allow", "GET, HEAD")
			s.Fail(w, r, problem{http.StatusMethodNotAllowed, fmt.Errorf("method %s: expected GET or HEAD", r.Method)})
		case s.o.HostAllowed != nil && !s.o.HostAllowed(r.Host):
			s.Fail(w, r, problem{http.StatusMisdirectedRequest, fmt.Errorf("host %q is not served here; --host allows a name", r.Host)})
		case len(r.URL.RawQuery) > maxQuery:
			s.Fail(w, r, problem{http.StatusRequestURITooLong, fmt.Errorf("the query is longer than %d bytes", maxQuery)})
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// Fail answers with an error: as JSON, or to a browser that asks for a page, as a page.
func (s *Server) Fail(w http.ResponseWriter, r *http.Request, err error) {
	status, text := http.StatusInternalServerError, err.Error()
	var p problem
	if errors.As(err, &p) {
		status = p.status
	} else if s.o.Log != nil {
		s.o.Log.Printf("%s: %s", r.URL.EscapedPath(), oneLine(err))
	}
	w.Header().Set("Cache-Control", "no-store")
	if !isAPI(r) && strings.Contains(r.Header.Get("Accept"), "text/html") {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(status)
		s.pages.ExecuteTemplate(w, "error.html", map[string]any{"Root": root(r), "Status": status, "Text": text})
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	answer := map[string]string{"error": text}
	if i := (invalid{}); errors.As(err, &i) {
		answer["reason"] = i.why.Error()
	}
	json.NewEncoder(w).Encode(answer)
}

// oneLine returns an error as a line of the log.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// json returns the handler that answers with what f returns, as JSON.
func (s *Server) json(f func(r *http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), answerTime)
		defer cancel()
		answer, err := f(r.WithContext(ctx))
		if err != nil {
			s.Fail(w, r, err)
			return
		}
		text, err := json.Marshal(answer)
		if err != nil {
			s.Fail(w, r, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-cache")
		w.Write(append(text, '\n'))
	}
}

// page returns the handler of a page made from a template.
func (s *Server) page(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		data := map[string]any{}
		if r.PathValue("game") != "" {
			g, err := s.game(r)
			if err != nil {
				s.Fail(w, r, err)
				return
			}
			data["Title"], data["ID"], data["Variant"], data["Whole"] = g.title(), g.id, g.variant, g.source != nil && hasWhole
			data["Outcomes"], data["Tiers"], data["Puzzle"] = outcomes(g.g), game.LastTier(g.g), g.g.Values().Puzzle
			start := g.g.Picture(g.g.Start())
			data["Columns"] = start.Above == nil && len(start.Below) > 0 && start.Below[0] == "0" // moves are columns
			data["Opponents"], data["Rules"] = player.Opponents(), game.Paragraphs(game.RulesOf(g.g))
		} else {
			data["Games"], data["Runs"] = s.list()
			_, data["Connect4"] = alias.KindOf(s.o.Games, "connect4")
		}
		s.Write(w, r, name, data)
	}
}

// root returns the relative address of the first page. All links are relative, so that a proxy can
// serve the pages below a path.
func root(r *http.Request) string {
	return "./" + strings.Repeat("../", max(0, strings.Count(r.URL.EscapedPath(), "/")-1))
}

// Write answers with a page made from a template.
func (s *Server) Write(w http.ResponseWriter, r *http.Request, name string, data map[string]any) {
	data["Root"] = root(r)
	page, err := s.Render(name, data)
	if err != nil {
		s.Fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	io.WriteString(w, string(page))
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
