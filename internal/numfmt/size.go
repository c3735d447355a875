package numfmt

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseSize parses a number of bytes: "1000", "256M", "4G", "2T".
func ParseSize(text string) (int64, error) {
	digits := strings.TrimRight(text, "KMGTkmgt")
	shift := map[string]uint{"": 0, "K": 10, "M": 20, "G": 30, "T": 40}
	s, ok := shift[strings.ToUpper(text[len(digits):])]
	n, err := strconv.ParseInt(digits, 10, 64)
	if !ok || err != nil || n < 0 || n > (1<<62)>>s {
		return 0, fmt.Errorf("size %q: expected a number of bytes, optionally with suffix K, M, G or T", text)
	}
	return n << s, nil
}
