package main

import (
	"github.com/treereduce/treereduce/cli/driver"

	"stranger/games"
)

func main() { driver.Main(games.Kinds()...) }
