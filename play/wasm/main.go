//go:build js

// Play-wasm answers the requests of the pages of play web inside a browser, in the service worker of a
// site that play web --export has written. make builds it as bin/play.wasm.gz.
package main

import (
	"context"
	"errors"
	"log"
	"os"
	"strings"
	"syscall/js"

	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/play/internal/web"
)

// searches is the number of searches at a time: the analysis of a position, and the move of a machine.
const searches = 2

func main() {
	sources, err := openTables(all.Kinds())
	if err != nil {
		log.Fatal(err)
	}
	s, err := web.New(web.Options{Games: all.Kinds(), Sources: sources, Searches: searches, Log: log.New(os.Stderr, "play: ", 0)})
	if err != nil {
		log.Fatal(err)
	}
	js.Global().Call("programReady", js.FuncOf(func(_ js.Value, args []js.Value) any {
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			defer cancel()
			answer(ctx, s, args[0])
		}()
		gone := js.FuncOf(func(js.Value, []js.Value) any { // ends the request, because its client is gone
			cancel()
			return nil
		})
		context.AfterFunc(ctx, gone.Release)
		return gone
	}))
	select {}
}

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
