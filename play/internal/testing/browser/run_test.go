package browser

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// A held run is solved by a driver whose programs wait while files exist, so that a test can look
// at it at leisure.
type held struct {
	*testing.T
	dir, mapper string
}

func newHeld(t *testing.T) held {
	mapper, err := filepath.Abs(root + "/bin/mapper")
	if err != nil {
		t.Fatal(err)
	}
	return held{t, t.TempDir(), mapper}
}

// data returns the name of the data directory.
func (h held) data() string { return filepath.Join(h.dir, "data") }

// hold makes the programs of a step wait, and release lets them go on.
func (h held) hold(step string) {
	if err := os.WriteFile(filepath.Join(h.dir, step), nil, 0o666); err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() { h.release(step) })
}

func (h held) release(step string) { os.RemoveAll(filepath.Join(h.dir, step)) }

// solve starts driver solve. The mappers of a step wait from the given one on, while the step is
// held. The test ends the driver.
func (h held) solve(flags ...string) *exec.Cmd {
	waits := func(step string, from int) string {
		return fmt.Sprintf("%s_map=echo >>%[2]s/%[1]s.log; while [ -e %[2]s/%[1]s ] && [ $(wc -l <%[2]s/%[1]s.log) -ge %[3]d ]; do sleep .05; done; exec %[4]s %[1]s",
			step, h.dir, from, h.mapper)
	}
	cmd := exec.Command(driver, append([]string{"solve", "connectn", "--width", "4", "--height", "5", "--connect", "3", "--data", h.data(), "--runner", "pipe", "--reducers", "1",
		"--program", waits("possible", 8), "--program", waits("solve", 12)}, flags...)...)
	printed := new(bytes.Buffer)
	cmd.Stderr = printed
	if err := cmd.Start(); err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		if h.Failed() {
			h.Logf("%s:\n%s", cmd, printed)
		}
	})
	return cmd
}

// inAllForms opens a page, light and dark, wide and narrow, checks it and keeps pictures.
func inAllForms(t *testing.T, browser context.Context, name, address, ready string) {
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1200, 360} {
			t.Run(fmt.Sprintf("%s-%s-%d", name, scheme, width), func(t *testing.T) {
				tab := newTab(t, browser)
				tab.emulate(scheme, width)
				tab.visit(address)
				tab.wait(ready)
				tab.keep()
			})
		}
	}
}

// The state of a run on its page, and the values of its progress bars.
const (
	state = `document.querySelector('.state').textContent`
	bars  = `[...document.querySelectorAll('progress')].map(p => p.value)`
)

// TestRun watches a run from before its start to its end, and then plays the solved game, with
// one page that is not loaded again.
func TestRun(t *testing.T) {
	h := newHeld(t)
	server := serve(t, h.data())
	browser := launch(t)
	page := server + "/run?data=" + url.QueryEscape(h.data())
	tab := open(t, browser, page)
	tab.want(state, "no run has begun")
	inAllForms(t, browser, "run-absent", page, state+` === 'no run has begun'`)

	h.hold("possible")
	h.hold("solve")
	cmd := h.solve()
	forward := state + ` === 'running' && ` + bars + `[1] >= 3 && ` + bars + `[1] < 21 && ` + bars + `[2] === 0`
	tab.wait(forward)
	tab.want(`document.querySelector('.game').textContent`, "Connect 3 on 4×5")
	inAllForms(t, browser, "run-forward", page, forward)
	tab.run(chromedp.Focus(`[aria-label="Table: jobs"]`))
	h.release("possible")
	back := state + ` === 'running' && ` + bars + `[1] === 21 && ` + bars + `[2] >= 2 && ` + bars + `[2] < 21`
	tab.wait(back)
	tab.want(`document.activeElement.getAttribute('aria-label')`, "Table: jobs")
	inAllForms(t, browser, "run-back", page, back)
	inAllForms(t, browser, "run-index", server, `document.querySelector('a[href*="/run"]').parentElement.textContent.includes('running')`)
	h.release("solve")
	if err := cmd.Wait(); err != nil {
		t.Fatalf("driver solve: %v", err)
	}
	tab.wait(state + ` === 'solved' && ` + bars + `.join() === '1,21,21'`)
	tab.want(`getComputedStyle(document.querySelector(".state")).backgroundColor`, "rgba(0, 0, 0, 0)")
	tab.want(`document.activeElement.getAttribute('aria-label')`, "Table: jobs")
	inAllForms(t, browser, "run-solved", page, state+` === 'solved'`)
	inAllForms(t, browser, "run-solved-index", server, `document.querySelector('#today a').textContent.includes('Connect 3 on 4×5 solved')`)
	tab.run(press(".links a"))
	tab.wait(`location.pathname === '/play/connectn/4-5-3' && document.querySelector('#search')?.textContent === 'From the table.'`)
}

// TestRunFails watches a run whose driver is killed, that fails after it was resumed, and that is
// resumed once more.
func TestRunFails(t *testing.T) {
	h := newHeld(t)
	server := serve(t, h.data())
	browser := launch(t)
	page := server + "/run?data=" + url.QueryEscape(h.data())
	tab := open(t, browser, page)
	h.hold("possible")
	cmd := h.solve()
	tab.wait(state + ` === 'running'`)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	const died = `/^died .*--resume continues$/.test(` + state + `)`
	tab.wait(died)
	inAllForms(t, browser, "run-died", page, died)
	h.release("possible")
	if err := h.solve("--resume", "--program", "solve_reduce=echo No space left on device >&2; exit 1").Wait(); err == nil {
		t.Error("the driver did not fail")
	}
	tab.wait(state + ` === 'failed'`)
	tab.wait(`/^error: data_second\d+: solve_reduce \(task 0\): No space left on device$/.test(document.querySelector('.trouble').textContent)`)
	inAllForms(t, browser, "run-failed", page, state+` === 'failed'`)
	if err := h.solve("--resume").Wait(); err != nil {
		t.Errorf("driver solve --resume: %v", err)
	}
	tab.wait(state + ` === 'solved' && document.querySelector('.trouble') === null`)
}
