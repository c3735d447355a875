package naive

// The results of a position of a game with cycles, for the player to move.
const (
	Draw = "DRAW" // play that never ends
	Lose = "LOSE"
	Win  = "WIN"
	Tie  = "TIE"
)

// A Worth is a result and the number of moves to the end, 0 for a draw.
type Worth struct {
	Result     string
	Remoteness int
}

// A Graph is a game that may have cycles, in which a player may move twice in a row.
type Graph struct {
	Start uint64
	// Finished returns the result of a terminal position, which has no moves, and "" for the others.
	Finished func(p uint64) string
	// Successors returns the positions after each move of a position that is not terminal.
	Successors func(p uint64) []uint64
	// Again reports whether the player to move at p is to move again at its successor s; nil: the turns alternate.
	Again func(p, s uint64) bool
	// TiesLate means that players prefer the farthest of several ties. Then the game must have no cycles.
	TiesLate bool
}

// Solve returns the values of all positions that can be reached, for the player to move. It decides
// the positions of remoteness 1, 2 and so on, each time from the successors of those that are still
// open and have a successor of one move less: first wins and losses, until a remoteness has none, then ties. The rest are draws.
func (g Graph) Solve() map[uint64]Worth {
	worth := map[uint64]Worth{g.Start: {g.Finished(g.Start), 0}}
	successors, predecessors := make(map[uint64][]uint64), make(map[uint64][]uint64)
	var ends []uint64
	for next := []uint64{g.Start}; len(next) > 0; next = next[1:] {
		p := next[0]
		if worth[p].Result != "" {
			ends = append(ends, p)
			continue
		}
		successors[p] = g.Successors(p)
		for _, s := range successors[p] {
			predecessors[s] = append(predecessors[s], p)
			if _, found := worth[s]; !found {
				worth[s] = Worth{g.Finished(s), 0}
				next = append(next, s)
			}
		}
	}
	for _, result := range []func(p uint64, successors []uint64, worth map[uint64]Worth, before int) string{g.won, g.tied} {
		newest := ends
		for remoteness := 1; len(newest) > 0; remoteness++ {
			decided := make(map[uint64]string)
			for _, s := range newest {
				for _, p := range predecessors[s] {
					if worth[p].Result != "" {
						continue
					}
					if r := result(p, successors[p], worth, remoteness-1); r != "" {
						decided[p] = r
					}
				}
			}
			newest = nil
			for p, r := range decided {
				worth[p] = Worth{r, remoteness}
				newest = append(newest, p)
			}
		}
	}
	for p, w := range worth {
		if w.Result == "" {
			worth[p] = Worth{Draw, 0}
		}
	}
	return worth
}

// won returns Win if the player to move at p can move to a position that is won for that player and
// has this remoteness. It returns Lose if all successors are lost for that player, the farthest with this
// remoteness.
func (g Graph) won(p uint64, successors []uint64, worth map[uint64]Worth, before int) string {
	farthest := -1
	for _, s := range successors {
		won, lost := Lose, Win // results at s, for the player to move there
		if g.Again != nil && g.Again(p, s) {
			won, lost = Win, Lose
		}
		switch w := worth[s]; {
		case w == Worth{won, before}:
			return Win
		case w.Result != lost:
			farthest = before + 1 // not lost, or not yet
		default:
			farthest = max(farthest, w.Remoteness)
		}
	}
	if farthest == before {
		return Lose
	}
	return ""
}

// tied returns Tie if the tie that the player to move at p prefers has this remoteness.
func (g Graph) tied(_ uint64, successors []uint64, worth map[uint64]Worth, before int) string {
	farthest := -1
	for _, s := range successors {
		switch w := worth[s]; {
		case !g.TiesLate && w == Worth{Tie, before}:
			return Tie
		case w.Result == "":
			farthest = before + 1 // not yet known
		case w.Result == Tie:
			farthest = max(farthest, w.Remoteness)
		}
	}
	if farthest == before {
		return Tie
	}
	return ""
}

// SolveTexts returns the values of all positions that can be reached from start in a game whose positions are texts, and in which
// the turns alternate. moves returns the positions after each move, by the names of the moves. tiesLate is Graph.TiesLate.
func SolveTexts(start string, finished func(string) string, moves func(string) map[string]string, tiesLate bool) map[string]Worth {
	texts, numbers := []string{start}, map[string]uint64{start: 0}
	successors := func(p uint64) (all []uint64) {
		for _, text := range moves(texts[p]) {
			if _, ok := numbers[text]; !ok {
				numbers[text] = uint64(len(texts))
				texts = append(texts, text)
			}
			all = append(all, numbers[text])
		}
		return all
	}
	g := Graph{Finished: func(p uint64) string { return finished(texts[p]) }, Successors: successors, TiesLate: tiesLate}
	values := make(map[string]Worth)
	for p, w := range g.Solve() {
		values[texts[p]] = w
	}
	return values
}
