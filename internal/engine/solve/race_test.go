//go:build race

package solve_test

// raceEnabled makes the tests smaller: the race detector is ten times slower.
const raceEnabled = true
