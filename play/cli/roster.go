package play

import (
	"bufio"
	"cmp"
	"context"
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
	return parseRoster(f, name)
}

// keepApart makes the sandbox of the programs of a roster hide the directories of others from each, and
// checks that each can run in its own.
func (l *lobby) keepApart(ctx context.Context, file string, roster []entrantSpec) error {
	if l.box == nil || len(roster) == 0 {
		return nil
	}
	beside, err := directory(filepath.Dir(file))
	if err != nil {
		return err
	}
	all := []string{beside}
	for _, s := range roster {
		if err := l.box.Try(ctx, s.dir); ctx.Err() != nil {
			return context.Cause(ctx)
		} else if err != nil {
			return fmt.Errorf("%s: directory %s: %w (programs run as nobody if root starts them: chmod o+rx)", s.name, s.dir, err)
		}
		all = append(all, s.dir)
	}
	l.box.Private = append(l.box.Private, all...) // from now on
	return nil
}

// parseRoster parses a roster: lines of comma-separated values, as spreadsheets write them, with a
// name, a command for the shell and, if it is not to run beside the roster, a directory. Empty
// lines, lines that begin with #, a byte order mark and a first line NAME,COMMAND or
// NAME,COMMAND,DIRECTORY are ignored. Directories must exist. Errors refer to the file as source.
func parseRoster(r io.Reader, source string) (specs []entrantSpec, err error) {
	in := bufio.NewReader(r)
	if mark, _ := in.Peek(len(byteOrderMark)); string(mark) == byteOrderMark {
		in.Discard(len(byteOrderMark))
	}
	lines := csv.NewReader(in)
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
		if header := strings.Join(fields, ","); len(specs) == 0 && (strings.EqualFold(header, "name,command") || strings.EqualFold(header, "name,command,directory")) {
			continue
		}
		if len(fields) < 2 || len(fields) > 3 || fields[1] == "" {
			err = fmt.Errorf("expected NAME,COMMAND or NAME,COMMAND,DIRECTORY, found %q", strings.Join(fields, ","))
		}
		if err = cmp.Or(err, checkName(fields[0])); err == nil && before[fields[0]] > 0 {
			err = fmt.Errorf("name %q: line %d has it, too", fields[0], before[fields[0]])
		}
		dir := filepath.Dir(source)
		if len(fields) == 3 && filepath.IsAbs(fields[2]) {
			dir = fields[2]
		} else if len(fields) == 3 {
			dir = filepath.Join(dir, fields[2])
		}
		if err == nil {
			dir, err = directory(dir)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", source, line, err)
		}
		before[fields[0]] = line
		specs = append(specs, entrantSpec{name: fields[0], text: "program:" + fields[1], kind: "program", rest: fields[1], dir: dir})
	}
}

// byteOrderMark begins the files of some editors and spreadsheets.
const byteOrderMark = "\ufeff"

// directory returns the absolute path of a directory, without symbolic links.
func directory(name string) (string, error) {
	path, err := filepath.Abs(name)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return "", fmt.Errorf("directory %s: %w", name, err)
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return "", fmt.Errorf("%s is not a directory", name)
	}
	return path, nil
}
