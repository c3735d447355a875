package play

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode"
)

// readRoster reads the programs of a roster file. Their directories are relative to that of the
// file, where they run by default.
func readRoster(name string) ([]entrantSpec, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	specs, err := parseRoster(f, name)
	for i, s := range specs {
		if !filepath.IsAbs(s.dir) {
			specs[i].dir = filepath.Join(filepath.Dir(name), s.dir)
		}
	}
	return specs, err
}

// parseRoster parses a roster: lines of comma-separated values, as spreadsheets write them, with a
// name, a command for the shell and, if it is not to run beside the roster, a directory. Empty
// lines and lines that begin with # are ignored. Errors refer to the file as source.
func parseRoster(r io.Reader, source string) (specs []entrantSpec, err error) {
	lines := csv.NewReader(r)
	lines.Comment, lines.FieldsPerRecord, lines.TrimLeadingSpace = '#', -1, true
	before := make(map[string]int) // the line of each name
	for {
		fields, err := lines.Read()
		if err == io.EOF {
			return specs, nil
		}
		if bad := new(csv.ParseError); errors.As(err, &bad) {
			return nil, fmt.Errorf("%s:%d: %w", source, bad.Line, bad.Err)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", source, err)
		}
		line, _ := lines.FieldPos(0)
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
			if strings.ContainsFunc(fields[i], unicode.IsControl) {
				err = errors.New("expected no control characters")
			}
		}
		if len(fields) < 2 || len(fields) > 3 || fields[1] == "" {
			err = fmt.Errorf("expected NAME,COMMAND or NAME,COMMAND,DIRECTORY, found %q", strings.Join(fields, ","))
		}
		if err = cmp.Or(err, checkName(fields[0])); err == nil && before[fields[0]] > 0 {
			err = fmt.Errorf("name %q: line %d has it, too", fields[0], before[fields[0]])
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", source, line, err)
		}
		before[fields[0]] = line
		s := entrantSpec{name: fields[0], text: "program:" + fields[1], kind: "program", rest: fields[1]}
		if len(fields) == 3 {
			s.dir = fields[2]
		}
		specs = append(specs, s)
	}
}
