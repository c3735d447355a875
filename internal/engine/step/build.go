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
	// rulesSampled is the number of positions of random games in the checksum of the rules.
	// Sampling them takes about a fifth of a millisecond.
	rulesSampled = 128
)

// BuildProperty is the job property that contains the driver's Build.
const BuildProperty = "build"

// Build describes this program and the rules of a game as NAME=VALUE pairs separated by
// commas: what is known about the program's sources, and a checksum of the rules. A driver
// sends it to the tasks of a job, which pass it to CheckBuild. A program built without
// version control information, as by go run or with -buildvcs=false, has the checksum and
// no revision.
func Build(g game.Game) string {
	return strings.Join(append(own(), fmt.Sprintf("rules=%08x", rulesSum(g))), ",")
}

// own returns the sources of this program.
func own() []string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return sources(info)
	}
	return nil
}

// sources returns what a build knows about its sources: the revision, and the versions of
// the main module and of this module. Other modules are not compared, because driver and
// mapper are linked with different ones, and neither is whether files were modified: a data directory beside the sources, which
// the user has made between two builds, would count.
func sources(info *debug.BuildInfo) (known []string) {
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
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
			known = append(known, path+"="+strings.TrimSuffix(m.Version, "+dirty"))
		}
	}
	return known
}

// CheckBuild returns an error if the driver that sent this Build was built from other
// sources than this program. Properties that only one of the two has are not compared.
func CheckBuild(driver string) error { return compareBuilds(driver, strings.Join(own(), ",")) }

// CheckRules is CheckBuild, and also compares the rules of g.
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

// HowToBuild describes how to build the programs of this process's main module.
func HowToBuild() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Path != module {
		return `see "In a module of your own" in docs/adding-a-game.md`
	}
	return "make build"
}

// rulesSum returns a checksum of the rules, computed from the moves and values of positions
// of random games. The positions are the same in every process.
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
