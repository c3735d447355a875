package driver

import "testing"

// TestStatsRefuses checks that wrong or contradictory options of stats are refused.
func TestStatsRefuses(t *testing.T) {
	refused(t, map[string]string{
		"stats --json --svg x": "--json, --csv and --svg exclude each other",
		"stats here":           `unexpected argument "here": --data names the directory`,
	})
}
