package step

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/treereduce/treereduce/game"
)

// A Stage is a tier, and above its 16 bits the number of a pass over it: the job to which rows are sent. Stages of a tier
// are in the order in which their jobs run.
//
//	forward     0: possible (init in tier 0); k: mark, pass k
//	retrograde  0: begin, or solve in a tier without inner moves; r: solve, pass r; TiesPass+r: ties, pass r
type Stage uint32

// TiesPass is the number of the pass before the first pass of ties.
const TiesPass = game.MaxRemoteness + 1

// passShift is the number of bits of a tier in a Stage.
const passShift = 16

// At returns the stage of a pass over a tier.
func At(tier, pass int) Stage { return Stage(pass)<<passShift | Stage(tier) }

// Tier returns the tier.
func (s Stage) Tier() int { return int(s & (1<<passShift - 1)) }

// Pass returns the number of the pass.
func (s Stage) Pass() int { return int(s >> passShift) }

// Suffix returns what follows the tier in the names of the directories and files of a stage: ""
// for pass 0, ".3", or ".t3" for the third pass of ties.
func (s Stage) Suffix() string {
	switch pass := s.Pass(); {
	case pass == 0:
		return ""
	case pass > TiesPass:
		return fmt.Sprintf(".t%d", pass-TiesPass)
	default:
		return fmt.Sprintf(".%d", pass)
	}
}

// ParseStage is the inverse of a tier followed by Suffix. ok is false if the tier is not one of 0 to last.
func ParseStage(text string, last int) (s Stage, ok bool) {
	digits, suffix, passes := strings.Cut(text, ".")
	tier, err := strconv.ParseUint(digits, 10, passShift)
	if err != nil || int(tier) > last {
		return 0, false
	}
	if !passes {
		return At(int(tier), 0), true
	}
	number, ties := strings.CutPrefix(suffix, "t")
	pass, err := strconv.ParseUint(number, 10, passShift)
	if err != nil || pass == 0 || pass > game.MaxRemoteness {
		return 0, false
	}
	if ties {
		pass += TiesPass
	}
	return At(int(tier), int(pass)), true
}
