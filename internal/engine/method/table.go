//go:build !js

package method

import (
	"github.com/treereduce/treereduce/internal/engine/method/blocks"
	"github.com/treereduce/treereduce/internal/engine/method/layers"
	"github.com/treereduce/treereduce/internal/engine/stored"
)

// A Table is the table of a game.
type Table = stored.Table

func ofBlocks(t *blocks.Table) Table { return t }
func ofLayers(t *layers.Table) Table { return t }
