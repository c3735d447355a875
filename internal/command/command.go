// Package command contains what the command lines of mapper, reducer, driver and play have in
// common: exit codes, usage errors, help, the parameters of a game as flags, and positions as
// arguments and as lines. It knows no particular command, and opens no data directory.
package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/program"
	"github.com/treereduce/treereduce/internal/command/alias"
	"github.com/treereduce/treereduce/internal/system"
)

// The exit codes of all commands.
const (
	ExitDone        = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitInterrupted = 130
	ExitTerminated  = 143
)

// ErrInterrupted is returned by a command that was stopped by Ctrl-C or SIGTERM.
var ErrInterrupted = errors.New("stopped")

// ErrReported is returned by a command that has already printed its errors.
var ErrReported = errors.New("reported")

// A usageError is an error in the command line.
type usageError struct{ error }

// Usagef returns a usage error.
func Usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// An output is stdout. It keeps its first error and then writes nothing more, so that the error
// of an unchecked print is not lost. A closed pipe is not an error: the process dies of
// SIGPIPE, as any filter does.
type output struct {
	to  io.Writer
	err error
}

func (o *output) Write(b []byte) (n int, _ error) {
	if o.err == nil {
		n, o.err = o.to.Write(b)
	}
	return n, o.err
}

// Run runs an application and converts its error to a line on stderr and an exit code. Failing
// to write output is an error.
func Run(ctx context.Context, app *cli.App, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	out := &output{to: stdout}
	for _, stream := range []io.Writer{stdout, stderr} {
		if f, ok := stream.(*os.File); ok {
			system.EnableEscapes(f)
		}
	}
	app.Reader, app.Writer, app.ErrWriter = stdin, out, stderr
	app.Version = cmp.Or(Version(), "unknown") + ", " + runtime.Version()
	app.EnableBashCompletion, app.HideHelpCommand, app.DisableSliceFlagSeparator = true, true, true
	app.ExitErrHandler = func(*cli.Context, error) {} // exit does it
	app.OnUsageError, app.CustomAppHelpTemplate = wrongFlag, appHelp
	if inherit(app.Commands); len(app.Commands) > 0 {
		app.ArgsUsage = "COMMAND [flags]"
	}
	app.Setup()
	ctx, received := withSignals(ctx)
	called, words, err := app.Name, args[1:], error(nil)
	switch {
	case slices.Equal(words, []string{manPage}):
		err = writeManPage(out, app)
	case len(words) == 0 || words[len(words)-1] != completing:
		called, words, err = reorder(app, words)
		fallthrough
	default:
		if err == nil {
			err = app.RunContext(ctx, append([]string{app.Name}, words...))
		}
	}
	return received.exitCode(exit(args, called, cmp.Or(err, out.err), stderr))
}

// inherit sets in all commands what the library does not take from the application.
func inherit(commands []*cli.Command) {
	for _, c := range commands {
		c.HideHelpCommand, c.OnUsageError, c.CustomHelpTemplate = true, wrongFlag, commandHelp
		inherit(c.Subcommands)
	}
}

// wrongValue is the error of package flag for the value of a flag: a word or none, the value, the name and the reason.
var wrongValue = regexp.MustCompile(`^invalid (boolean )?value (".*") for (?:flag )?-(\S+): (.*)$`)

// wrongFlag makes an error in the value of a flag a usage error.
func wrongFlag(c *cli.Context, err error, _ bool) error {
	parts := wrongValue.FindStringSubmatch(err.Error())
	if parts == nil {
		return usageError{err}
	}
	boolean, value, name, reason := parts[1], parts[2], parts[3], parts[4]
	isTime := func(f cli.Flag) bool {
		_, ok := f.(*cli.DurationFlag)
		return ok && slices.Contains(f.Names(), name)
	}
	switch {
	case boolean != "":
		reason = "expected true or false"
	case slices.ContainsFunc(c.Command.Flags, isTime):
		reason = "expected a time such as 90s or 2m"
	case reason == "parse error":
		reason = "expected a number"
	}
	return Usagef("--%s %s: %s", name, value, reason)
}

// Exit prints the error of a command line, if err is not nil, and returns the exit code for it.
func Exit(args []string, err error, stderr io.Writer) int {
	return exit(args, filepath.Base(args[0]), err, stderr)
}

// exit is Exit for the command called; after a usage error it also points to that command's
// help. It does not print an error that has been reported.
func exit(args []string, called string, err error, stderr io.Writer) int {
	if err == nil {
		return ExitDone
	}
	name := filepath.Base(args[0])
	if !errors.Is(err, ErrReported) {
		printError(name, called, err, stderr)
	}
	var usage usageError
	switch {
	case errors.As(err, &usage):
		return ExitUsage
	case errors.Is(err, ErrInterrupted):
		return ExitInterrupted
	}
	return ExitFailed
}

// printError prints an error, and how to go on.
func printError(name, called string, err error, stderr io.Writer) {
	for _, one := range joined(err) {
		fmt.Fprintf(stderr, "%s: %s\n", name, Printable(one.Error()))
	}
	var usage usageError
	var unknown *game.UnknownError
	var other *game.ParamError
	if errors.As(err, &unknown) && program.Owns(unknown.Spec) {
		fmt.Fprintf(stderr, "%s: it is the game of a rules program: add --%s COMMAND\n", name, RulesFlag)
	}
	if errors.As(err, &other) && other.Param.Name == program.Code {
		fmt.Fprintf(stderr, "%s: its rules program was another one (driver check lists what counts), or treereduce an earlier version: driver solve --overwrite solves the game again\n", name)
	}
	if errors.As(err, &usage) {
		fmt.Fprintf(stderr, "%s: see %s --help\n", name, called)
	}
}

// joined returns the errors that errors.Join has combined, or err alone.
func joined(err error) []error {
	all, ok := err.(interface{ Unwrap() []error })
	if !ok || errors.Join(all.Unwrap()...).Error() != err.Error() {
		return []error{err}
	}
	return all.Unwrap()
}

// NoArguments rejects arguments that are not flags; hint is what to write instead.
func NoArguments(c *cli.Context, hint string) error {
	if c.Args().Len() > 0 {
		return Usagef("unexpected argument %q%s", c.Args().First(), hint)
	}
	return nil
}

// Unknown returns the action of a command that only has subcommands: it reports an unknown or
// missing name.
func Unknown(what string, known []string) cli.ActionFunc {
	return func(c *cli.Context) error {
		if c.Args().Len() == 0 {
			article := "a"
			if strings.ContainsRune("aeiou", rune(what[0])) {
				article = "an"
			}
			return Usagef("expected %s %s: %s", article, what, strings.Join(known, ", "))
		}
		word := c.Args().First()
		if like := orLike(word, known, ""); like != "" {
			return Usagef("unknown %s %q%s", what, word, like)
		}
		return Usagef("unknown %s %q, expected %s", what, word, strings.Join(known, ", "))
	}
}

// Names returns the names of commands.
func Names(commands []*cli.Command) (names []string) {
	for _, c := range commands {
		names = append(names, c.Name)
	}
	return names
}

// Environment returns the environment variable in which Hadoop Streaming passes a parameter
// from the job configuration: treereduce.last-round becomes treereduce_last_round.
func Environment(name string) []string {
	return []string{"treereduce_" + strings.ReplaceAll(name, "-", "_")}
}

// CheckGames checks the list of games of a program, and that no parameter of a game has the
// name of another flag or of a job property.
func CheckGames(games game.Kinds, flags []cli.Flag, properties ...string) error {
	if err := games.Check(); err != nil {
		return err
	}
	taken := append([]string{"game", SandboxFlag}, properties...)
	for _, f := range append(flags, cli.HelpFlag) {
		taken = append(taken, f.Names()...)
	}
	for _, k := range games {
		for _, p := range k.Params {
			if slices.Contains(taken, p.Name) {
				return fmt.Errorf("game %s, parameter %s: a common flag has this name", k.Name, p.Name)
			}
		}
	}
	return nil
}

// GameFlags returns the parameters of a kind of game as flags. If fromJob is true, they may
// come from a job's configuration, and have no default.
func GameFlags(kind game.Kind, fromJob bool) []cli.Flag {
	var flags []cli.Flag
	for _, p := range kind.Params {
		env, text := []string(nil), ""
		if fromJob {
			env, text = Environment(p.Name), "required"
		}
		if p.Words == nil {
			f := &cli.IntFlag{Name: p.Name, Usage: p.Usage, Value: p.Default, EnvVars: env, DefaultText: text}
			if fromJob {
				f.Value = 0
			}
			flags = append(flags, f)
			continue
		}
		f := &cli.StringFlag{Name: p.Name, Usage: p.Usage + ": " + strings.Join(p.Words, ", "), EnvVars: env, DefaultText: text,
			Hidden: len(p.Words) == 1} // there is nothing to choose
		if !fromJob {
			f.Value = p.Text(p.Default)
		}
		flags = append(flags, f)
	}
	return flags
}

// OfGame adds a subcommand for each game to a command, each with the game's parameters and the
// command's flags, and one for each alias.
func OfGame(games game.Kinds, c *cli.Command, action func(*cli.Context, game.Kind) error) *cli.Command {
	description := c.Description
	if c.Usage != "" {
		description = strings.ToUpper(c.Usage[:1]) + c.Usage[1:] + ".\n\n" + description
	}
	add := func(name, usage, category string, kind game.Kind) {
		c.Subcommands = append(c.Subcommands, &cli.Command{
			Name:        name,
			Category:    category,
			Usage:       usage,
			ArgsUsage:   c.ArgsUsage,
			Description: description,
			Flags:       append(Group("board", GameFlags(kind, false)), c.Flags...),
			Action:      func(c *cli.Context) error { return action(c, kind) },
		})
	}
	for _, kind := range games {
		add(kind.Name, kind.Usage, "", kind)
	}
	for _, a := range alias.Of(games) {
		add(a.Name, alias.Words(a.Kind), "other names", a.Kind)
	}
	c.ArgsUsage, c.Description = "GAME [flags]", ""
	c.Flags, c.Action = nil, Unknown("game", Names(c.Subcommands))
	return c
}

// GameOf makes the game that the flags describe.
func GameOf(c *cli.Context, kind game.Kind) (game.Game, error) {
	var args []int
	for _, p := range kind.Params {
		n, err := p.Value(fmt.Sprint(c.Value(p.Name)))
		if err != nil {
			return nil, Usagef("--%s: %w", p.Name, err)
		}
		args = append(args, n)
	}
	g, err := kind.Make(args)
	if err == nil {
		err = game.CheckLength(g)
	}
	if err != nil {
		return nil, usageError{err}
	}
	return g, nil
}

// signalKey is the context key for the signals of a command.
type signalKey struct{}

// signals are what a command has received, and awaits.
type signals struct {
	first    atomic.Pointer[os.Signal]
	awaiting atomic.Int32 // contexts of Interruptible
}

// withSignals returns a context with signals, which the parent may have.
func withSignals(parent context.Context) (context.Context, *signals) {
	s, ok := parent.Value(signalKey{}).(*signals)
	if !ok {
		s = new(signals)
	}
	return context.WithValue(parent, signalKey{}, s), s
}

// exitCode returns the exit code of a command that would be code without regard to the signal.
func (s *signals) exitCode(code int) int {
	if sig := s.first.Load(); code == ExitInterrupted && sig != nil && *sig == syscall.SIGTERM {
		return ExitTerminated
	}
	return code
}

// Interruptible returns a context that ends at Ctrl-C, at SIGTERM, or when the terminal is
// closed (SIGHUP), unless SIGHUP is ignored (nohup). A second signal ends the process
// immediately.
func Interruptible(parent context.Context) (ctx context.Context, stop context.CancelFunc) {
	parent, s := withSignals(parent)
	ctx, cancel := s.notify(parent)
	s.awaiting.Add(1)
	var once sync.Once
	return ctx, func() {
		cancel()
		once.Do(func() { s.awaiting.Add(-1) })
	}
}

// notify implements Interruptible.
func (s *signals) notify(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(parent)
	received := make(chan os.Signal, 1)
	signal.Notify(received, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(received, syscall.SIGHUP)
	}
	go func() {
		select {
		case sig := <-received:
			s.first.Store(&sig)
		case <-ctx.Done():
		}
		signal.Stop(received)
		cancel()
	}()
	return ctx, cancel
}

// Stopped returns ErrInterrupted if the context of Interruptible has ended, and otherwise err.
func Stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ErrInterrupted
	}
	return err
}

// Until returns a reader of r that ends with ctx: a waiting read then returns the error of ctx.
// Input that this read gets later is lost, so r must not be read after that.
func Until(ctx context.Context, r io.Reader) io.Reader {
	if ctx.Done() == nil {
		return r
	}
	return &until{ctx: ctx, from: r, got: make(chan got, 1)}
}

type until struct {
	ctx  context.Context
	from io.Reader
	buf  [1 << 16]byte
	rest []byte // the part of buf that has been read and not yet returned
	err  error
	got  chan got
}

// got is the result of a read.
type got struct {
	n   int
	err error
}

func (u *until) Read(b []byte) (int, error) {
	if len(u.rest) == 0 && u.err == nil {
		if err := u.ctx.Err(); err != nil {
			return 0, err
		}
		go func() {
			n, err := u.from.Read(u.buf[:])
			u.got <- got{n, err}
		}()
		select {
		case <-u.ctx.Done():
			return 0, u.ctx.Err()
		case g := <-u.got:
			u.rest, u.err = u.buf[:g.n], g.err
		}
	}
	if len(u.rest) == 0 {
		return 0, u.err
	}
	n := copy(b, u.rest)
	u.rest = u.rest[n:]
	return n, nil
}
