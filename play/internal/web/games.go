package web

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command/alias"
	"github.com/treereduce/treereduce/play/internal/book"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/referee"
	"github.com/treereduce/treereduce/table"
)

// A served is a game that is served.
type served struct {
	id, variant string
	g           game.Game
	table       *table.Table          // nil: it is searched
	data        string                // the name of the data directory of table
	book        *book.Book            // the opening book of the game; nil: none
	whole       atomic.Pointer[whole] // what the page of the table shows, once it is known
}

// title returns the name of the game for people.
func (g *served) title() string { return game.TitleOf(g.g) }

// address returns the address of the page on which the game is played, from the first page.
func (g *served) address() string { return "play/" + g.id + "/" + g.variant }

// add serves a table, unless another table of its game is served. It returns the game.
func (s *Server) add(source *Source) *served {
	id, variant := idOf(source.Table.Game().Spec())
	key := id + "/" + variant
	s.mu.Lock()
	defer s.mu.Unlock()
	if g := s.games[key]; g != nil && g.table != nil {
		return g
	}
	g := &served{id: id, variant: variant, g: source.Table.Game(), table: source.Table, data: source.Name}
	s.games[key] = g
	s.tables = append(s.tables, source)
	return g
}

// dropTime is how long requests may still read a table that is not served any more.
const dropTime = 2 * answerTime

// Drop ends the service of the table of a data directory if the directory contains another
// one, or none: its game, or another one, is solved again.
func (s *Server) Drop(data string) {
	for _, old := range s.opened() {
		if old.Name == data && !old.Table.Current() {
			id, variant := idOf(old.Table.Game().Spec())
			s.mu.Lock()
			s.tables = slices.DeleteFunc(s.tables, func(t *Source) bool { return t == old })
			delete(s.games, id+"/"+variant)
			s.mu.Unlock()
			time.AfterFunc(dropTime, func() { old.Table.Close() })
		}
	}
}

// Offer returns the title of a game, and the address of its page if a table of it is served. If complete, the source
// has a table of it, which is served unless another one is.
func (s *Server) Offer(source *Source, spec string, complete bool) (title, address string, err error) {
	rules, err := s.o.Games.Parse(spec)
	if err != nil {
		return spec, "", nil // it is a game of another program
	}
	title = game.TitleOf(rules)
	id, variant := idOf(rules.Spec())
	s.mu.Lock()
	g := s.games[id+"/"+variant]
	s.mu.Unlock()
	if g == nil || g.table == nil || !complete && g.data != source.Name {
		if !complete {
			return title, "", nil
		}
		t, err := table.OpenFS(source.FS, source.Path, s.o.Games.Parse)
		if err != nil {
			return title, "", err
		}
		if g = s.add(&Source{Name: source.Name, Table: t}); g.table != t { // the run of another directory has ended meanwhile
			t.Close()
		}
	}
	return title, "/" + g.address(), nil
}

// opened returns the data directories whose tables are open.
func (s *Server) opened() []*Source {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.tables)
}

// states returns the runs.
func (s *Server) states() []Run {
	if s.runs == nil {
		return nil
	}
	return s.runs.Runs()
}

// maxGames is the number of games that are kept, besides those with a table.
const maxGames = 64

// idOf returns the two parts of a game's address: its name, and the values of its parameters
// with hyphens between them, or "regular" if it has none.
func idOf(spec string) (id, variant string) {
	words := strings.Fields(spec)
	var values []string
	for _, word := range words[1:] {
		_, value, _ := strings.Cut(word, "=")
		values = append(values, value)
	}
	return words[0], cmp.Or(strings.Join(values, "-"), "regular")
}

// specOf is the inverse of idOf.
func (s *Server) specOf(id, variant string) (string, error) {
	kind, ok := s.o.Games.Named(id)
	if !ok {
		return "", fmt.Errorf("there is no game %q", id)
	}
	var values []string
	if variant != "regular" {
		values = strings.Split(variant, "-")
	}
	if len(values) != len(kind.Params) {
		return "", fmt.Errorf("game %s: expected %d parameters with hyphens between them, found %q", id, len(kind.Params), variant)
	}
	spec := kind.Name
	for i, p := range kind.Params {
		spec += " " + p.Name + "=" + values[i]
	}
	return spec, nil
}

// game returns the game that the path of a request names.
func (s *Server) game(r *Request) (*served, error) {
	if s.runs != nil {
		s.runs.Refresh() // which may open or drop its table
	}
	id, variant := r.PathValue("game"), r.PathValue("variant")
	key := id + "/" + variant
	s.mu.Lock()
	defer s.mu.Unlock()
	if g := s.games[key]; g != nil {
		return g, nil
	}
	spec, err := s.specOf(id, variant)
	if err != nil {
		return nil, NotFound(err)
	}
	rules, err := s.o.Games.Parse(spec)
	if err != nil {
		return nil, NotFound(err)
	}
	for k, g := range s.games {
		if len(s.games) < maxGames+len(s.o.Sources) {
			break
		}
		if g.table == nil {
			delete(s.games, k)
		}
	}
	g := &served{id: id, variant: variant, g: rules, book: book.Embedded(rules)}
	s.games[key] = g
	return g, nil
}

// An entry is a game in the list of games.
type entry struct {
	ID, Variant, Title string
	Usage              string
	Board, Text        string // a board, as JSON for board.js and as text
	Params             []paramEntry
	Solved             bool   // it has a table
	Against            string // the fragment of an address, for a game against a machine; "" if the game has one player
}

// A paramEntry is a parameter of a game in the list.
type paramEntry struct {
	Name, Usage, Default string
	Words                []string // the allowed values; nil: any number
}

// open implements /play/GAME, also for other names of games, such as connect4: it redirects
// to the page of the game with the parameters of a form, or the defaults. The rest of the query stays.
func (s *Server) open(r *Request) (*Answer, error) {
	kind, ok := alias.KindOf(s.o.Games, r.PathValue("game"))
	if !ok {
		return nil, NotFound(fmt.Errorf("there is no game %q", r.PathValue("game")))
	}
	spec, query := kind.Name, r.Parameters()
	for _, p := range kind.Params {
		spec += " " + p.Name + "=" + cmp.Or(strings.TrimSpace(query.Get(p.Name)), p.Text(p.Default))
		query.Del(p.Name)
	}
	g, err := s.o.Games.Parse(spec)
	if err != nil {
		return nil, badRequest(err)
	}
	id, variant := idOf(g.Spec())
	location := root(r) + "play/" + id + "/" + url.PathEscape(variant)
	if len(query) > 0 {
		location += "?" + query.Encode()
	}
	a := Text("text/plain", "no-cache", nil)
	a.Status, a.Header["Location"] = 303, location
	return a, nil
}

// list returns the first board of each registered game, then the others that have a table, game by game, and the runs.
func (s *Server) list() (games []entry, runs []Run) {
	games, runs = slices.Clone(s.kinds()), s.states()
	for _, source := range s.opened() {
		e := entryOf(s.o.Games, source.Table.Game())
		i := slices.IndexFunc(games, func(o entry) bool { return o.ID == e.ID && o.Variant == e.Variant })
		if i < 0 {
			i, games = len(games), append(games, e)
		}
		games[i].Solved = true
	}
	first := func(e entry) int { return slices.IndexFunc(games, func(o entry) bool { return o.ID == e.ID }) }
	slices.SortStableFunc(games[len(s.kinds()):], func(a, b entry) int { return first(a) - first(b) })
	return games, runs
}

// entriesOf returns the first board of each kind of games, with its parameters.
func entriesOf(kinds game.Kinds) (games []entry) {
	for _, kind := range kinds {
		g, err := kind.Default()
		if err != nil {
			continue
		}
		e := entryOf(kinds, g)
		for _, p := range kind.Params {
			e.Params = append(e.Params, paramEntry{p.Name, p.Usage, p.Text(p.Default), p.Words})
		}
		if len(e.Params) == 1 && e.Params[0].Words == nil {
			for n := range mostSizes {
				if _, err := kind.Make([]int{n}); err == nil {
					e.Params[0].Words = append(e.Params[0].Words, strconv.Itoa(n))
				}
			}
		}
		games = append(games, e)
	}
	return games
}

// mostSizes is above the largest value of the only parameter of a game.
const mostSizes = 20

// entryOf returns the entry of a game. Its board is from the middle of a random play, the same one each time.
func entryOf(kinds game.Kinds, g game.Game) entry {
	play := player.NewHistory(g)
	referee.PlayAtRandom(play, rand.New(rand.NewPCG(1, 2)), maxPreview)
	id, variant := idOf(g.Spec())
	picture := g.Picture(play.At(len(play.Names()) / 2))
	board, _ := json.Marshal(map[string]any{"look": g.Info().Look, "picture": picture, "last": []int{}, "moves": []int{}, "players": []string{}})
	kind, _ := kinds.Named(id)
	_, usage, _ := strings.Cut(kind.Usage, ": ")
	if _, n, ok := strings.Cut(g.Spec(), " connect="); ok {
		usage = strings.ReplaceAll(usage, "N ", n+" ")
	}
	e := entry{ID: id, Variant: variant, Title: game.TitleOf(g), Usage: usage, Board: string(board), Text: picture.String()}
	if !g.Values().Puzzle {
		e.Against = "#against=adapts"
	}
	return e
}

// maxPreview is the largest number of moves of the random play of entryOf.
const maxPreview = 23
