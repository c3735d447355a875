package step

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"runtime/debug"
	"strings"

	"github.com/treereduce/treereduce/game"
)

const (
	// module is the path of this module.
	module = "github.com/treereduce/treereduce"
	// rulesSampled is how many positions of random games go into the checksum of rules: the
	// rules of a fifth of a millisecond.
	rulesSampled = 128
)

// BuildProperty is the name of the property of a job that has the driver's Build.
const BuildProperty = "build"

// Build is what a driver sends to the tasks of a job, for CheckBuild: NAME=VALUE,… of what
// is known about the sources of this program, and a checksum of the rules of a game. A
// build without version control information, as by go run or with -buildvcs=off, has the
// checksum and no revision.
func Build(g game.Game) string {
	return strings.Join(append(own(), fmt.Sprintf("rules=%08x", rulesSum(g))), ",")
}

// own is sources of this program.
func own() []string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return sources(info)
	}
	return nil
}

// sources is what a build knows about its sources: the revision, and the versions of its
// own module and of this one. Other modules are not compared: driver and mapper are linked
// with different ones.
func sources(info *debug.BuildInfo) (known []string) {
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" || s.Key == "vcs.modified" {
			known = append(known, s.Key+"="+s.Value)
		}
	}
	for _, m := range append(info.Deps, &info.Main) {
		path := m.Path
		if path != module && path != info.Main.Path {
			continue
		}
		if m.Replace != nil {
			m = m.Replace
		}
		if m.Version != "" && m.Version != "(devel)" {
			known = append(known, path+"="+m.Version)
		}
	}
	return known
}

// CheckBuild returns an error if a driver that sent this Build was built from other sources
// than this program. What only one of them knows is not compared.
func CheckBuild(driver string) error { return compareBuilds(driver, strings.Join(own(), ",")) }

// CheckRules is CheckBuild that compares the rules of g, too.
func CheckRules(g game.Game, driver string) error { return compareBuilds(driver, Build(g)) }

func compareBuilds(driver, own string) error {
	known := make(map[string]string)
	for part := range strings.SplitSeq(driver, ",") {
		name, value, _ := strings.Cut(part, "=")
		known[name] = value
	}
	for part := range strings.SplitSeq(own, ",") {
		name, value, _ := strings.Cut(part, "=")
		if theirs, ok := known[name]; ok && theirs != value {
			return fmt.Errorf("driver and this program are different builds (%s %s in the driver, %s here): rebuild driver, mapper and reducer together: %s", name, theirs, value, HowToBuild())
		}
	}
	return nil
}

// HowToBuild says how the programs of the module of this process are built.
func HowToBuild() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Path != module {
		return `see "In a module of your own" in docs/adding-a-game.md`
	}
	return "make build"
}

// rulesSum is a checksum of what rules say about some positions of random games, the same
// ones in every process.
func rulesSum(g game.Game) uint32 {
	sum := fnv.New32a()
	fmt.Fprint(sum, g.Spec(), g.KeyBits(), g.Values())
	p, random := g.Start(), uint64(1)
	var moves []game.Move
	var record []byte
	for range rulesSampled {
		moves = g.Moves(moves[:0], p)
		record = binary.LittleEndian.AppendUint64(record[:0], p)
		record = binary.LittleEndian.AppendUint16(record, uint16(g.Primitive(p)))
		record = append(record, byte(g.ToMove(p)))
		for _, m := range moves {
			record = binary.LittleEndian.AppendUint64(record, m.To)
		}
		sum.Write(record)
		if len(moves) == 0 {
			p = g.Start()
			continue
		}
		random = random*6364136223846793005 + 1442695040888963407
		p = moves[random>>33%uint64(len(moves))].To
	}
	return sum.Sum32()
}
