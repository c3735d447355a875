//go:build linux && !race

package amazon_test

import (
	"testing"

	"github.com/treereduce/treereduce/cli/driver"
	"github.com/treereduce/treereduce/cloud/amazon"
	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/internal/testing/programs"
)

func TestMain(m *testing.M) {
	programs.Main(m, map[string]func(){
		"driver":     func() { driver.Main(all.Kinds()...) },
		"driver-aws": func() { amazon.Extension().Main(all.Kinds()...) },
	})
}

func TestScripts(t *testing.T) { programs.Scripts(t) }
