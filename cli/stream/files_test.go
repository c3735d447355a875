package stream

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/engine/filesys"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestMapInput checks that a mapper reads its lines of the file of splits, and that it refuses an
// input whose name is that of another attempt of its job.
func TestMapInput(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "_attempt-data_first2-0123456789.plan")
	splits := filepath.Join(dir, "splits")
	must.OK(t, os.Mkdir(dir, 0o777))
	must.OK(t, os.WriteFile(splits, []byte("a\nbc\nd\n"), 0o666))
	t.Setenv("treereduce_splits", splits)
	for plan, want := range map[string]string{filepath.Base(dir): "bc\n", "_attempt-data_first2-987654321a.plan": ""} {
		t.Setenv("mapreduce_map_input_file", "har://viewfs-treereduce/splits.har/"+step.SplitsName(plan, 2, 5))
		in, err := mapInput(strings.NewReader("x"), &filesys.Place{FS: store.Local{}}, new(step.Options))
		if want == "" {
			if err == nil || !strings.Contains(err.Error(), "expected FROM-TO-"+filepath.Base(dir)) {
				t.Errorf("%s: error %v", plan, err)
			}
			continue
		}
		must.OK(t, err)
		if got, err := io.ReadAll(in); string(got) != want || err != nil {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
}
