//go:build js

package main

import (
	"context"
	"errors"
	"strings"
	"syscall/js"

	"github.com/treereduce/treereduce/play/internal/web"
)

// answer answers a request. exchange has its address (path, from the root of the site) and its header Accept (accept), and
// the functions that take the answer: begin(status, headers), send(bytes), which returns false if the
// client is gone, and end().
func answer(ctx context.Context, s *web.Server, exchange js.Value) {
	defer exchange.Call("end")
	path, query, _ := strings.Cut(exchange.Get("path").String(), "?")
	a := s.Answer(ctx, web.Request{Path: path, Query: query, Accept: exchange.Get("accept").String()})
	headers := make(map[string]any)
	for name, value := range a.Header {
		headers[name] = value
	}
	exchange.Call("begin", a.Status, headers)
	send := func(text string) error {
		bytes := js.Global().Get("Uint8Array").New(len(text))
		js.CopyBytesToJS(bytes, []byte(text))
		if !exchange.Call("send", bytes).Bool() {
			return errors.New("the client is gone")
		}
		return nil
	}
	if a.Stream == nil {
		send(string(a.Body))
		return
	}
	a.Stream(ctx, send)
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
