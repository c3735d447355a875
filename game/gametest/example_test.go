package gametest_test

import (
	"fmt"
	"log"

	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/game/mnk"
)

// Every value of a small game, by brute force.
func ExampleSearch() {
	g, err := mnk.New(3, 3, 3)
	if err != nil {
		log.Fatal(err)
	}
	values := gametest.Search(g)
	fmt.Println(len(values), g.Values().Text(values[g.Start()]))
	// Output: 5478 tie in 9
}
