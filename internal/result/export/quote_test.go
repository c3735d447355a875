package export

import (
	"encoding/json"
	"testing"
)

// TestQuoteJSON checks that any text that gametest.Contract accepts is a JSON string.
func TestQuoteJSON(t *testing.T) {
	for _, text := range []string{`X O`, `a"b`, `\"`, `"`, `\`, `ü"\u0041`} {
		quoted := quoteJSON([]byte("before"+text), len("before"))
		var got string
		if err := json.Unmarshal(quoted[len("before"):], &got); err != nil || got != text {
			t.Errorf("%q: %s: %q, %v", text, quoted, got, err)
		}
	}
}
