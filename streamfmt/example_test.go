package streamfmt_test

import (
	"errors"
	"fmt"
	"io"
	"log"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/streamfmt"
)

// A mapper of one's own: it reads positions, and emits the successors.
func ExampleReader() {
	g, err := connectn.New(2, 2, 2)
	if err != nil {
		log.Fatal(err)
	}
	width := streamfmt.KeyWidth(g.KeyBits())
	var moves []game.Move
	in := streamfmt.NewReader(strings.NewReader("00\n"), "stdin", width)
	for {
		r, err := in.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			log.Fatal(err)
		}
		moves = g.Moves(moves[:0], r.Key)
		for _, m := range moves {
			fmt.Printf("%s", streamfmt.AppendRecord(nil, streamfmt.Record{Key: m.To}, width))
		}
	}
	// Output:
	// 10
	// 02
}

func ExampleAppendRecord() {
	solved := streamfmt.Record{Key: 0x2a, Kind: streamfmt.Done, Value: 66}
	fmt.Printf("%q\n", streamfmt.AppendRecord(nil, solved, 4))
	// Output: "002a\t66\n"
}
