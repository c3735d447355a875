// Package filesys finds the file system that a name on a command line means: that of
// this machine, an HDFS, or a further one that the command line speaks, which says so
// itself: not all programs are to have what it takes to speak to Amazon. It knows nothing
// of what lies in them.
package filesys

import (
	"strings"

	"github.com/treereduce/treereduce/hadoop"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// A Place is a path in a file system.
type Place struct {
	FS   store.FS
	Path string
	// HDFS is FS where that is one; nil on this machine.
	HDFS *hadoop.FS
}

// An Opener opens the names of a further file system: those that begin with Scheme.
type Opener struct {
	Scheme string
	Open   func(name string) (fsys store.FS, path string, err error)
}

// Opens reports whether a name is one of its file system.
func (o Opener) Opens(name string) bool { return strings.HasPrefix(name, o.Scheme) }

// Open opens the file system of a name: one of the further ones, an HDFS, if it begins with
// hadoop.Scheme, or this machine's. Nothing need be there under that path. A name that
// means none is a *hadoop.NameError.
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
		return &Place{FS: store.Local{}, Path: name}, nil
	}
	dfs, path, err := hadoop.Dial(name)
	if err != nil {
		return nil, err
	}
	return &Place{FS: dfs, Path: path, HDFS: dfs}, nil
}

// Close ends the connection, if there is one.
func (p *Place) Close() error {
	if p.HDFS == nil {
		return nil
	}
	return p.HDFS.Close()
}
