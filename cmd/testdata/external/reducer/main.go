package main

import (
	"github.com/treereduce/treereduce/cli/stream"

	"external/games"
)

func main() { stream.Reducer(games.Kinds()...) }
