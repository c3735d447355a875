package faults_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/faults"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestFaults checks that requests fail as requested, and only then, and that a request whose
// answer is lost is performed.
func TestFaults(t *testing.T) {
	var performed atomic.Int32
	h := &faults.Handler{Next: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		performed.Add(1)
		fmt.Fprint(w, "the answer"+r.Header.Get("If-Match"))
	})}
	server := httptest.NewServer(h)
	defer server.Close()
	ask := func(operation string) string {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/bucket/key", strings.NewReader("{}"))
		must.OK(t, err)
		r.Header.Set("If-Match", ".")
		if operation != "" {
			r.Header.Set("X-Amz-Target", "ElasticMapReduce."+operation)
		}
		answer, err := http.DefaultClient.Do(r)
		if errors.Is(err, io.EOF) {
			return "lost"
		}
		must.OK(t, err)
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			return fmt.Sprintf("%s and %v", text, err)
		}
		return fmt.Sprintf("%d %s%s", answer.StatusCode, answer.Header.Get("X-Own"), text)
	}
	of := func(f faults.Fault) func(*http.Request) *faults.Fault {
		return func(r *http.Request) *faults.Fault { r.Header.Del("If-Match"); return &f }
	}
	inTurn := faults.InTurn("RunJobFlow", faults.Throttled, faults.Lost)
	const throttled = `400 {"Message":"ThrottlingException","__type":"ThrottlingException","message":"ThrottlingException"}` + "\n"
	for i, test := range []struct {
		set       func(*http.Request) *faults.Fault
		operation string
		want      string
		performed int32
	}{
		{nil, "", "200 the answer.", 1},
		{of(faults.Fault{Status: 403, Code: "AccessDenied"}), "", "403 <Error><Code>AccessDenied</Code><Message>AccessDenied</Message></Error>", 0},
		{of(faults.Fault{Header: map[string]string{"X-Own": "own-"}}), "", "200 own-the answer", 1},
		{of(faults.Fault{Cut: 3}), "", "the and unexpected EOF", 1},
		{of(faults.Fault{Status: 502, Text: "<html>"}), "RunJobFlow", "502 <html>", 0},
		{of(faults.Fault{Lost: true, Text: "<html>"}), "RunJobFlow", "200 <html>", 1},
		{inTurn, "ListClusters", "200 the answer.", 1},
		{inTurn, "RunJobFlow", throttled, 0},
		{inTurn, "RunJobFlow", "lost", 1},
		{inTurn, "RunJobFlow", "200 the answer.", 1},
		{nil, "RunJobFlow", "200 the answer.", 1},
	} {
		h.Set(test.set)
		before := performed.Load()
		if got := ask(test.operation); got != test.want || performed.Load()-before != test.performed {
			t.Errorf("request %d: %q, performed %d times, want %q, %d", i, got, performed.Load()-before, test.want, test.performed)
		}
	}
	if asked := h.Asked(); len(asked) != 11 || slices.Index(asked, "POST bucket/key") != 0 {
		t.Error(asked)
	}
}
