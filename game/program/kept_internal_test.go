package program

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestKept asks for positions with long answers: what is kept of them is bounded.
func TestKept(t *testing.T) {
	const asked = mostKeptBytes/60_000 + 20
	name := filepath.Join(t.TempDir(), "rules.sh")
	must.OK(t, os.WriteFile(name, []byte(`long=$(head -c 60000 /dev/zero | tr '\0' a)
printf 'treereduce rules 1\nname shell\nbits 16\nstart 0\n\n'
while read -r p; do case $p in '') echo ;; *) echo "$long:1" ;; esac; done
`), 0o666))
	p := must.Get(Open(t.Context(), "sh "+name, Options{}))(t)
	defer p.Close()
	g := must.Get(p.newGame([]int{0}))(t).(*rules)
	for i := range asked {
		g.ask(uint64(i))
		if len(g.kept)*60_000 > mostKeptBytes {
			t.Fatalf("%d answers are kept", len(g.kept))
		}
	}
	if _, ok := g.kept[asked-1]; !ok || len(g.kept) > 20+1 {
		t.Errorf("%d answers are kept, the last one %t", len(g.kept), ok)
	}
}
