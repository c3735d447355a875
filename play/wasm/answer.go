//go:build js

package main

import (
	"context"
	"errors"
	"syscall/js"

	"github.com/treereduce/treereduce/play/internal/web/http"
)

// answer answers a request. exchange has its address (path, from the root of the site) and its header Accept (accept), and
// the functions that take the answer: begin(status, headers), send(bytes), which returns false if the
// client is gone, and end().
func answer(ctx context.Context, h http.Handler, exchange js.Value) {
	defer exchange.Call("end")
	w := &response{header: make(http.Header), exchange: exchange}
	r, err := http.NewRequest(ctx, exchange.Get("path").String())
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.Header.Set("Accept", exchange.Get("accept").String())
	h.ServeHTTP(w, r)
	w.WriteHeader(http.StatusOK)
}

// canceller returns a function for JavaScript that ends a request, because its client is gone. The
// function exists until the request ends.
func canceller(ctx context.Context, cancel context.CancelFunc) js.Func {
	f := js.FuncOf(func(js.Value, []js.Value) any {
		cancel()
		return nil
	})
	context.AfterFunc(ctx, f.Release)
	return f
}

// A response passes an answer on to JavaScript.
type response struct {
	header   http.Header
	exchange js.Value
	begun    bool
}

// Header returns the headers of the answer.
func (w *response) Header() http.Header { return w.header }

// WriteHeader begins the answer.
func (w *response) WriteHeader(status int) {
	if w.begun {
		return
	}
	w.begun = true
	headers := make(map[string]any)
	for name, value := range w.header {
		headers[name] = value
	}
	w.exchange.Call("begin", status, headers)
}

// errGone is the error of a write after the client has gone.
var errGone = errors.New("the client is gone")

// Write sends a part of the answer at once.
func (w *response) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	bytes := js.Global().Get("Uint8Array").New(len(b))
	js.CopyBytesToJS(bytes, b)
	if !w.exchange.Call("send", bytes).Bool() {
		return 0, errGone
	}
	return len(b), nil
}
