package hadoop

import (
	"maps"
	"testing"
)

func TestArchive(t *testing.T) {
	a := &Archive{
		FS: &FS{name: "hdfs://host:9000"}, Dir: "/a b/_attempt-x.plan", Data: "/a b",
		Names: []string{"0-9", "9-20"},
		Bytes: []Byte{{"/a b/data_first2/part-00000.blocks", 17}, {"/a b/data_first2/part-00001.blocks", 0}},
	}
	files := make(map[string]string)
	for name, text := range a.Files() {
		files[name] = string(text)
	}
	if want := map[string]string{
		"/a b/_attempt-x.plan/_index": "/ dir none 0 0 0-9 9-20\n" +
			"/0-9 file data/data_first2/part-00000.blocks 17 1\n" +
			"/9-20 file data/data_first2/part-00001.blocks 0 1\n",
		"/a b/_attempt-x.plan/_masterindex": "1\n0 2147483647 0 124\n",
	}; !maps.Equal(files, want) {
		t.Errorf("got %q, want %q", files, want)
	}
	const link = "fs.viewfs.mounttable.treereduce.link./splits.har/"
	want := []string{
		link + "_index=hdfs://host:9000/a%20b/_attempt-x.plan/_index",
		link + "_masterindex=hdfs://host:9000/a%20b/_attempt-x.plan/_masterindex",
		link + "data=hdfs://host:9000/a%20b",
	}
	for i, got := range a.Properties() {
		if got != want[i] {
			t.Errorf("got %s, want %s", got, want[i])
		}
	}
}
