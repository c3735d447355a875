package openapi

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/play/internal/web"
)

// TestInvalid checks that the test's validator finds errors.
func TestInvalid(t *testing.T) {
	c := New(t, must.Get(web.New(web.Options{Games: all.Kinds(), Searches: 1}))(t).Handler())
	for text, want := range map[string]string{
		`{"error":"x"}`: "", `{"error":"x","reason":"y"}`: "", `{"reason":"y"}`: "error is missing", `{"error":1}`: "expected [string]",
		`{"error":"x","z":1}`: "unexpected field z", `[]`: "expected [object]",
	} {
		var v any
		must.OK(t, json.Unmarshal([]byte(text), &v))
		if got := c.invalid(c.schema("chess/", 404), v, "answer"); !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	for _, test := range []struct {
		schema string
		v      any
	}{{"PositionString", "1_X O"}, {"PositionString", "1_X+O"}, {"AutoGUIPosition", "3_xo"}, {"AutoGUIMove", "M_1"}, {"Value", "loss"}, {"Remoteness", -300.0}, {"Remoteness", 1.5}} {
		if c.invalid(at(c.doc, "components", "schemas", test.schema), test.v, "answer") == "" {
			t.Errorf("%v is accepted as %s", test.v, test.schema)
		}
	}
}
