package command_test

import (
	"testing"

	"github.com/treereduce/treereduce/internal/command"
)

func TestLike(t *testing.T) {
	others := []string{"width", "height", "connect", "data", "D"}
	for word, want := range map[string]string{
		"widht": "width", "heigth": "height", "conect": "connect", "dat": "data", "date": "data", "wdth": "width",
		"chess": "", "x": "", "": "", "d": "", "hight": "height",
	} {
		if got := command.Like(word, others); got != want {
			t.Errorf("%q is like %q, want %q", word, got, want)
		}
	}
}
