package table

import (
	"testing"

	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/storetest"
)

// memory is a file system in memory, for tests that write many small tables. The data
// directory is ".".
type memory struct{ *storetest.Memory }

func newMemory() memory { return memory{&storetest.Memory{HDFS: true}} } // which makes directories

// write creates a file.
func (m memory) write(t *testing.T, name string, content []byte) {
	t.Helper()
	must.OK(t, store.WriteFile(m, name, content))
}

// read returns the content of a file.
func (m memory) read(t *testing.T, name string) []byte {
	t.Helper()
	return must.Get(store.ReadFile(m, name))(t)
}

// seal seals the table.
func (m memory) seal(t *testing.T, game string) {
	t.Helper()
	must.OK(t, Seal(m, ".", game))
}
