// Package openapi checks the answers of the interface of package web against its OpenAPI document.
package openapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A Client asks a server through the interface, and checks every answer against the OpenAPI
// document.
type Client struct {
	T       testing.TB
	Handler http.Handler
	doc     map[string]any
}

// New returns a client of a server, which serves its own document.
func New(t testing.TB, handler http.Handler) Client {
	t.Helper()
	c := Client{T: t, Handler: handler}
	r := httptest.NewRecorder()
	c.Handler.ServeHTTP(r, httptest.NewRequest("GET", "http://localhost/api/openapi.json", nil))
	if err := json.Unmarshal(r.Body.Bytes(), &c.doc); err != nil || c.doc["openapi"] != "3.1.0" {
		t.Fatalf("openapi.json: %v", err)
	}
	return c
}

// Get requests a path below /api/ and decodes the answer.
func (c Client) Get(path, query string, answer any) (status int) {
	c.T.Helper()
	r := httptest.NewRequest("GET", "http://localhost", nil)
	r.URL.Path, r.URL.RawQuery = "/api/"+path, query
	r.Header.Set("Accept", "text/html") // as a browser sends
	w := httptest.NewRecorder()
	c.Handler.ServeHTTP(w, r)
	if w.Header().Get("Access-Control-Allow-Origin") != "*" || w.Header().Get("Content-Type") != "application/json" {
		c.T.Errorf("%s?%s: header %v", path, query, w.Header())
	}
	var any any
	if err := json.Unmarshal(w.Body.Bytes(), &any); err != nil {
		c.T.Fatalf("%s?%s: %v: %s", path, query, err, w.Body)
	}
	if problem := c.invalid(c.schema(path, w.Code), any, "answer"); problem != "" {
		c.T.Errorf("%s?%s: status %d: %s: %s", path, query, w.Code, problem, w.Body)
	}
	if answer != nil && w.Code == http.StatusOK {
		if err := json.Unmarshal(w.Body.Bytes(), answer); err != nil {
			c.T.Fatal(err)
		}
	}
	return w.Code
}

// at returns a value in a JSON document; nil if there is none.
func at(v any, keys ...string) any {
	for _, key := range keys {
		m, _ := v.(map[string]any)
		v = m[key]
	}
	return v
}

// resolve follows a $ref.
func (c Client) resolve(v any) any {
	if ref, ok := at(v, "$ref").(string); ok {
		return at(c.doc, strings.Split(ref, "/")[1:]...)
	}
	return v
}

// schema returns the schema of an answer: that of the route with the same number of parts.
func (c Client) schema(path string, status int) any {
	c.T.Helper()
	parts := strings.Split(strings.TrimSuffix("/api/"+path, "/"), "/")
	paths := at(c.doc, "paths").(map[string]any)
	for _, route := range slices.Sorted(maps.Keys(paths)) { // a name sorts before a {parameter}
		methods := paths[route]
		fits := strings.Split(strings.TrimSuffix(route, "/"), "/")
		same := len(fits) == len(parts)
		for i := 0; same && i < len(parts); i++ {
			same = fits[i] == parts[i] || strings.HasPrefix(fits[i], "{") && parts[i] != ""
		}
		if same {
			response := at(methods, "get", "responses", strconv.Itoa(status))
			if response == nil {
				response = at(methods, "get", "responses", "default")
			}
			return at(c.resolve(response), "content", "application/json", "schema")
		}
	}
	return nil
}

// invalid returns why a value does not satisfy a schema; "" if it does. It knows the keywords
// that openapi.json uses.
func (c Client) invalid(schema, v any, name string) string {
	if schema == nil {
		return "openapi.json does not describe this answer"
	}
	if target := c.resolve(schema); at(schema, "$ref") != nil {
		return c.invalid(target, v, name)
	}
	for keyword := range schema.(map[string]any) {
		if !slices.Contains([]string{"type", "enum", "pattern", "minimum", "items", "required", "properties", "additionalProperties", "description"}, keyword) {
			return fmt.Sprintf("%s: the test does not know the keyword %s", name, keyword)
		}
	}
	if problem := invalidAlone(schema, v, name); problem != "" {
		return problem
	}
	if list, ok := v.([]any); ok {
		for i, item := range list {
			if problem := c.invalid(at(schema, "items"), item, fmt.Sprintf("%s[%d]", name, i)); problem != "" {
				return problem
			}
		}
	}
	if object, ok := v.(map[string]any); ok {
		required, _ := at(schema, "required").([]any)
		for _, key := range required {
			if _, ok := object[key.(string)]; !ok {
				return fmt.Sprintf("%s: %v is missing", name, key)
			}
		}
		for key, value := range object {
			property := at(schema, "properties", key)
			if property == nil && at(schema, "additionalProperties") == false {
				return fmt.Sprintf("%s: unexpected field %s", name, key)
			}
			if property == nil {
				continue
			}
			if problem := c.invalid(property, value, name+"."+key); problem != "" {
				return problem
			}
		}
	}
	return ""
}

// invalidAlone is invalid for the type of a value and for a value without parts.
func invalidAlone(schema, v any, name string) string {
	kind := kindOf(v)
	types, ok := at(schema, "type").([]any)
	if !ok {
		types = []any{at(schema, "type")}
	}
	if !slices.Contains(types, any(kind)) && !(kind == "integer" && slices.Contains(types, any("number"))) {
		return fmt.Sprintf("%s: found %v, expected %v", name, v, types)
	}
	if enum, ok := at(schema, "enum").([]any); ok && !slices.Contains(enum, v) {
		return fmt.Sprintf("%s: found %v, expected one of %v", name, v, enum)
	}
	if pattern, ok := at(schema, "pattern").(string); ok {
		if !regexp.MustCompile(pattern).MatchString(v.(string)) {
			return fmt.Sprintf("%s: found %v, expected %s", name, v, pattern)
		}
	}
	if least, ok := at(schema, "minimum").(float64); ok && v.(float64) < least {
		return fmt.Sprintf("%s: found %v, expected at least %v", name, v, least)
	}
	return ""
}

// kindOf returns the name in a schema of the type of a value.
func kindOf(v any) string {
	switch v := v.(type) {
	case bool:
		return "boolean"
	case float64:
		if v == float64(int(v)) {
			return "integer"
		}
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return "null"
}
