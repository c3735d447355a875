package hadoop

// Recover is what Close does where the name node never hears of the last block.
func (f *FS) Recover(name string, size int64) error { return f.recoverFile(name, size) }
