// Command values prints the value of a solved game, and how many of its positions are ties.
package main

import (
	"fmt"
	"log"
	"os"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/table"

	"external/games"
)

func main() {
	t, err := table.Open(os.Args[1], games.Kinds()) // a path, or hdfs://host:port/path
	if err != nil {
		log.Fatal(err)
	}
	defer t.Close()
	value, _, err := t.Lookup(t.Game().Start())
	if err != nil {
		log.Fatal(err)
	}
	positions, ties := 0, 0
	for batch, err := range t.All() {
		if err != nil {
			log.Fatal(err)
		}
		for i := range batch.Positions {
			positions++
			if batch.Values[i].Outcome() == game.Tie {
				ties++
			}
		}
	}
	fmt.Printf("%s; %d of %d positions are ties\n", t.Game().Values().Text(value), ties, positions)
}
