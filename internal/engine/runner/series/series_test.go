package series

import (
	"strings"
	"testing"
)

// TestResults checks that a line that cannot be read is an error, and not the end of the series.
func TestResults(t *testing.T) {
	const line = "data_first1\t{\"records\":2}\n"
	if got, err := Results([]byte(line + line)); len(got) != 2 || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	for _, text := range []string{"data_first2", "data_first2\t{", strings.Repeat("x", 1<<20)} {
		if got, err := Results([]byte(line + text)); err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%.20q: %v, %v, want an error of line 2", text, got, err)
		}
	}
}
