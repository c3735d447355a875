package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"strings"

	"github.com/treereduce/treereduce/internal/chart"
	"github.com/treereduce/treereduce/play/internal/board"
)

// A Request asks for a page, or for what a page or a program reads.
type Request struct {
	Path, Query string // of the address, escaped; the path begins with a slash
	Accept      string // the header of this name

	ctx    context.Context
	values map[string]string // what the wildcards of the pattern stand for
}

// Context returns the context of the answer. It ends after answerTime.
func (r *Request) Context() context.Context { return r.ctx }

// Parameters returns the parameters of the query.
func (r *Request) Parameters() url.Values {
	q, _ := url.ParseQuery(r.Query) // as far as it can be read
	return q
}

// PathValue returns what a wildcard of the pattern stands for.
func (r *Request) PathValue(name string) string { return r.values[name] }

// An Answer is the answer to a Request.
type Answer struct {
	Status int
	Header map[string]string
	Body   []byte
	// Stream sends the parts of an answer that has no end yet; nil: the answer is Body. It must be called, and returns when ctx
	// ends or send fails.
	Stream func(ctx context.Context, send func(text string) error)
}

// Text returns an answer with a body, and the headers that all answers have.
func Text(kind, cache string, body []byte) *Answer {
	return &Answer{Status: 200, Body: body, Header: map[string]string{
		"Content-Type": kind, "Cache-Control": cache, "Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff",
		"Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin",
	}}
}

// A Handler answers requests.
type Handler func(*Request) (*Answer, error)

// A route has the handler of the paths that fit a pattern: its segments are literal or {name}.
type route struct {
	segments []string
	handler  Handler
}

// Handle registers the handler of a pattern. Of several that fit, the first is used. A path may have a further slash at its end.
func (s *Server) Handle(pattern string, h Handler) {
	s.routes = append(s.routes, route{strings.Split(strings.TrimSuffix(pattern, "/"), "/"), h})
}

// fits returns what the wildcards of the route stand for; ok is false if the segments of a path do not fit it.
func (t route) fits(segments []string) (values map[string]string, ok bool) {
	if len(t.segments) != len(segments) {
		return nil, false
	}
	values = make(map[string]string)
	for i, s := range t.segments {
		if name, wild := strings.CutPrefix(s, "{"); wild && segments[i] != "" {
			values[strings.TrimSuffix(name, "}")] = segments[i]
		} else if s != segments[i] {
			return nil, false
		}
	}
	return values, true
}

// Answer answers a request.
func (s *Server) Answer(ctx context.Context, r Request) *Answer {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	r.ctx = ctx
	a, err := s.handle(&r)
	if err != nil {
		a = s.failed(&r, err)
	}
	return a
}

// handle passes a request to its handler.
func (s *Server) handle(r *Request) (*Answer, error) {
	if len(r.Query) > maxQuery {
		return nil, problem{414, fmt.Errorf("the query is longer than %d bytes", maxQuery)}
	}
	segments := strings.Split(strings.TrimSuffix(r.Path, "/"), "/")
	for i, segment := range segments {
		if plain, err := url.PathUnescape(segment); err == nil {
			segments[i] = plain
		}
	}
	for _, t := range s.routes {
		if values, ok := t.fits(segments); ok {
			r.values = values
			return t.handler(r)
		}
	}
	return nil, errNotFound
}

// register registers the routes of all sites.
func (s *Server) register() {
	for file, content := range map[string][]byte{
		"board.js": board.Script, "board.css": []byte(board.StyleSheet), "chart.css": []byte(chart.StyleSheet),
	} {
		s.Handle("/static/"+file, func(*Request) (*Answer, error) { return Text(types[path.Ext(file)], forHour, content), nil })
	}
	files, _ := fs.Sub(static, "static")
	s.Handle("/static/{file}", func(r *Request) (*Answer, error) { return File(files, r.PathValue("file")) })
	s.Handle("/favicon.ico", func(*Request) (*Answer, error) { return File(files, "icon.svg") })
	s.wholeRoutes()
	s.Handle("/", s.page("index.html"))
	s.Handle("/play/{game}", s.open)
	s.Handle("/play/{game}/{variant}", s.page("play.html"))
	s.Handle("/puzzles/{game}/{variant}", s.page("puzzles.html"))
	s.Handle("/puzzle/{game}/{variant}", s.JSON(s.puzzle))
	s.Handle("/puzzle/{game}/{variant}/answer", s.JSON(s.answer))
	s.Handle("/view/{game}/{variant}", s.JSON(s.view))
	s.Handle("/view/{game}/{variant}/line", s.JSON(s.line))
	s.Handle("/view/{game}/{variant}/analysis", s.events(s.analysis))
	s.Handle("/view/{game}/{variant}/review", s.events(s.review))
}

// types are the types of files that are served, by the ends of their names.
var types = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

// forHour has files kept by browsers.
const forHour = "max-age=3600"

// File answers with a file.
func File(files fs.FS, name string) (*Answer, error) {
	kind, ok := types[path.Ext(name)]
	content, err := fs.ReadFile(files, name)
	if err != nil || !ok {
		return nil, errNotFound
	}
	return Text(kind, forHour, content), nil
}

// A problem is an error with the status of its answer.
type problem struct {
	status int
	error
}

func (p problem) Unwrap() error { return p.error }

var (
	errNotFound = NotFound(errors.New("there is no such page"))
	errBusy     = problem{503, errors.New("the server is busy; try again in a moment")}
)

// NotFound returns the error for a request that names what does not exist.
func NotFound(err error) error { return problem{404, err} }

// badRequest returns the error for an invalid request.
func badRequest(err error) error { return problem{400, err} }

// isAPI reports whether a request is for the interface for programs.
func isAPI(r *Request) bool { return r.Path == "/api" || strings.HasPrefix(r.Path, "/api/") }

// failed returns the answer with an error: as JSON, or to a browser that asks for a page, as a page.
func (s *Server) failed(r *Request, err error) *Answer {
	if errors.Is(err, context.DeadlineExceeded) {
		err = errBusy
	}
	status, why := 500, err.Error()
	var p problem
	if errors.As(err, &p) {
		status = p.status
	} else if s.o.Log != nil {
		s.o.Log.Printf("%s: %s", r.Path, strings.Join(strings.Fields(why), " "))
	}
	var body bytes.Buffer
	a := Text("application/json", "no-store", nil)
	if !isAPI(r) && strings.Contains(r.Accept, "text/html") {
		a.Header["Content-Type"] = "text/html; charset=utf-8"
		s.pages.ExecuteTemplate(&body, "error.html", map[string]any{"Root": root(r), "Status": status, "Text": why})
	} else {
		answer := map[string]string{"error": why}
		if i := (invalid{}); errors.As(err, &i) {
			answer["reason"] = i.why.Error()
		}
		json.NewEncoder(&body).Encode(answer)
	}
	a.Status, a.Body = status, body.Bytes()
	return a
}

// JSON returns the handler that answers with what f returns, as JSON.
func (s *Server) JSON(f func(r *Request) (any, error)) Handler {
	return func(r *Request) (*Answer, error) {
		answer, err := f(r)
		if err != nil {
			return nil, err
		}
		body, err := json.Marshal(answer)
		return Text("application/json", "no-cache", append(body, '\n')), err
	}
}

// Stream answers with the events that send sends, and an event end if it does not fail.
func (s *Server) Stream(send func(context.Context, Stream) error) (*Answer, error) {
	select {
	case s.streams <- struct{}{}:
	default:
		return nil, errBusy
	}
	a := Text("text/event-stream", "no-store", nil)
	a.Header["X-Accel-Buffering"] = "no" // nginx sends each event at once
	a.Stream = func(ctx context.Context, out func(text string) error) {
		defer func() { <-s.streams }()
		if send(ctx, out) == nil {
			Stream(out).Send("end", struct{}{})
		}
	}
	return a, nil
}

// A Stream sends server-sent events, as text.
type Stream func(text string) error

// Send sends an event with data as JSON.
func (s Stream) Send(event string, data any) error {
	body, err := json.Marshal(data)
	if err != nil {
		return err
	}
	return s(fmt.Sprintf("event: %s\ndata: %s\n\n", event, body))
}

// policy forbids everything that is not served here.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
