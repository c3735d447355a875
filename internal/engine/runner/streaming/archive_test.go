package streaming

import (
	"maps"
	"testing"

	"github.com/treereduce/treereduce/internal/engine/step"
)

func TestArchive(t *testing.T) {
	a := &archive{
		root: "hdfs://host:9000", dir: "/a b",
		names: []string{"0-9", "9-20"},
		bytes: []step.Place{{File: "/a b/data_first2/part-00000.pack", At: 17}, {File: "/a b/data_first2/part-00001.pack"}},
	}
	files := make(map[string]string)
	for name, text := range a.files() {
		files[name] = string(text)
	}
	if want := map[string]string{
		"_index": "/ dir none 0 0 0-9 9-20\n" +
			"/0-9 file data_first2/part-00000.pack 17 1\n" +
			"/9-20 file data_first2/part-00001.pack 0 1\n",
		"_masterindex": "1\n0 2147483647 0 110\n",
	}; !maps.Equal(files, want) {
		t.Errorf("got %q, want %q", files, want)
	}
	if got, want := a.property(), "fs.viewfs.mounttable.treereduce.link./splits.har=hdfs://host:9000/a%20b"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
