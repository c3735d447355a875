package table_test

import (
	"fmt"
	"log"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/table"
)

// The data directory was made by: driver solve mnk --data testdata/tictactoe.
func ExampleOpen() {
	t, err := table.Open("testdata/tictactoe", all.Kinds()) // or hdfs://host:port/path
	if err != nil {
		log.Fatal(err)
	}
	defer t.Close()
	g := t.Game()
	p, err := g.Parse("X../.O./...")
	if err != nil {
		log.Fatal(err)
	}
	value, reachable, err := t.Lookup(p)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(g.Values().Text(value), reachable)

	counts := make(map[game.Outcome]int)
	for batch, err := range t.All() {
		if err != nil {
			log.Fatal(err)
		}
		for _, value := range batch.Values {
			counts[value.Outcome()]++
		}
	}
	fmt.Println(counts[game.FirstWins], counts[game.SecondWins], counts[game.Tie])
	// Output:
	// tie in 7 true
	// 412 202 151
}

// The best moves of a position come first.
func ExampleTable_Choices() {
	t, err := table.Open("testdata/tictactoe", all.Kinds())
	if err != nil {
		log.Fatal(err)
	}
	defer t.Close()
	g := t.Game()
	p, err := g.Parse("XX./OO./...")
	if err != nil {
		log.Fatal(err)
	}
	choices, err := t.Choices(p)
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range choices[:2] {
		fmt.Println(c.Name, g.Values().Text(c.Value))
	}
	// Output:
	// c1 X wins in 0
	// c2 tie in 4
}

// Of a position and its images, the table has one.
func ExampleTable_Positions() {
	t, err := table.Open("testdata/tictactoe", all.Kinds())
	if err != nil {
		log.Fatal(err)
	}
	defer t.Close()
	positions, err := t.Positions()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(positions)
	// Output: 765
}
