package streaming

import (
	"bytes"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strconv"

	"github.com/treereduce/treereduce/internal/engine/step"
)

// splitPlace matches how a mapper names a line of its input, "FILE from byte START:LINE:":
// the file, the byte at which the mapper's split of it begins, and the number of the line,
// counted from there.
var splitPlace = regexp.MustCompile(`(\S+)` + step.SplitMark + `(\d+):(\d+):`)

// place replaces the first such name in a text by FILE:LINE, with the number of the line
// in the whole file. It returns a text without one, or whose file cannot be read, as it
// is.
func (r *Runner) place(text string) string {
	m := splitPlace.FindStringSubmatchIndex(text)
	if m == nil {
		return text
	}
	file := text[m[2]:m[3]]
	line, err := r.line(file, text[m[4]:m[5]], text[m[6]:m[7]])
	if err != nil {
		return text
	}
	return fmt.Sprintf("%s%s:%d:%s", text[:m[2]], file, line, text[m[7]+1:])
}

// line returns the number of a line within its file. The line is given by its number
// within the split that begins at byte start. A split has the lines that begin after its
// first byte: the one in the middle of which it begins, or at the beginning of which,
// Hadoop gives to the split before it.
func (r *Runner) line(file, start, line string) (int64, error) {
	u, err := url.Parse(file)
	if err != nil {
		return 0, err
	}
	at, err := strconv.ParseInt(start, 10, 64)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(line, 10, 64)
	if err != nil {
		return 0, err
	}
	f, err := r.FS.Open(u.Path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	before, err := countLines(io.LimitReader(f, at))
	return before + 1 + n, err
}

// countLines counts the ends of lines.
func countLines(r io.Reader) (n int64, err error) {
	buf := make([]byte, 256<<10)
	for {
		k, err := r.Read(buf)
		n += int64(bytes.Count(buf[:k], []byte{'\n'}))
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}
