package streaming

import (
	"bytes"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strconv"

	"github.com/treereduce/treereduce/internal/step"
)

// splitPlace is a line of a split in the words of a mapper: the file, where the
// split begins, and the line counted from there.
var splitPlace = regexp.MustCompile(`(\S+)` + step.SplitMark + `(\d+):(\d+):`)

// place finds out which line of its file a mapper means that names one of its
// split; text without such words is as it was.
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

// line is the number, in its file, of a line of the split that begins at a byte.
// Hadoop leaves the line in which, or with which, a split begins to the split
// before.
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
