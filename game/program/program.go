// Package program contains games whose rules are another program, which answers questions on stdin and stdout:
// docs/rules.md specifies the protocol. The package knows nothing of jobs, tables or players; the engine does
// not know that such a game is a program.
package program

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/child"
	"github.com/treereduce/treereduce/internal/sandbox"
)

// Limit is the default time that a program may take for an answer, HeaderLimit that for its header: it may build its
// boards first.
const (
	Limit       = time.Minute
	HeaderLimit = 10 * time.Minute
)

// Code is the name of the parameter with the hash of the program.
const Code = "code"

const (
	// mostKept is the number of answers to single questions that a game keeps, and mostKeptBytes that of their bytes.
	mostKept, mostKeptBytes = 1 << 16, 16 << 20
	// bytesOfMove is the memory of a move beside its text.
	bytesOfMove = 48
)

// Owns reports whether a spec is that of the game of a rules program.
func Owns(spec string) bool { return strings.Contains(spec, " "+Code+"=") }

// Changed reports whether two different specs are those of one game of a rules program, of which the hash has changed.
func Changed(before, now string) bool {
	game, _, owned := strings.Cut(before, " "+Code+"=")
	return before != now && owned && strings.HasPrefix(now, game+" "+Code+"=")
}

// Options are the options of a program. The zero value has the defaults.
type Options struct {
	Limit       time.Duration    // for an answer; 0: Limit
	HeaderLimit time.Duration    // 0: HeaderLimit
	Files       []string         // files that are a part of the rules, beside those that the command names
	Sandbox     *sandbox.Sandbox // nil: the program has all rights of the user, and no limits
	Hidden      []string         // names of environment variables that the program does not inherit
	Notice      func(string)     // is called with a line for people when a header is late; may be nil
	// Fail is called with the error of a question that a method of a Game asks, and must not return: those methods
	// return no errors. nil: the method panics.
	Fail func(error)
}

// within is an environment variable of a rules program: the commands of the programs that have started it, and its own, a
// line each.
const within = "TREEREDUCE_WITHIN"

// errClosed is the error of a question after Close.
var errClosed = errors.New("the rules program is closed")

// A Program is a rules program. It is safe for concurrent use.
type Program struct {
	command string
	o       Options
	ctx     context.Context // of its processes
	end     context.CancelCauseFunc
	kind    game.Kind
	lines   [][]byte // the header for the default parameters
	line    *line
	files   []file
	code    string

	mu      sync.Mutex
	running map[*process]bool
	games   map[string]game.Game // by their specs: a command asks for the same game several times
}

// A file is a part of the rules.
type file struct {
	name string
	info fs.FileInfo
	sum  [sha256.Size]byte
}

// Open runs a shell command to ask for the parameters of its game. The caller must close the program. Soon after the end
// of ctx, its processes are killed, and questions fail with the cause.
func Open(ctx context.Context, command string, o Options) (_ *Program, err error) {
	if strings.Contains(os.Getenv(within)+"\n", "\n"+command+"\n") {
		return nil, fmt.Errorf("rules program %q: it has started this command, which would start it again, without end", command)
	}
	o.Limit, o.HeaderLimit = cmp.Or(o.Limit, Limit), cmp.Or(o.HeaderLimit, HeaderLimit)
	p := &Program{command: command, o: o, line: lineOf(command), running: make(map[*process]bool)}
	p.ctx, p.end = context.WithCancelCause(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() { time.AfterFunc(lastTime, func() { p.end(context.Cause(ctx)) }) })
	defer func() {
		if err != nil {
			p.Close()
		}
	}()
	for _, name := range slices.Concat(p.line.files, o.Files) {
		f, err := readFile(name)
		if err != nil {
			return nil, fmt.Errorf("rules program %q: %w", command, err)
		}
		if !slices.ContainsFunc(p.files, func(g file) bool { return filepath.Clean(g.name) == filepath.Clean(name) }) {
			p.files = append(p.files, f)
		}
	}
	if box := o.Sandbox; box != nil {
		with := *box
		with.Files = p.Files()
		p.o.Sandbox = &with
	}
	first, err := p.run(nil)
	if err != nil {
		return nil, err
	}
	h := first.header
	p.lines = first.lines
	p.code = p.codeOf()
	p.kind = game.Kind{Name: h.name, Usage: cmp.Or(h.title, "rules program "+command), New: p.newGame}
	for _, param := range h.params {
		p.kind.Params = append(p.kind.Params, game.Param{Name: param.name, Usage: "parameter of the rules program", Default: param.value})
	}
	p.kind.Params = append(p.kind.Params, game.Param{Name: Code, Usage: "hash of the rules program", Words: []string{p.code}})
	if err := (game.Kinds{p.kind}).Check(); err != nil {
		return nil, fmt.Errorf("rules program %q: %w", command, err)
	}
	if len(p.files) == 0 && len(modules(p.lines)) == 0 {
		return nil, fmt.Errorf("rules program %q: found no file of it, but the content of its files is a part of the rules: name them by --rules-files", command)
	}
	if err := p.unchanged(first.lines); err != nil {
		return nil, err
	}
	p.games = map[string]game.Game{p.spec(h.words()): p.gameOf(first)}
	return p, nil
}

// Kind returns the game of the program. Its last parameter is the hash of the program.
func (p *Program) Kind() game.Kind { return p.kind }

// Sandboxed reports whether the program runs in a sandbox.
func (p *Program) Sandboxed() bool { return p.o.Sandbox != nil }

// Files returns the files whose content is a part of the rules.
func (p *Program) Files() (names []string) {
	for _, f := range p.files {
		names = append(names, f.name)
	}
	return names
}

// There returns the command and the option Files where all files are in the working directory, as in a task of a cluster.
func (p *Program) There() (command string, files []string, err error) {
	sums := make(map[string]file)
	for _, f := range p.files {
		base := filepath.Base(f.name)
		if other, ok := sums[base]; ok && other.sum != f.sum {
			return "", nil, fmt.Errorf("rules program %q: %s and %s have the same name in a task: rename one", p.command, other.name, f.name)
		}
		sums[base] = f
	}
	return p.line.there, slices.Sorted(maps.Keys(sums)), nil
}

// Identity returns what is hashed beside the header, and the modules of the header.
func (p *Program) Identity() []string {
	files := make([]string, len(p.files))
	for i, f := range p.files {
		files[i] = fmt.Sprintf("file %s %x", filepath.Base(f.name), f.sum)
	}
	slices.Sort(files)
	lines := append([]string{"words " + p.line.identity}, slices.Compact(files)...)
	hashes := modules(p.lines)
	for _, name := range slices.Sorted(maps.Keys(hashes)) {
		lines = append(lines, "module "+name+" "+hashes[name])
	}
	return lines
}

// codeOf returns the hash of the program, as a word of a spec.
func (p *Program) codeOf() string {
	sum := sha256.Sum256(fmt.Appendf(bytes.Join(p.lines, []byte("\n")), "\n\n%s", strings.Join(p.Identity(), "\n")))
	return fmt.Sprintf("x%x", sum[:6])
}

// modules returns the hashes of the modules in a header, by their names.
func modules(lines [][]byte) map[string]string {
	found := make(map[string]string)
	for _, line := range lines {
		if key, rest, _ := strings.Cut(string(line), " "); key == "module" {
			name, hash, _ := strings.Cut(rest, " ")
			found[name] = hash
		}
	}
	return found
}

// Close ends all processes of the program.
func (p *Program) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for process := range p.running {
		process.Stdin.Close()
	}
	until := time.Now().Add(child.QuitTime)
	for process := range p.running {
		process.quit(until)
	}
	p.running = nil
	p.end(errClosed)
}

// closed reports whether Close was called.
func (p *Program) closed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.running == nil
}

// readFile reads a file.
func readFile(name string) (f file, err error) {
	r, err := os.Open(name)
	if err != nil {
		return f, fmt.Errorf("file of the rules: %w", err)
	}
	defer r.Close()
	if f.info, err = r.Stat(); err == nil && !f.info.Mode().IsRegular() {
		err = fmt.Errorf("%s: expected a regular file", name)
	}
	sum := sha256.New()
	if err == nil {
		_, err = io.Copy(sum, r)
	}
	if err != nil {
		return f, fmt.Errorf("file of the rules: %w", err)
	}
	f.name = name
	sum.Sum(f.sum[:0])
	return f, nil
}

// unchanged returns an error if a file, or a module in a header, is not that of the hash.
func (p *Program) unchanged(header [][]byte) error {
	for _, f := range p.files {
		info, err := os.Stat(f.name)
		if err == nil && info.Size() == f.info.Size() && info.ModTime().Equal(f.info.ModTime()) {
			continue
		}
		if now, err := readFile(f.name); err != nil || now.sum != f.sum {
			return cmp.Or(err, fmt.Errorf("rules program %q: a file of it has changed since this command began: %s", p.command, f.name))
		}
	}
	hashes := modules(p.lines)
	for name, now := range modules(header) {
		if before, ok := hashes[name]; ok && now != before {
			return fmt.Errorf("rules program %q: a module of it has changed since this command began: %s", p.command, name)
		}
	}
	return nil
}

// run runs the program with some parameters, or without any, and reads its header. Close ends it at any time.
func (p *Program) run(words []string) (*process, error) {
	process, err := p.begin(words)
	if err != nil {
		return nil, err
	}
	if err := process.readHeader(p.o); err != nil {
		return nil, process.failed("the header", err)
	}
	return process, nil
}

// begin starts a process that Close ends.
func (p *Program) begin(words []string) (*process, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running == nil {
		return nil, errClosed
	}
	process, err := start(p.ctx, p.command, words, p.o)
	if err == nil {
		p.running[process] = true
	}
	return process, err
}

// start starts the program with some parameters, as often as a game needs.
func (p *Program) start(words []string) (*process, error) {
	if err := p.unchanged(nil); err != nil {
		return nil, err
	}
	process, err := p.run(words)
	if err != nil {
		return nil, err
	}
	if err := p.unchanged(process.lines); err != nil {
		process.Kill(0)
		return nil, err
	}
	if h := process.header; h.name != p.kind.Name || !slices.Equal(h.words(), words) {
		return nil, process.failed("the header", fmt.Errorf("found game %s and parameters %v, expected %s and %v", h.name, h.words(), p.kind.Name, words))
	}
	return process, nil
}

// spec returns the spec of the game with some parameters.
func (p *Program) spec(words []string) string {
	return strings.Join(slices.Concat([]string{p.kind.Name}, words, []string{Code + "=" + p.code}), " ")
}

// newGame is the New of the kind. The same arguments have the same game.
func (p *Program) newGame(args []int) (game.Game, error) {
	var words []string
	for i, arg := range args[:len(args)-1] {
		words = append(words, fmt.Sprintf("%s=%d", p.kind.Params[i].Name, arg))
	}
	spec := p.spec(words)
	p.mu.Lock()
	g := p.games[spec]
	p.mu.Unlock()
	if g != nil {
		return g, nil
	}
	first, err := p.start(words)
	if err != nil {
		return nil, err
	}
	g = p.gameOf(first)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.games[spec] = g
	return g, nil
}

// gameOf returns the game of a process, which answers its first questions.
func (p *Program) gameOf(first *process) game.Game {
	h := first.header
	most := runtime.GOMAXPROCS(0)
	g := &rules{header: h, program: p, spec: p.spec(h.words()), kept: make(map[game.Position]answer), processes: make(chan *process, most), more: most - 1}
	g.processes <- first
	if g.tiers >= 0 {
		return &tiered{g}
	}
	return g
}
