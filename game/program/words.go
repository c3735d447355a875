package program

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// A word is a word of a command, or an operator of the shell.
type word struct {
	text     string // without quotes, with the values of variables
	from, to int    // where it is in the command
	operator bool
}

// A line is a command, read as the shell reads it.
type line struct {
	files []string // that the command names, except programs of the system
	// identity is the words as they count: without the folders of what exists, and of absolute paths, so that a
	// command is the same on each machine.
	identity string
	there    string // the command where its files are in the working directory
}

const (
	blanks = " \t\r"
	// operators end words. Of $(…), the words are words of the command.
	operators = ";&|()<>`\n"
	separator = string(os.PathListSeparator)
)

var (
	// variable matches $NAME and ${NAME}; home matches ~, and what may follow it.
	variable = regexp.MustCompile(`^\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})`)
	home     = regexp.MustCompile("^~(?:[/: \t\r\n;&|()<>`]|$)")
	// escapes match a backslash that means the byte after it, within quotes and without any.
	escapes = map[byte]*regexp.Regexp{0: regexp.MustCompile(`(?s)^\\(.)`), '"': regexp.MustCompile("^\\\\([$`\"\\\\\n])")}
	// plain matches words that need no quotes.
	plain = regexp.MustCompile(`^[\w./:,=@%+-]+$`)
)

// lineOf reads a command.
func lineOf(command string) *line {
	l := new(line)
	var identity []string
	var there strings.Builder
	at, words := 0, wordsOf(command, runtime.GOOS == "windows")
	folders := []string{""} // in which it may name files: the working directory, and those of cd
	for i, w := range words {
		var counts string
		moved := w.text
		switch {
		case w.operator:
			counts = strings.ReplaceAll(w.text, "\n", ";")
		case i > 0 && words[i-1].text == "cd" && (i == 1 || words[i-2].operator):
			folders = append(folders, within(folders[len(folders)-1], w.text))
			counts, moved = ".", "."
		default:
			var files []string
			files, counts, moved = named(w.text, folders, i > 0 && words[i-1].operator && words[i-1].text == ">")
			l.files = append(l.files, files...)
		}
		if moved != w.text {
			there.WriteString(command[at:w.from] + quoted(moved))
			at = w.to
		}
		if !w.operator && !plain.MatchString(counts) {
			counts = strconv.Quote(counts)
		}
		identity = append(identity, counts)
	}
	l.identity, l.there = strings.Join(identity, " "), there.String()+command[at:]
	return l
}

// named returns the files that a word names in some folders, the word as it counts, and the word where the files are in
// the working directory. The word is a name, or has, perhaps after an =, names in a path list. The files of an output
// are not those of the command.
func named(text string, folders []string, output bool) (files []string, counts, moved string) {
	before, list, found := strings.Cut(text, "=")
	if before += "="; !found {
		before, list = "", text
	}
	names := strings.Split(list, separator)
	if _, exists := find(text, folders); exists {
		before, names = "", []string{text}
	}
	there := slices.Clone(names)
	for i, name := range names {
		here, exists := find(name, folders)
		if output {
			here = nil
		}
		files = append(files, here...)
		base, absolute := filepath.Base(name), filepath.IsAbs(name)
		switch {
		case len(here) > 0:
			there[i] = "./" + base
		case exists && !absolute:
			there[i] = base // what counts
		}
		if exists || absolute {
			names[i] = base
		}
	}
	return files, before + strings.Join(names, separator), before + strings.Join(there, separator)
}

// find returns the files that a name means in some folders, except programs of the system, and whether it exists.
func find(name string, folders []string) (files []string, exists bool) {
	for _, folder := range folders {
		path := within(folder, name)
		info, err := os.Stat(path)
		if name == "" || err != nil {
			continue
		}
		if exists = true; info.Mode().IsRegular() && !installed(name, path) && !slices.Contains(files, path) {
			files = append(files, path)
		}
	}
	return files, exists
}

// wordsOf splits a command into words. Quotes are removed, and ~, $NAME and ${NAME} are replaced by their values, as the
// shell does; other expansions stay as they are. On Windows, where cmd.exe is the shell, a backslash is a part of a path.
func wordsOf(command string, windows bool) (words []word) {
	var text strings.Builder
	from, quote := -1, byte(0) // from: where the word begins; -1: there is none
	end := func(to int) {
		if from >= 0 {
			words = append(words, word{text: text.String(), from: from, to: to})
		}
		text.Reset()
		from = -1
	}
	separators := operators
	if windows {
		separators = strings.ReplaceAll(operators, ";", "")
	}
	for i := 0; i < len(command); i++ {
		c := command[i]
		switch {
		case quote == 0 && strings.IndexByte(blanks, c) >= 0:
			end(i)
			continue
		case quote == 0 && strings.IndexByte(separators, c) >= 0:
			end(i)
			words = append(words, word{text: string(c), from: i, to: i + 1, operator: true})
			continue
		case from < 0:
			from = i
		}
		value, n := "", 0
		if !windows && quote != '\'' {
			value, n = expand(command[i:], quote, i == from || strings.IndexByte("=:", command[i-1]) >= 0)
		}
		switch {
		case n > 0:
			text.WriteString(value)
			i += n - 1
		case c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\'' && !windows):
			quote = c
		default:
			text.WriteByte(c)
		}
	}
	end(len(command))
	return words
}

// expand returns the value of the variable, the ~ or the escaped byte with which text begins, and its length in the
// text; 0 if it begins with none. path is whether a path can begin here.
func expand(text string, quote byte, path bool) (value string, n int) {
	if found := variable.FindStringSubmatch(text); found != nil {
		return os.Getenv(cmp.Or(found[1], found[2])), len(found[0])
	}
	if found := escapes[quote].FindStringSubmatch(text); found != nil {
		return strings.TrimPrefix(found[1], "\n"), len(found[0])
	}
	if quote == 0 && path && home.MatchString(text) {
		return os.Getenv("HOME"), 1
	}
	return "", 0
}

// within returns the path of a name in a folder.
func within(folder, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(folder, name)
}

// installed reports whether a name with a path is that of a program in PATH, or in a virtual environment of Python.
func installed(name, path string) bool {
	dir := filepath.Dir(path)
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
			parts[i] = "'" + strings.ReplaceAll(part, "'", `'\''`) + "'"
		}
	}
	return strings.Join(parts, "=")
}
