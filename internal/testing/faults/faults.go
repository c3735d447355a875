// Package faults puts faults between the doubles of services and their clients: requests that
// are refused, answers that are lost or cut off. It knows nothing of what the services do.
package faults

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
)

// A Fault replaces or modifies the answer to a request.
type Fault struct {
	Status int               // of HTTP, of an error in place of the answer; 0: no error
	Code   string            // the service's code of the error
	Header map[string]string // added to the answer
	Cut    int               // close the connection after this many bytes of the body; 0: do not
	Lost   bool              // close the connection when the service has performed the request
	Text   string            // of an answer that is not the service's, in place of the answer; with Lost, the request is performed
}

// Faults of S3 (Denied, Busy), of Amazon EMR (Throttled, Expired), and of both.
var (
	Denied    = &Fault{Status: http.StatusForbidden, Code: "AccessDenied"}
	Busy      = &Fault{Status: http.StatusServiceUnavailable, Code: "SlowDown"}
	Throttled = &Fault{Status: http.StatusBadRequest, Code: "ThrottlingException"}
	Expired   = &Fault{Status: http.StatusBadRequest, Code: "ExpiredTokenException"}
	Lost      = &Fault{Lost: true}
)

// If returns a function for Set: the requests for which when returns true get this fault.
func (f *Fault) If(when func(*http.Request) bool) func(*http.Request) *Fault {
	return func(r *http.Request) *Fault {
		if when(r) {
			return f
		}
		return nil
	}
}

// A Handler passes requests to a service, except for faults.
type Handler struct {
	Next http.Handler // the service

	mu    sync.Mutex
	fault func(*http.Request) *Fault
	asked []string
}

// Set sets the function that returns the fault of each request, or nil if it has none. Without
// a function, there are no faults. The function may change the request's headers.
func (h *Handler) Set(fault func(*http.Request) *Fault) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.fault = fault
}

// Asked returns the requests so far, in the form "PUT bucket/key".
func (h *Handler) Asked() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.asked)
}

// InTurn returns a function for Set: the calls of an operation, RunJobFlow or another of a
// service with JSON, get these faults in turn, and later calls none.
func InTurn(operation string, all ...*Fault) func(*http.Request) *Fault {
	var mu sync.Mutex
	return func(r *http.Request) *Fault {
		mu.Lock()
		defer mu.Unlock()
		if len(all) == 0 || !strings.HasSuffix(r.Header.Get(Target), "."+operation) {
			return nil
		}
		first := all[0]
		all = all[1:]
		return first
	}
}

// Target is the header that names the operation of a service with JSON, and JSON the type of its
// requests and answers. Other services use XML.
const (
	Target = "X-Amz-Target"
	JSON   = "application/x-amz-json-1.1"
)

// ServeHTTP handles a request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	h.asked = append(h.asked, r.Method+" "+strings.Trim(r.URL.Path, "/"))
	faultOf := h.fault
	h.mu.Unlock()
	fault := new(Fault)
	if faultOf != nil {
		if found := faultOf(r); found != nil {
			fault = found
		}
	}
	for name, value := range fault.Header {
		w.Header().Set(name, value)
	}
	if fault.Status != 0 && !fault.Lost {
		io.Copy(io.Discard, r.Body) // a client that is still sending would get no answer
	}
	switch {
	case fault.Text != "":
		if fault.Lost {
			h.Next.ServeHTTP(httptest.NewRecorder(), r)
		}
		w.WriteHeader(max(fault.Status, http.StatusOK))
		io.WriteString(w, fault.Text)
	case fault.Status != 0 && r.Header.Get(Target) != "":
		RefuseJSON(w, fault.Status, fault.Code, fault.Code)
	case fault.Status != 0:
		RefuseXML(w, fault.Status, fault.Code)
	case fault.Lost:
		h.Next.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler) // which closes the connection
	case fault.Cut > 0:
		h.Next.ServeHTTP(&cutter{w, fault.Cut}, r)
	default:
		h.Next.ServeHTTP(w, r)
	}
}

// RefuseXML answers with an error as S3 does.
func RefuseXML(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%[1]s</Message></Error>", code)
}

// RefuseJSON answers with an error as Amazon EMR does.
func RefuseJSON(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", JSON)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"__type": code, "message": message, "Message": message})
}

// A cutter is an answer whose connection is closed after left more bytes of its body.
type cutter struct {
	http.ResponseWriter
	left int
}

func (c *cutter) Write(b []byte) (int, error) {
	if len(b) > c.left {
		c.ResponseWriter.Write(b[:c.left])
		c.ResponseWriter.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	c.left -= len(b)
	return c.ResponseWriter.Write(b)
}
