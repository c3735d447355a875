package game_test

import (
	"fmt"
	"log"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/game/mnk"
)

func ExampleKinds_Parse() {
	g, err := game.Kinds{connectn.Kind, mnk.Kind}.Parse("mnk width=3 height=3 connect=3")
	if err != nil {
		log.Fatal(err)
	}
	p, err := g.Parse("XO./.../...")
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range g.Moves(nil, p) {
		fmt.Printf("%s ", m.Name)
	}
	fmt.Println(game.TierOf(g, p))
	// Output: a2 a3 b2 b3 c1 c2 c3 2
}

func ExampleNewValue() {
	v := game.NewValue(game.FirstWins, 16)
	values := game.Values{Players: [2]string{"X", "O"}}
	fmt.Println(uint16(v), uint8(v.Outcome()), v.Remoteness(), values.Text(v))
	// Output: 66 2 16 X wins in 16
}
