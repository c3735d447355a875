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

// fetchPart is a remote.Get.
func fetchPart(name string, from, to, size int64) ([]byte, error) {
	answer, failed := make(chan []byte, 1), make(chan error, 1)
	take := js.FuncOf(func(_ js.Value, args []js.Value) any {
		part := make([]byte, args[0].Length())
		js.CopyBytesToGo(part, args[0])
		answer <- part
		return nil
	})
	defer take.Release()
	fail := js.FuncOf(func(_ js.Value, args []js.Value) any {
		failed <- errors.New(args[0].Get("message").String())
		return nil
	})
	defer fail.Release()
	js.Global().Call("fetchPart", name, from, to, size).Call("then", take, fail)
	select {
	case part := <-answer:
		return part, nil
	case err := <-failed:
		return nil, err
	}
}
