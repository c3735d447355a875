package main

import (
	"github.com/treereduce/treereduce/cli/driver"

	"external/games"
)

func main() { driver.Main(games.Kinds()...) }
