package export

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"testing"
)

// TestQuote checks that any text is a JSON string, and a field of CSV.
func TestQuote(t *testing.T) {
	for _, text := range []string{`X O`, `a,b`, `a"b`, `\"`, `"`, `\`, `ü"\u0041`, "a\tb\x1b\x7f\u2028<", "\n"} {
		quoted := quoteJSON([]byte("before"+text), len("before"))
		var got string
		if err := json.Unmarshal(quoted[len("before"):], &got); err != nil || got != text {
			t.Errorf("%q: %s: %q, %v", text, quoted, got, err)
		}
		quoted = quoteCSV([]byte("1,"+text), len("1,"))
		if got, err := csv.NewReader(bytes.NewReader(quoted)).Read(); err != nil || len(got) != 2 || got[1] != text {
			t.Errorf("%q: %s: %q, %v", text, quoted, got, err)
		}
	}
}
