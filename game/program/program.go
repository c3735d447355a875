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
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
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
	// mostMoves is the number of moves that a position may have, mostTiered that of a game with tiers.
	mostMoves, mostTiered = block.MaxCount, 1000
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
	Sandbox     *sandbox.Sandbox // nil: the program has all rights of the user, and no limits
	Notice      func(string)     // is called with a line for people when a header is late; may be nil
	// Fail is called with the error of a question that a method of a Game asks, and must not return: those methods
	// return no errors. nil: the method panics.
	Fail func(error)
}

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
	files   []string
	code    string

	mu      sync.Mutex
	running map[*process]bool
	games   map[string]game.Game // by their specs: a command asks for the same game several times
}

// Open runs a shell command to ask for the parameters of its game. The caller must close the program. Soon after the end
// of ctx, its processes are killed, and questions fail with the cause.
func Open(ctx context.Context, command string, o Options) (*Program, error) {
	o.Limit, o.HeaderLimit = cmp.Or(o.Limit, Limit), cmp.Or(o.HeaderLimit, HeaderLimit)
	p := &Program{command: command, o: o, files: namedFiles(command), running: make(map[*process]bool)}
	p.ctx, p.end = context.WithCancelCause(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() { time.AfterFunc(lastTime, func() { p.end(context.Cause(ctx)) }) })
	first, err := p.run(nil)
	if err != nil {
		p.Close()
		return nil, err
	}
	h := first.header
	p.lines = first.lines
	if p.code, err = codeOf(p.lines, p.files); err != nil {
		p.Close()
		return nil, err
	}
	p.kind = game.Kind{Name: h.name, Usage: cmp.Or(h.title, "rules program "+command), New: p.newGame}
	for _, param := range h.params {
		p.kind.Params = append(p.kind.Params, game.Param{Name: param.name, Usage: "parameter of the rules program", Default: param.value})
	}
	p.kind.Params = append(p.kind.Params, game.Param{Name: Code, Usage: "hash of the rules program", Words: []string{p.code}})
	if err := (game.Kinds{p.kind}).Check(); err != nil {
		p.Close()
		return nil, fmt.Errorf("rules program %q: %w", command, err)
	}
	p.games = map[string]game.Game{p.spec(h.words()): p.gameOf(first)}
	return p, nil
}

// Kind returns the game of the program. Its last parameter is the hash of the program.
func (p *Program) Kind() game.Kind { return p.kind }

// Files returns the files that the command names. Their content is part of the rules.
func (p *Program) Files() []string { return p.files }

// Sandboxed reports whether the program runs in a sandbox.
func (p *Program) Sandboxed() bool { return p.o.Sandbox != nil }

// There returns the command where these files are in the working directory, as in a task of a cluster.
func (p *Program) There() string {
	words := strings.Fields(p.command)
	for i, word := range words {
		if name := unquoted(word); slices.Contains(p.files, name) {
			words[i] = "./" + filepath.Base(name)
		}
	}
	return strings.Join(words, " ")
}

// unquoted returns a word of a command without the quotes around it.
func unquoted(word string) string { return strings.Trim(word, `'"`) }

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

// namedFiles returns the files that a command names, except programs of the system.
func namedFiles(command string) (files []string) {
	for _, word := range strings.Fields(command) {
		name := unquoted(word)
		// Hadoop Streaming adds the working directory to PATH.
		installed := filepath.IsAbs(name) && slices.Contains(filepath.SplitList(os.Getenv("PATH")), filepath.Dir(name))
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() && !installed {
			files = append(files, name)
		}
	}
	return files
}

// codeOf returns a hash of files and of the default header, as a word of a spec.
func codeOf(header [][]byte, files []string) (string, error) {
	sum := sha256.New()
	sum.Write(bytes.Join(header, []byte("\n")))
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			return "", fmt.Errorf("file of the rules program: %w", err)
		}
		fmt.Fprintf(sum, "\n%s %d\n", filepath.Base(name), len(content))
		sum.Write(content)
	}
	return fmt.Sprintf("x%x", sum.Sum(nil)[:6]), nil
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
	if code, err := codeOf(p.lines, p.files); err != nil || code != p.code {
		return nil, cmp.Or(err, fmt.Errorf("rules program %q: a file of it has changed since this command began", p.command))
	}
	process, err := p.run(words)
	if err != nil {
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
