package player

import (
	"fmt"
	"strings"
	"time"

	"github.com/treereduce/treereduce/play/internal/book"
	"github.com/treereduce/treereduce/search"
	"github.com/treereduce/treereduce/table"
)

// A Level is a playing strength. Unless it has a Time, its moves do not depend on the speed of
// the machine.
type Level struct {
	Name    string        // "" if it is only a depth or a time
	Random  float64       // the share of moves that are random
	Depth   int           // plies that it searches; 0: Time decides
	Time    time.Duration // for a search
	Perfect bool          // plays from the table or the opening book, if there is one
}

// Levels returns the levels, the weakest first. Each is stronger than the one before it:
// BenchmarkLevels in package referee measures that, docs/notes/play.md has its results.
func Levels() []Level {
	return []Level{
		{Name: "beginner", Random: 0.9, Depth: 1},
		{Name: "novice", Random: 0.5, Depth: 1},
		{Name: "casual", Random: 0.4, Depth: 2},
		{Name: "regular", Random: 0.28, Depth: 3},
		{Name: "club", Random: 0.19, Depth: 4},
		{Name: "strong", Random: 0.13, Depth: 5},
		{Name: "expert", Random: 0.08, Depth: 6},
		{Name: "master", Random: 0.04, Depth: 8},
		{Name: "grandmaster", Random: 0.015, Depth: 10},
		{Name: "perfect", Time: 5 * time.Second, Perfect: true},
	}
}

// String returns a level with a name as a command line names a player: machine:level=club.
func (l Level) String() string { return "machine:level=" + l.Name }

// Opponents returns the levels, after one that plays at random.
func Opponents() []Level { return append([]Level{{Name: "random", Random: 1}}, Levels()...) }

// HintTime is the time of a search for a hint, by the Strongest level.
const HintTime = time.Second

// Strongest returns the last level.
func Strongest() Level {
	all := Levels()
	return all[len(all)-1]
}

// ParseLevel returns the opponent of that name.
func ParseLevel(name string) (Level, error) {
	var names []string
	for _, l := range Opponents() {
		if l.Name == name {
			return l, nil
		}
		names = append(names, l.Name)
	}
	return Level{}, fmt.Errorf("level %q: expected %s", name, strings.Join(names, ", "))
}

// NewLevel makes a player of a level that searches by s. If the level is Perfect, it plays from the table t or, where that
// fails, from the book b, each of which may be nil. Close closes t. The same seed gives the same choices.
func NewLevel(l Level, t *table.Table, b *book.Book, s Search, seed uint64) *Machine {
	m := &Machine{search: s, limit: search.Limit{Depth: l.Depth, Time: l.Time}, random: NewRandom(seed), share: l.Random}
	if l.Perfect {
		m.table, m.book = t, b
	}
	return m
}
