package http

import (
	"context"
	"io/fs"
	"net/url"
	"path"
	"time"
)

// A Header has the headers of a request or an answer; their names are in canonical form.
type Header map[string]string

// Get returns a header.
func (h Header) Get(name string) string { return h[name] }

// Set sets a header.
func (h Header) Set(name, value string) { h[name] = value }

// A ResponseWriter takes an answer.
type ResponseWriter interface {
	Header() Header
	Write([]byte) (int, error)
	WriteHeader(status int)
}

// A Handler answers requests.
type Handler interface {
	ServeHTTP(ResponseWriter, *Request)
}

// HandlerFunc is a function as a Handler.
type HandlerFunc func(ResponseWriter, *Request)

// ServeHTTP calls f.
func (f HandlerFunc) ServeHTTP(w ResponseWriter, r *Request) { f(w, r) }

// A Request is a request of a page.
type Request struct {
	Method, Host string
	URL          *url.URL
	Header       Header

	ctx    context.Context
	values map[string]string // of the wildcards of its pattern
}

// NewRequest returns a request for a page of this site.
func NewRequest(ctx context.Context, address string) (*Request, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	return &Request{Method: MethodGet, URL: u, Header: make(Header), ctx: ctx}, nil
}

// Context returns the context of the request.
func (r *Request) Context() context.Context { return r.ctx }

// WithContext returns the request with another context.
func (r *Request) WithContext(ctx context.Context) *Request {
	with := *r
	with.ctx = ctx
	return &with
}

// PathValue returns what a wildcard of the pattern stands for.
func (r *Request) PathValue(name string) string { return r.values[name] }

// types are the types of files, by the ends of their names. Package mime would make the program larger.
var types = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".json": "application/json", ".svg": "image/svg+xml",
}

// ServeFileFS answers with a file.
func ServeFileFS(w ResponseWriter, _ *Request, fsys fs.FS, name string) {
	content, err := fs.ReadFile(fsys, name)
	if err != nil {
		w.WriteHeader(StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", types[path.Ext(name)])
	w.Write(content)
}

// A ResponseController has no effect: an answer is sent as it is written.
type ResponseController struct{}

// NewResponseController returns a ResponseController.
func NewResponseController(ResponseWriter) *ResponseController { return nil }

// Flush does nothing.
func (*ResponseController) Flush() error { return nil }

// SetWriteDeadline does nothing.
func (*ResponseController) SetWriteDeadline(time.Time) error { return nil }
