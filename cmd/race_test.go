//go:build race

package cmd_test

// raceEnabled has the commands look for races as well, where the tests do.
const raceEnabled = true
