package streaming

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/treereduce/treereduce/internal/engine/step"
)

// An archive is the input of a job whose maps run where their data is. It is a Hadoop archive
// (HAR): an index of files each of which is a part of another file. Here each is one byte, so
// TextInputFormat gives it to a map of its own, which runs on a node that has this byte. That
// is the only use of the byte; the name of the file tells the map what its input is. So a job
// can choose the hosts of its maps without an input format of ours.
//
// Hadoop requires that an archive contains its files. A mount point (viewfs) in the configuration
// of the job makes the directory above them look like one; its name must end with .har. Each job replaces the index files of the job before it. So that a mapper can
// recognise the archive of another job, the names in an archive must differ from those of all others.
//
//	har://viewfs-treereduce/splits.har          the archive
//	viewfs://treereduce/splits.har              dir
//	viewfs://treereduce/splits.har/_index
//	viewfs://treereduce/splits.har/_masterindex
type archive struct {
	root  string // hdfs://host:port
	dir   string // a directory above all files
	names []string
	bytes []step.Place // of the files with these names
}

const (
	archiveMount = "treereduce"
	archivePath  = "/splits.har"
)

// name returns the name of the archive, for -input.
func (a *archive) name() string { return "har://viewfs-" + archiveMount + archivePath }

// property returns the property of a job that reads the archive, as name=value.
func (a *archive) property() string {
	return fmt.Sprintf("fs.viewfs.mounttable.%s.link.%s=%s%s", archiveMount, archivePath, a.root, (&url.URL{Path: a.dir}).EscapedPath())
}

// files returns the contents of the index files in dir, by name. A line of the index has the path of
// a directory or a file; for a directory the names in it, for a file the part, the offset and
// the length. A line of the master index has an interval of hashes, and where the lines of
// paths with such hashes are in the index; here, one line has all.
func (a *archive) files() map[string][]byte {
	var index strings.Builder
	fmt.Fprintf(&index, "/ dir none 0 0 %s", strings.Join(a.names, " "))
	for i, b := range a.bytes {
		fmt.Fprintf(&index, "\n/%s file %s %d 1", a.names[i], strings.TrimPrefix(b.File, a.dir+"/"), b.At)
	}
	index.WriteByte('\n')
	return map[string][]byte{
		"_index":       []byte(index.String()),
		"_masterindex": fmt.Appendf(nil, "1\n0 %d 0 %d\n", 1<<31-1, index.Len()),
	}
}
