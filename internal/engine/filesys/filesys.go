// Package filesys opens the file system that a name on a command line refers to: that of this
// machine, an HDFS, or another one that the program registers as an Opener. This keeps the
// Amazon client out of programs that do not need it. The package knows nothing of the content
// of files.
package filesys

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/treereduce/treereduce/hadoop"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// A Place is a path in a file system. Its elements are separated by slashes, on Windows too.
type Place struct {
	FS   store.FS
	Path string
	// HDFS is the same as FS if that is an HDFS; otherwise nil.
	HDFS *hadoop.FS
}

// An Opener opens another file system, for names that begin with Scheme.
type Opener struct {
	Scheme string
	Open   func(name string) (fsys store.FS, path string, err error)
}

// Opens reports whether a name belongs to its file system.
func (o Opener) Opens(name string) bool { return strings.HasPrefix(name, o.Scheme) }

// Open opens the file system that a name refers to: that of an Opener; an HDFS, if the name
// begins with hadoop.Scheme; or this machine's. The path need not exist. A name that refers to
// none is a *hadoop.NameError.
func Open(name string, further ...Opener) (*Place, error) {
	for _, o := range further {
		if o.Opens(name) {
			fsys, path, err := o.Open(name)
			if err != nil {
				return nil, err
			}
			return &Place{FS: fsys, Path: path}, nil
		}
	}
	there, err := hadoop.InHDFS(name)
	if err != nil {
		return nil, err
	}
	if !there {
		return &Place{FS: store.Local{}, Path: filepath.ToSlash(name)}, nil
	}
	dfs, path, err := hadoop.Dial(name)
	if err != nil {
		return nil, err
	}
	return &Place{FS: dfs, Path: path, HDFS: dfs}, nil
}

// EndWith makes the calls of an HDFS end soon after ctx (see hadoop.FS.EndWith).
func (p *Place) EndWith(ctx context.Context) {
	if p.HDFS != nil {
		p.HDFS.EndWith(ctx)
	}
}

// Close closes the connection to an HDFS, if there is one.
func (p *Place) Close() error {
	if p.HDFS == nil {
		return nil
	}
	return p.HDFS.Close()
}
