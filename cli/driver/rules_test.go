package driver

import (
	"os"
	"slices"
	"strings"
	"testing"

	rules "github.com/treereduce/treereduce/game/program"
	"github.com/treereduce/treereduce/internal/engine/runner/streaming"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestShip ships each file of a rules program once, and the command and the files as tasks see them.
func TestShip(t *testing.T) {
	t.Chdir(t.TempDir())
	must.OK(t, os.Mkdir("sub", 0o777))
	for _, name := range []string{"sub/one.sh", "sub/data", "lib.zip"} {
		must.OK(t, os.WriteFile(name, []byte("printf 'treereduce rules 1\\nname one\\nbits 4\\nstart 0\\n\\n'"), 0o666))
	}
	p := must.Get(rules.Open(t.Context(), "X=./lib.zip sh sub/one.sh a", rules.Options{Files: []string{"sub/data"}}))(t)
	defer p.Close()
	r := &streaming.Runner{Files: []string{"lib.zip", "other"}}
	must.OK(t, ship(p, r))
	if got, want := strings.Join(r.Files, " "), "lib.zip other sub/one.sh sub/data"; got != want {
		t.Errorf("files %s, want %s", got, want)
	}
	if want := []string{"treereduce.rules=X=./lib.zip sh ./one.sh a", "treereduce.rules-files=data:lib.zip:one.sh"}; !slices.Equal(r.Define, want) {
		t.Errorf("properties %q, want %q", r.Define, want)
	}
}
