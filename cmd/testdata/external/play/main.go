package main

import (
	"github.com/treereduce/treereduce/cli/play"

	"external/games"
)

func main() { play.Main(games.Kinds()...) }
