//go:build js

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"syscall/js"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/play/internal/web"
	"github.com/treereduce/treereduce/play/internal/web/remote"
	"github.com/treereduce/treereduce/table"
)

// openTables opens the tables that are beside the site, as the variable siteTables of JavaScript describes them.
func openTables(games game.Kinds) (sources []web.Source, err error) {
	var tables []*remote.Table
	if err := json.Unmarshal([]byte(js.Global().Get("siteTables").String()), &tables); err != nil {
		return nil, err
	}
	for _, t := range tables {
		opened, err := table.OpenFS(t.FS(fetchPart), "", games.Parse)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.Game, err)
		}
		sources = append(sources, web.Source{Table: opened})
	}
	return sources, nil
}

// fetchPart is a remote.Get. JavaScript calls back with the bytes, or with the text of an error.
func fetchPart(name string, from, to, size int64) (part []byte, err error) {
	done := make(chan struct{})
	take := js.FuncOf(func(_ js.Value, args []js.Value) any {
		defer close(done)
		if args[0].Type() == js.TypeString {
			err = errors.New(args[0].String())
			return nil
		}
		part = make([]byte, args[0].Length())
		js.CopyBytesToGo(part, args[0])
		return nil
	})
	defer take.Release()
	js.Global().Call("fetchPart", name, from, to, size, take)
	<-done
	return part, err
}
