package referee_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/treereduce/treereduce/internal/play/player"
	"github.com/treereduce/treereduce/internal/play/referee"
	"github.com/treereduce/treereduce/internal/play/sandbox"
)

// A stallingClock is a clock that stalls: suddenly more time has passed.
type stallingClock struct{ stalled atomic.Int64 }

func (c *stallingClock) Now() time.Time { return time.Now().Add(time.Duration(c.stalled.Load())) }
func (c *stallingClock) After(d time.Duration) <-chan time.Time {
	return time.After(d)
}
func (c *stallingClock) stall(d time.Duration) { c.stalled.Add(int64(d)) }

// TestDelay checks that a delay of the machine, which the referee's clock shows, is not charged to
// the player.
func TestDelay(t *testing.T) {
	clock := new(stallingClock)
	stalls := does(func(context.Context, *player.History, time.Duration) (string, error) {
		clock.stall(time.Hour)
		return "0", nil
	})
	const limit = 20 * time.Second // not exceeded on any machine
	r := referee.Rules{Clock: clock}
	p, err := r.Play(t.Context(), gameOf(t, three), [2]referee.Seat{{Player: stalls, Limit: limit}, {Player: plays("1")}}, nil)
	if err != nil || p.Reason != referee.Finished || p.Times[0] < time.Hour {
		t.Error(p, err)
	}
}

// TestReplayed checks that a game is played again if a player may have been late because of a delay,
// that this is counted, and that the player loses if it happens again and again.
func TestReplayed(t *testing.T) {
	const limit = 300 * time.Millisecond
	for stalled, want := range map[int]string{0: "[finished] 0", 2: "[finished] 2", 9: "[late] 3"} {
		clock, made := new(stallingClock), 0
		m := referee.Match{Game: gameOf(t, three), Games: 1, Rules: referee.Rules{Clock: clock}, Entrants: [2]referee.Entrant{
			{Name: "A", Limit: limit, New: func(context.Context) (player.Player, error) {
				made++
				number := made
				return does(func(context.Context, *player.History, time.Duration) (string, error) {
					if number <= stalled {
						clock.stall(time.Hour)
						time.Sleep(2 * limit) // the clock may have stalled here, too
					}
					return "0", nil
				}), nil
			}}, entrant("B", plays("1"))}}
		var reasons []string
		m.Report = func(p referee.Played) error { reasons = append(reasons, p.Reason.String()); return nil }
		s, _, err := m.Play(t.Context())
		if got := fmt.Sprint(reasons, " ", s[0].Replayed); err != nil || got != want {
			t.Errorf("%d stalls: %s, %v, want %s", stalled, got, err, want)
		}
	}
}

// worker is a program that needs some CPU time for each move, or sleeps.
const worker = `
import sys, time
for line in sys.stdin:
    number, command, *_ = line.split()
    answer = ""
    if command == "genmove":
        end = time.process_time() + float(sys.argv[1])
        while time.process_time() < end:
            pass
        time.sleep(float(sys.argv[2]))
        answer = "0"
    print("=%s %s\n" % (number, answer), flush=True)
`

// TestProgramTime runs a program beside busy loops: the time that it waits for a CPU is not charged
// to it, and its CPU time is known.
func TestProgramTime(t *testing.T) {
	if !player.CanMeter {
		t.Skip("this system does not show the CPU time of programs")
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("the program wants a python3")
	}
	file := filepath.Join(t.TempDir(), "worker.py")
	if err := os.WriteFile(file, []byte(worker), 0o666); err != nil {
		t.Fatal(err)
	}
	none, limits := sandbox.Limits{}, sandbox.Limits{CPU: time.Second} // in each of three games
	for _, tt := range []struct {
		name, work, sleep string
		limit             time.Duration
		byCPU             bool
		want              referee.Reason
		limits            sandbox.Limits
	}{
		{"works", "0.3", "0", 600 * time.Millisecond, false, referee.Finished, none},
		{"works by CPU time", "0.3", "0", 600 * time.Millisecond, true, referee.Finished, none},
		{"sleeps", "0", "30", time.Second, false, referee.Late, none},
		{"sleeps by CPU time", "0", "1", 500 * time.Millisecond, true, referee.Finished, none},
		{"works too long", "5", "0", 500 * time.Millisecond, false, referee.Late, none},
		{"works too long by CPU time", "5", "0", 500 * time.Millisecond, true, referee.Late, none},
		{"works within limits", "0.6", "0", 1200 * time.Millisecond, false, referee.Finished, limits},
		{"works too long within limits", "5", "0", 500 * time.Millisecond, true, referee.Late, sandbox.Limits{Memory: 1 << 30}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := player.NewProgram(t.Context(), gameOf(t, three), fmt.Sprintf("exec %s %s %s %s", python, file, tt.work, tt.sleep), "", tt.limits)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			for range 3 {
				loop := exec.Command("sh", "-c", "while :; do :; done")
				if err := loop.Start(); err != nil {
					t.Fatal(err)
				}
				defer func() { loop.Process.Kill(); loop.Wait() }()
			}
			r := referee.Rules{ByCPU: tt.byCPU, Grace: 100 * time.Millisecond}
			games := 1
			if tt.limits != none && tt.want == referee.Finished {
				games = 3
			}
			for range games {
				got, err := r.Play(t.Context(), gameOf(t, "mnk width=1 height=1 connect=1"), [2]referee.Seat{{Player: answers{p, "a1"}, Limit: tt.limit}, {}}, nil)
				if err != nil || got.Reason != tt.want || got.CPU[0] == referee.NoCPU || strings.HasPrefix(tt.work, "0.") && got.CPU[0] < 200*time.Millisecond {
					t.Errorf("%v, %+v, want %v", err, got, tt.want)
				}
			}
		})
	}
}

// answers is a program whose answer is replaced by a legal move.
type answers struct {
	*player.Program
	move string
}

func (a answers) Move(ctx context.Context, h *player.History, limit time.Duration) (string, error) {
	if _, err := a.Program.Move(ctx, h, limit); err != nil {
		return "", err
	}
	return a.move, nil
}
