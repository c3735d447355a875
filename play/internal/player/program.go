package player

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/child"
	"github.com/treereduce/treereduce/internal/sandbox"
	"github.com/treereduce/treereduce/play/internal/gtp"
)

const (
	// startTime is how long a program may take to start and to accept the game: a compiler and
	// its JVM need more than 10 s on a busy machine. It does not count as time of a move.
	startTime = 30 * time.Second
	// maxErrorLine is the number of bytes of the last line of its stderr that a message quotes.
	maxErrorLine = 200
)

// Program is a player in a separate process, which uses the protocol of package gtp on
// its stdin and stdout. When it is closed, or has failed, the process and all processes of
// its process group are killed.
type Program struct {
	process *child.Child
	group   *sandbox.Group
	client  *gtp.Client
	log     func(stderr []byte)
	known   []string // the commands that it supports
	made    []string // the moves on its board
	failed  error
}

// NewProgram runs a shell command in a directory, "" for the current one, in a sandbox, which may be nil,
// and makes the program set up a game. The program is killed at the end of ctx. When the program has ended, and has
// written to stderr, log is called with the end of that; log may be nil.
func NewProgram(ctx context.Context, g game.Game, command, dir string, box *sandbox.Sandbox, log func(stderr []byte)) (*Program, error) {
	cmd, group, err := box.Command(command, dir)
	if err != nil {
		return nil, err
	}
	process, err := child.Start(ctx, cmd)
	if err != nil {
		group.Close()
		return nil, fmt.Errorf("program: %w", err)
	}
	p := &Program{process: process, group: group, client: gtp.NewClient(process.Stdout, process.Stdin), log: log}
	ctx, cancel := context.WithTimeoutCause(ctx, startTime, fmt.Errorf("no answer within %v", startTime))
	defer cancel()
	known, err := p.ask(ctx, "list_commands")
	if err == nil {
		p.known = strings.Fields(known)
		_, err = p.ask(ctx, "game", strings.Fields(g.Spec())...)
	}
	if err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// Move sends the program the moves that it does not know yet, and asks for its move.
func (p *Program) Move(ctx context.Context, h *History, limit time.Duration) (string, error) {
	if n := len(p.made); n > len(h.Names()) || !slices.Equal(p.made, h.Names()[:n]) {
		if _, err := p.ask(ctx, "clear_board"); err != nil {
			return "", err
		}
		p.made = nil
	}
	for i := len(p.made); i < len(h.Names()); i++ {
		name := h.Names()[i]
		if _, err := p.ask(ctx, "play", Side(h.Mover(i)), name); err != nil {
			return "", err
		}
		p.made = append(p.made, name)
	}
	side := Side(h.Turn())
	if slices.Contains(p.known, "legal_moves") {
		words := []string{side}
		for _, m := range h.Moves() {
			words = append(words, m.Name)
		}
		if _, err := p.ask(ctx, "legal_moves", words...); err != nil {
			return "", err
		}
	}
	if slices.Contains(p.known, "time_left") && limit > 0 {
		if _, err := p.ask(ctx, "time_left", side, strconv.FormatFloat(limit.Seconds(), 'f', -1, 64), "1"); err != nil {
			return "", err
		}
	}
	name, err := p.ask(ctx, "genmove", side)
	refusal := new(gtp.Refusal)
	switch {
	case errors.As(err, &refusal) && illegal.MatchString(refusal.Message):
		return "", fmt.Errorf("%w: %w", ErrIllegal, err)
	case err != nil:
		return "", err
	}
	if strings.EqualFold(name, "resign") && !slices.ContainsFunc(h.Moves(), func(m game.Move) bool { return m.Name == name }) {
		return "", ErrResigned
	}
	p.made = append(p.made, name)
	return name, nil
}

// illegal matches the message of a program that has chosen an illegal move and noticed it.
var illegal = regexp.MustCompile(`(?i)\billegal (move|action)\b`)

// A Failure is the error of a program that has no answer to give, or none that can be used.
type Failure struct {
	Did string // as words that follow the name of the program: "gave no answer"; "" for another reason
	Err error
}

func (f *Failure) Error() string { return f.Err.Error() }
func (f *Failure) Unwrap() error { return f.Err }

// Name returns the name that the program gives itself, "" if none.
func (p *Program) Name(ctx context.Context) string {
	if !slices.Contains(p.known, "name") {
		return ""
	}
	name, err := p.ask(ctx, "name")
	if err != nil {
		return ""
	}
	return name
}

// brokeProtocol is the Did of a program whose output is not an answer.
const brokeProtocol = "gave an answer that breaks the protocol"

// ask sends a command and returns the answer. After any error other than a refusal, the
// program is killed.
func (p *Program) ask(ctx context.Context, name string, args ...string) (string, error) {
	if p.failed != nil {
		return "", p.failed
	}
	answer, err := p.client.Do(ctx, name, args...)
	refusal, wrong, did := new(gtp.Refusal), new(gtp.ProtocolError), "gave no answer"
	switch {
	case err == nil:
		return answer, nil
	case errors.As(err, &refusal):
		return "", &Failure{"reported an error", fmt.Errorf("program: %w", err)}
	case errors.As(err, &wrong):
		did = brokeProtocol
		err = fmt.Errorf("protocol error after %s: %w", name, err)
	default: // the end of its output, or of ctx
		if errors.Is(err, io.ErrUnexpectedEOF) {
			p.process.Wait(child.QuitTime) // it may be about to exit
		}
		switch {
		case errors.Is(err, gtp.ErrUnended):
			did, err = brokeProtocol, gtp.ErrUnended
		case errors.Is(err, io.ErrUnexpectedEOF):
			did, err = "ended without an answer", errors.New("no answer")
		}
		err = fmt.Errorf("%s: %w", name, err)
	}
	how := p.kill()
	if reason := p.group.Reason(); reason != "" {
		did, err, how = "", errors.New(reason), ""
	}
	p.group.Close()
	p.failed = &Failure{did, fmt.Errorf("program: %w%s", err, how)}
	return "", p.failed
}

// kill kills the program's process group. It describes how the program ended, if it had
// ended by itself, and quotes the last line of its stderr.
func (p *Program) kill() (how string) {
	how = p.process.Kill(maxErrorLine)
	if text := p.process.Stderr.All(); p.log != nil && len(text) > 0 {
		p.log(text)
	}
	return how
}

// Close sends quit, and kills the program if it does not exit.
func (p *Program) Close() error {
	if p.failed == nil {
		ctx, cancel := context.WithTimeout(context.Background(), child.QuitTime)
		defer cancel()
		if _, err := p.client.Do(ctx, "quit"); err == nil {
			p.process.Quit()
		}
		p.kill()
		p.group.Close()
		p.failed = errors.New("program: closed")
	}
	return nil
}

// Head sets a heading, a line that precedes what the program writes to stderr from now on.
func (p *Program) Head(line string) {
	p.process.Stderr.Head(line)
}
