package main

import (
	"github.com/treereduce/treereduce/play/cli"

	"external/games"
)

func main() { play.Main(games.Kinds()...) }
