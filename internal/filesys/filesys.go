// Package filesys finds the file system that a name on a command line means: that of
// this machine, or an HDFS. It is the one room that knows both, and knows nothing of
// what lies in them.
package filesys

import (
	"github.com/treereduce/treereduce/hadoop"
	"github.com/treereduce/treereduce/internal/store"
)

// A Place is a path in a file system.
type Place struct {
	FS   store.FS
	Path string
	// HDFS is FS where that is one; nil on this machine.
	HDFS *hadoop.FS
}

// Open opens the file system of a name: an HDFS, if it begins with hadoop.Scheme, or
// this machine's. Nothing need be there under that path. A name that means neither is
// a *hadoop.NameError.
func Open(name string) (*Place, error) {
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
