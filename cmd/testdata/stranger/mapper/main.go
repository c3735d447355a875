package main

import (
	"github.com/treereduce/treereduce/cli/stream"

	"stranger/games"
)

func main() { stream.Mapper(games.Kinds()...) }
