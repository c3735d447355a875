package jobdir

// ReadsText reports whether files of text are read.
const ReadsText = false
