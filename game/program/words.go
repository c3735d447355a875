package program

import (
	"cmp"
	"fmt"
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
	folder   bool // it is the argument of cd
	output   bool // a redirection writes to it
}

// A line is a command, read as the shell reads it.
type line struct {
	command string
	words   []word
	folders []string // in which it may name files: "" is the working directory, the others are those of cd
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
	l := &line{command: command, words: wordsOf(command, runtime.GOOS == "windows"), folders: []string{""}}
	for i := range l.words {
		w := &l.words[i]
		switch {
		case w.operator || i == 0:
		case l.words[i-1].operator:
			w.output = l.words[i-1].text == ">"
		case l.words[i-1].text == "cd" && (i == 1 || l.words[i-2].operator):
			w.folder = true
			l.folders = append(l.folders, within(l.folders[len(l.folders)-1], w.text))
		}
	}
	return l
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

// replace replaces the names of files in a word: the whole word, or, after an =, the elements of a path list. base
// returns what replaces a name, or "".
func replace(text string, base func(name string, whole bool) string) string {
	if new := base(text, true); new != "" {
		return new
	}
	before, list, found := strings.Cut(text, "=")
	if before += "="; !found {
		before, list = "", text
	}
	names := strings.Split(list, separator)
	for i, name := range names {
		names[i] = cmp.Or(base(name, false), name)
	}
	return before + strings.Join(names, separator)
}

// paths returns where a name is a file or a folder.
func (l *line) paths(name string) (paths []string, infos []os.FileInfo) {
	for _, folder := range l.folders {
		path := within(folder, name)
		if info, err := os.Stat(path); err == nil && name != "" && !slices.Contains(paths, path) {
			paths, infos = append(paths, path), append(infos, info)
		}
	}
	return paths, infos
}

// filesAt returns the files that a name means, except programs of the system.
func (l *line) filesAt(name string) (files []string) {
	// Hadoop Streaming adds the working directory to PATH.
	installed := filepath.IsAbs(name) && slices.Contains(filepath.SplitList(os.Getenv("PATH")), filepath.Dir(name))
	paths, infos := l.paths(name)
	for i, path := range paths {
		if infos[i].Mode().IsRegular() && !installed {
			files = append(files, path)
		}
	}
	return files
}

// files returns the files that the command names.
func (l *line) files() (files []string) {
	for _, w := range l.words {
		if w.operator || w.folder || w.output {
			continue
		}
		replace(w.text, func(name string, _ bool) string {
			found := l.filesAt(name)
			files = append(files, found...)
			return strings.Join(found, "")
		})
	}
	return files
}

// identity returns the words as they count: without the folders of what exists, and of absolute paths, so that a command
// is the same on each machine.
func (l *line) identity() string {
	var words []string
	for _, w := range l.words {
		switch {
		case w.operator:
			w.text = strings.ReplaceAll(w.text, "\n", ";")
		case w.folder:
			w.text = "."
		default:
			w.text = replace(w.text, func(name string, whole bool) string {
				paths, _ := l.paths(name)
				if len(paths) == 0 && (whole || !filepath.IsAbs(name)) {
					return ""
				}
				return filepath.Base(name)
			})
		}
		if !w.operator && !plain.MatchString(w.text) {
			w.text = strconv.Quote(w.text)
		}
		words = append(words, w.text)
	}
	return strings.Join(words, " ")
}

// there returns the command where its files are in the working directory.
func (l *line) there() string {
	var b strings.Builder
	at := 0
	for _, w := range l.words {
		text := w.text
		switch {
		case w.operator:
			continue
		case w.folder:
			text = "."
		default:
			text = replace(text, func(name string, _ bool) string {
				switch paths, _ := l.paths(name); {
				case len(l.filesAt(name)) > 0 && !w.output:
					return "./" + filepath.Base(name)
				case len(paths) > 0 && !filepath.IsAbs(name):
					return filepath.Base(name) // what counts, see identity
				}
				return ""
			})
		}
		if text != w.text {
			fmt.Fprint(&b, l.command[at:w.from], quoted(text))
			at = w.to
		}
	}
	return b.String() + l.command[at:]
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
