// Rulesprogram is a rules program for tests: it answers for one of our games, whose name is its first argument. The
// name of its game is that with the letter p before it. A game with tiers has the tier before its own positions.
// With the arguments answers and FILE, the file has all that it says: the header, and the questions, each with a tab and
// the answer.
package main

import (
	"bufio"
	"fmt"
	"math/bits"
	"os"
	"strconv"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/all"
)

func main() {
	do := run
	if os.Args[1] == "answers" {
		do = answers
	}
	if err := do(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "rulesprogram:", err)
		os.Exit(1)
	}
}

// answers prints the header that the file of words contains, and its answers.
func answers(_ string, words []string) error {
	text, err := os.ReadFile(words[0])
	if err != nil {
		return err
	}
	header, rest, _ := strings.Cut(string(text), "\n\n")
	known := map[string]string{"": ""}
	for line := range strings.Lines(rest) {
		question, answer, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		known[question] = answer
	}
	out := bufio.NewWriterSize(os.Stdout, 1<<16)
	fmt.Fprint(out, header, "\n\n")
	for in := bufio.NewScanner(os.Stdin); ; {
		if err := out.Flush(); err != nil || !in.Scan() {
			return err
		}
		for {
			answer, ok := known[in.Text()]
			if !ok {
				answer = "error it is not in the file"
			}
			if fmt.Fprintln(out, answer); in.Text() == "" || !in.Scan() {
				break
			}
		}
	}
}

// A server answers for a game.
type server struct {
	g       game.Game
	tiered  game.Tiered // nil: it has no tiers
	shift   uint
	players bool
	moves   []game.Move
	out     *bufio.Writer
}

func run(name string, words []string) error {
	kind, ok := all.Kinds().Named(name)
	if !ok {
		return fmt.Errorf("no game %s", name)
	}
	args, given := make([]int, len(kind.Params)), make(map[string]string)
	for _, word := range words {
		param, value, _ := strings.Cut(word, "=")
		given[param] = value
	}
	for i, p := range kind.Params {
		args[i] = p.Default
		if text, ok := given[p.Name]; ok {
			n, err := strconv.Atoi(text)
			if err != nil {
				return err
			}
			args[i] = n
		}
	}
	g, err := kind.Make(args)
	if err != nil {
		return err
	}
	s := &server{g: g, shift: g.KeyBits(), players: g.Values().Players[0] != "", out: bufio.NewWriterSize(os.Stdout, 1<<16)}
	s.header(kind, args)
	return s.serve()
}

func (s *server) header(kind game.Kind, args []int) {
	bitsOf, vs := s.shift, s.g.Values()
	extra := ""
	if a, ok := s.g.(game.Tiered); ok {
		s.tiered = a
		bitsOf += uint(bits.Len(uint(a.Tiers())))
		extra += fmt.Sprintf("tiers %d\n", a.Tiers())
		loops := ""
		for tier := range a.Tiers() + 1 {
			if a.Loops(tier) {
				loops += fmt.Sprint(" ", tier)
			}
		}
		if loops != "" {
			extra += "loops" + loops + "\n"
		}
		if !vs.TiesSoon {
			extra += "ties late\n"
		}
	}
	if s.players {
		extra += fmt.Sprintf("players %s, %s\n", vs.Players[0], vs.Players[1])
	}
	fmt.Fprintf(s.out, "treereduce rules 1\nname p%s\nbits %d\nstart %d\n%stext\n", kind.Name, bitsOf, s.number(s.g.Start()), extra)
	for i, p := range kind.Params {
		fmt.Fprintf(s.out, "parameter %s %d\n", p.Name, args[i])
	}
	fmt.Fprintln(s.out)
	s.out.Flush()
}

// number returns the number of a position in the protocol.
func (s *server) number(p game.Position) uint64 {
	if s.tiered == nil {
		return p
	}
	return uint64(s.tiered.Tier(p))<<s.shift | p
}

// position is the inverse of number.
func (s *server) position(text string) (game.Position, error) {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, err
	}
	p := n & (1<<s.shift - 1)
	if err := s.g.Check(p); err != nil {
		return 0, err
	}
	if s.number(p) != n {
		return 0, fmt.Errorf("it is not in its tier")
	}
	return p, nil
}

func (s *server) serve() error {
	in := bufio.NewReaderSize(os.Stdin, 1<<16)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return nil
		}
		line = strings.TrimSuffix(line, "\n")
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "":
			s.out.WriteByte('\n')
			if err := s.out.Flush(); err != nil {
				return err
			}
			continue
		case "parse":
			p, err := s.g.Parse(rest)
			s.print(err, func() { s.out.WriteString(strconv.FormatUint(s.number(p), 10)) })
		case "text":
			p, err := s.position(rest)
			s.print(err, func() { s.out.Write(s.g.AppendText(nil, p)) })
		default:
			p, err := s.position(word)
			s.print(err, func() { s.answer(p) })
		}
	}
}

// print prints an error or an answer.
func (s *server) print(err error, answer func()) {
	if err != nil {
		fmt.Fprintf(s.out, "error %v", err)
	} else {
		answer()
	}
	s.out.WriteByte('\n')
}

func (s *server) answer(p game.Position) {
	mover := s.g.ToMove(p)
	if s.players {
		s.out.WriteByte('1' + byte(mover))
		s.out.WriteByte(' ')
	}
	if v := s.g.Primitive(p); v != 0 {
		s.out.WriteString([]string{"", "lose", "win", "tie"}[v.Outcome().For(mover)])
		return
	}
	s.moves = s.g.Moves(s.moves[:0], p)
	for i, m := range s.moves {
		if i > 0 {
			s.out.WriteByte(' ')
		}
		s.out.WriteString(m.Name)
		s.out.WriteByte(':')
		s.out.WriteString(strconv.FormatUint(s.number(m.To), 10))
	}
}
