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

// splitPlace matches the place of a line in a mapper's messages, "FILE from byte START:LINE:":
// the file, the byte at which the mapper's split begins, and the number of the line, counted
// from there.
var splitPlace = regexp.MustCompile(`(\S+)` + step.SplitMark + `(\d+):(\d+):`)

// place replaces the first such place in a text with FILE:LINE, where LINE is the number in
// the complete file. If there is none, or the file cannot be read, it returns the text
// unchanged.
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

// line returns the number of a line within its file. The line is given by its number within
// the split that begins at byte start. Hadoop's splits contain the lines that begin after
// their first byte; a line that begins exactly at byte start belongs to the previous split.
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

// countLines counts line ends.
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
