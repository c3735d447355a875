package hadoop

import (
	"context"
	"net"
)

// NoteNodes makes new connections of f to data nodes call note with the address first.
func (f *FS) NoteNodes(note func(address string)) {
	f.Close() // the idle clients
	dial := f.options.DatanodeDialFunc
	f.options.DatanodeDialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		note(address)
		return dial(ctx, network, address)
	}
}

// Recover recovers a file as Close does if the name node does not learn of the last block.
func (f *FS) Recover(name string, size int64) error { return f.recoverFile(name, size) }
