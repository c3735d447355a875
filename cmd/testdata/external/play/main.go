package main

import (
	play "github.com/treereduce/treereduce/play/cli"

	"external/games"
)

func main() { play.Main(games.Kinds()...) }
