package hadoop

import (
	"maps"
	"strings"
	"testing"
)

func TestArchive(t *testing.T) {
	a := &Archive{
		FS: &FS{name: "hdfs://host:9000"}, Dir: "/a b",
		Names: []string{"0-9", "9-20"},
		Bytes: []Byte{{"/a b/data_first2/part-00000.blocks", 17}, {"/a b/data_first2/part-00001.blocks", 0}},
	}
	files := make(map[string]string)
	for name, text := range a.Files() {
		files[name] = string(text)
	}
	if want := map[string]string{
		"_index": "/ dir none 0 0 0-9 9-20\n" +
			"/0-9 file data_first2/part-00000.blocks 17 1\n" +
			"/9-20 file data_first2/part-00001.blocks 0 1" + strings.Repeat(" ", 4096-114) + "\n",
		"_masterindex": "1\n0 2147483647 0 4096\n",
	}; !maps.Equal(files, want) {
		t.Errorf("got %q, want %q", files, want)
	}
	if got, want := a.Property(), "fs.viewfs.mounttable.treereduce.link./splits.har=hdfs://host:9000/a%20b"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
