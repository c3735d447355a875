//go:build !race

package cmd_test

const raceFlag = "-race=false"
