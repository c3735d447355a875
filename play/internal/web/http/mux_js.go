package http

import (
	"net/url"
	"strings"
)

// A ServeMux passes a request to the handler of the pattern that fits best, as that of net/http. The
// segments of a pattern are literal, {name} or, at the end, {$}; / fits everything.
type ServeMux struct{ routes []route }

type route struct {
	segments []string
	handler  Handler
}

// NewServeMux returns a ServeMux without patterns.
func NewServeMux() *ServeMux { return new(ServeMux) }

// Handle registers the handler of a pattern.
func (m *ServeMux) Handle(pattern string, h Handler) {
	pattern = strings.TrimPrefix(pattern, MethodGet+" ")
	m.routes = append(m.routes, route{strings.Split(strings.TrimSuffix(pattern, "{$}"), "/"), h})
	if pattern == "/" {
		m.routes[len(m.routes)-1].segments = nil
	}
}

// HandleFunc registers a function as the handler of a pattern.
func (m *ServeMux) HandleFunc(pattern string, f func(ResponseWriter, *Request)) {
	m.Handle(pattern, HandlerFunc(f))
}

// ServeHTTP answers a request.
func (m *ServeMux) ServeHTTP(w ResponseWriter, r *Request) {
	words := strings.Split(r.URL.EscapedPath(), "/")
	for i, word := range words {
		if plain, err := url.PathUnescape(word); err == nil {
			words[i] = plain
		}
	}
	var best *route
	for i := range m.routes {
		if t := &m.routes[i]; t.fits(words) && (best == nil || t.before(best)) {
			best = t
		}
	}
	if best == nil {
		w.WriteHeader(StatusNotFound)
		return
	}
	with := *r
	with.values = make(map[string]string)
	for i, s := range best.segments {
		if name := wildcard(s); name != "" {
			with.values[name] = words[i]
		}
	}
	best.handler.ServeHTTP(w, &with)
}

// wildcard returns the name of a wildcard; "" if the segment is literal.
func wildcard(segment string) string {
	if strings.HasPrefix(segment, "{") {
		return strings.Trim(segment, "{}")
	}
	return ""
}

// fits reports whether the segments of a path fit the pattern.
func (t *route) fits(words []string) bool {
	if t.segments == nil {
		return true
	}
	if len(t.segments) != len(words) {
		return false
	}
	for i, s := range t.segments {
		if s != words[i] && (wildcard(s) == "" || words[i] == "") {
			return false
		}
	}
	return true
}

// before reports whether the pattern is more specific than another one that fits the same path.
func (t *route) before(o *route) bool {
	if t.segments == nil || o.segments == nil {
		return o.segments == nil
	}
	for i, s := range t.segments {
		if a, b := wildcard(s) == "", wildcard(o.segments[i]) == ""; a != b {
			return a
		}
	}
	return false
}
