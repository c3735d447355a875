package naive

import (
	"fmt"
	"strings"
	"testing"
)

func TestSolveKnownBoards(t *testing.T) {
	tests := []struct {
		w, h, connect      int
		positions          int
		result, remoteness int
	}{
		{2, 2, 2, 13, xWins, 3},
		{3, 3, 3, 694, tie, 9},
		{4, 3, 3, 7157, xWins, 9},
		{3, 4, 3, 2715, tie, 12},
		{4, 4, 4, 161029, tie, 16},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%dx%dc%d", test.w, test.h, test.connect), func(t *testing.T) {
			values := Solve(test.w, test.h, test.connect)
			if n := len(values); n != test.positions {
				t.Errorf("%d positions, want %d", n, test.positions)
			}
			got := values[strings.Repeat(" ", test.w*test.h)]
			if want := value(test.result, test.remoteness); got != want {
				t.Errorf("value byte of the empty board is %d, want %d", got, want)
			}
		})
	}
}

func TestFinished(t *testing.T) {
	// Boards of 3 columns and 4 rows, with the columns separated by '|'.
	tests := []struct {
		board   string
		connect int
		want    int
	}{
		{"    |    |    ", 3, 0},
		{"XXX |OO  |    ", 3, xWins},
		{"OOO |XX  |X   ", 3, oWins},
		{"X   |X   |X   ", 3, xWins},
		{"X   |OX  |OOX ", 3, xWins},
		{"XXO |XO  |O   ", 3, oWins},
		// The top of one column and the bottom of the next are not a line.
		{"OOXX|X   |O   ", 3, 0},
		{"OXOX|OXOX|XOXO", 4, tie},
	}
	for _, test := range tests {
		board := strings.ReplaceAll(test.board, "|", "")
		p := &position{3, 4, test.connect, []byte(board)}
		if got := p.finished(); got != test.want {
			t.Errorf("%q connect %d: got %d, want %d", test.board, test.connect, got, test.want)
		}
	}
}
