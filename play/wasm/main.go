//go:build js

// Play-wasm answers the requests of the pages of play web inside a browser, in the service worker of a
// site that play web --export has written. make builds it as bin/play.wasm.gz.
package main

import (
	"context"
	"log"
	"os"
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
		return canceller(ctx, cancel)
	}))
	select {}
}
