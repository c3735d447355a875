//go:build race

package cmd_test

// raceFlag has the commands look for races as well, where the tests do.
const raceFlag = "-race=true"
