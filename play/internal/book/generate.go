//go:build ignore

// The program makes the embedded book by searches, which take 84 minutes on two cores.
package main

import (
	"context"
	"log"
	"os"
	"runtime"

	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/play/internal/book"
	"github.com/treereduce/treereduce/search"
)

func main() {
	g, err := connectn.New(7, 6, 4)
	if err != nil {
		log.Fatal(err)
	}
	s, err := search.New(g, search.Options{Memory: 1 << 30, Threads: runtime.GOMAXPROCS(0)})
	if err != nil {
		log.Fatal(err)
	}
	values, err := book.Search(context.Background(), g, 6, s)
	if err == nil {
		err = os.WriteFile("connectn-7-6-4.book", values, 0o666)
	}
	if err != nil {
		log.Fatal(err)
	}
}
