package main

import "testing"

// TestPythonVersion compares versions with those of PEP 440. Each is later than the one before.
func TestPythonVersion(t *testing.T) {
	for _, test := range [][2]string{
		{"v0.0.0-20261127193845-7c60331cf9a4", "0.0.0.dev20261127193845+7c60331cf9a4"},
		{"v0.1.0-0.20261127193845-7c60331cf9a4", "0.1.0.dev20261127193845+7c60331cf9a4"},
		{"v0.1.0-rc.1", "0.1.0rc.1"},
		{"v0.1.0", "0.1.0"},
		{"v0.1.1-0.20261127193845-7c60331cf9a4", "0.1.1.dev20261127193845+7c60331cf9a4"},
	} {
		if got := pythonVersion(test[0]); got != test[1] {
			t.Errorf("%s: %s, not %s", test[0], got, test[1])
		}
	}
}
