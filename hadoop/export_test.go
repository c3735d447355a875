package hadoop

// Recover recovers a file as Close does if the name node does not learn of the last block.
func (f *FS) Recover(name string, size int64) error { return f.recoverFile(name, size) }
