package search_test

import (
	"context"
	"fmt"
	"log"

	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/search"
)

// The exact value of a position, without a table.
func ExampleSearcher_Search() {
	g, err := connectn.New(5, 4, 4)
	if err != nil {
		log.Fatal(err)
	}
	s, err := search.New(g, search.Options{Memory: 1 << 20})
	if err != nil {
		log.Fatal(err)
	}
	r, err := s.Search(context.Background(), g.Start(), search.Limit{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(g.Values().Text(r.Value), r.Exact)
	// Output: tie in 20 true
}
