package browser

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestTournament opens the page of a tournament, whose policy forbids everything that is not in the
// file, and replays games with the mouse and the keyboard.
func TestTournament(t *testing.T) {
	dir := t.TempDir()
	for name, arguments := range map[string]string{
		"connectn": "connectn --width 7 --height 6 --connect 4 --seed 1 --threads 1",
		"mancala":  "mancala --seed 1 --threads 1",
	} {
		cmd := exec.Command(play, append(strings.Fields("tournament "+arguments+" -q --html "+filepath.Join(dir, name+".html")),
			"Alice=machine:depth=3", "Bob=random", "</script>=random", "broken=program:exit 3")...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("play tournament: %v\n%s", err, out)
		}
	}
	// A file has no address that tests of requests accept, so a server delivers it.
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	browser := launch(t)
	script, err := os.ReadFile(axe)
	if err != nil {
		t.Fatalf("%v: run make web-tools", err)
	}
	if err := os.MkdirAll(pictures, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"connectn", "mancala"} {
		for _, scheme := range []string{"light", "dark"} {
			for _, width := range []int64{1200, 360} {
				t.Run("tournament-"+name+"-"+scheme+"-"+strconv.Itoa(int(width)), func(t *testing.T) {
					tab := newTab(t, browser)
					tab.run(emulation.SetDeviceMetricsOverride(width, 800, 1, width < 500),
						emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
						chromedp.Navigate(server.URL+"/"+name+".html"))
					tab.want(`document.querySelector('#board svg').getBoundingClientRect().height > 100`, "true")
					tab.want(`document.querySelector('#state').textContent.split('\n')[0]`, "Initial position")
					tab.want(`document.querySelectorAll('#game option').length`, "24")
					tab.want(`document.querySelectorAll('.faults li').length`, "1")
					tab.want(`document.querySelectorAll('.player:not([hidden])').length`, "0")
					tab.want(`document.querySelector('tbody th').textContent`, "Alice")
					tab.run(press("#next"), chromedp.KeyEvent(kb.ArrowRight))
					tab.want(`document.querySelectorAll('#moves .now').length + document.querySelector('#state').textContent.slice(0, 3)`, "12. ")
					tab.run(chromedp.KeyEvent(kb.End))
					tab.want(`/ after \d+ moves?/.test(document.querySelector('#state').textContent)`, "true")
					tab.run(chromedp.KeyEvent(kb.Home))
					tab.want(`document.querySelector('#back').disabled`, "true")
					tab.run(press(`.cross tbody td a`))
					tab.wait(`document.querySelectorAll('#game option').length === 4`)
					tab.run(press(`[aria-labelledby="ranking"] tr:last-child .name a`))
					tab.wait(`[...document.querySelectorAll('.player:not([hidden]) h3')].map(h => h.textContent).join() === 'broken'`)
					tab.run(press(`.player:not([hidden]) .faults a`))
					tab.wait(`/^broken ended without an answer on move \d+; Alice wins \(program: list_commands: no answer \(exit status 3\)\)$/.test(document.querySelector('#state').textContent)`)
					tab.run(chromedp.Evaluate(`location.hash = 'game-2-1'`, nil))
					tab.wait(`document.querySelector('#ply').value === '1' && document.querySelector('#who').textContent.startsWith('Game 2:')`)
					tab.want(`/undefined|NaN/.test(document.body.innerText)`, "false")
					tab.want(`document.documentElement.scrollWidth <= innerWidth`, "true")
					var picture []byte
					tab.run(chromedp.FullScreenshot(&picture, 100))
					if err := os.WriteFile(filepath.Join(pictures, filepath.Base(t.Name())+".png"), picture, 0o666); err != nil {
						t.Error(err)
					}
					tab.accessible(string(script))
				})
			}
		}
	}
}
