package program

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// A line is a command of the shell. One of plain words is read; any other counts as it is written.
type line struct {
	files []string // that the command names, except programs of the system
	// identity is the words as they count: without the folders of what exists, and of absolute paths, so that a
	// command is the same on each machine.
	identity string
	there    string // the command where its files are in the working directory
}

var (
	// word matches the first word of a command, and the blanks after it: text and quoted text, of which the shell
	// replaces nothing.
	word = regexp.MustCompile("^((?:[^\\s\"'$`\\\\;&|()<>{}*?\\[\\]~#]|'[^']*'|\"[^\"$`\\\\]*\")+)(?:[ \t]+|$)")
	// windowsWord is word on Windows, where cmd.exe is the shell.
	windowsWord = regexp.MustCompile("^((?:[^\\s\"&|()<>^%]|\"[^\"%]*\")+)(?:[ \t]+|$)")
	// quotes match quoted text.
	quotes = regexp.MustCompile(`'([^']*)'|"([^"]*)"`)
	// plain matches words that need no quotes.
	plain = regexp.MustCompile(`^[\w./:,=@%+-]+$`)
)

const separator = string(os.PathListSeparator)

// lineOf reads a command.
func lineOf(command string) *line {
	words, ok := wordsOf(command, runtime.GOOS == "windows")
	if !ok {
		return &line{identity: strconv.Quote(command), there: command}
	}
	l := new(line)
	var identity, there []string
	for _, text := range words {
		files, counts, moved := named(text)
		if !plain.MatchString(counts) {
			counts = strconv.Quote(counts)
		}
		l.files, identity, there = append(l.files, files...), append(identity, counts), append(there, quoted(moved))
	}
	l.identity, l.there = strings.Join(identity, " "), strings.Join(there, " ")
	return l
}

// wordsOf splits a command into words, without quotes. ok is false if it has more than plain words.
func wordsOf(command string, windows bool) (words []string, ok bool) {
	pattern, unquoted := word, "$1$2"
	if windows {
		pattern = windowsWord
	}
	for rest := strings.TrimLeft(command, " \t"); rest != ""; {
		found := pattern.FindStringSubmatch(rest)
		if found == nil {
			return nil, false
		}
		words, rest = append(words, quotes.ReplaceAllString(found[1], unquoted)), rest[len(found[0]):]
	}
	return words, true
}

// named returns the files that a word names, the word as it counts, and the word where the files are in the working
// directory. The word is a name, or has, perhaps after an =, names in a path list.
func named(text string) (files []string, counts, moved string) {
	before, list, found := strings.Cut(text, "=")
	if before += "="; !found {
		before, list = "", text
	}
	names := strings.Split(list, separator)
	if _, err := os.Stat(text); err == nil {
		before, names = "", []string{text}
	}
	there := slices.Clone(names)
	for i, name := range names {
		info, err := os.Stat(name)
		base, absolute := filepath.Base(name), filepath.IsAbs(name)
		switch {
		case err == nil && info.Mode().IsRegular() && !installed(name):
			files = append(files, filepath.Clean(name))
			there[i] = "./" + base
		case err == nil && !absolute:
			there[i] = base // what counts
		}
		if err == nil || absolute {
			names[i] = base
		}
	}
	return files, before + strings.Join(names, separator), before + strings.Join(there, separator)
}

// installed reports whether a file is a program in PATH, or in a virtual environment of Python.
func installed(name string) bool {
	dir := filepath.Dir(name)
	if base := filepath.Base(dir); base == "bin" || base == "Scripts" {
		if _, err := os.Stat(filepath.Join(filepath.Dir(dir), "pyvenv.cfg")); err == nil {
			return true
		}
	}
	// Hadoop Streaming adds the working directory to PATH.
	return filepath.IsAbs(name) && slices.Contains(filepath.SplitList(os.Getenv("PATH")), dir)
}

// quoted returns a word as it is written in a command. In NAME=VALUE the quotes are within the parts, so that it stays an
// assignment.
func quoted(text string) string {
	parts := strings.SplitN(text, "=", 2)
	for i, part := range parts {
		if part != "" && !plain.MatchString(part) {
			quote := "'"
			if strings.Contains(part, quote) {
				quote = `"`
			}
			parts[i] = quote + part + quote
		}
	}
	return strings.Join(parts, "=")
}
