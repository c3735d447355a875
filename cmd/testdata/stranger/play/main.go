package main

import (
	"github.com/treereduce/treereduce/cli/play"

	"stranger/games"
)

func main() { play.Main(games.Kinds()...) }
