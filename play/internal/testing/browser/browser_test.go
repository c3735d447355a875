// Package browser tests the pages of play web in a real Chromium. It is a module of its own, so
// that the programs do not depend on the library that drives the browser. make test-web runs it.
package browser

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const (
	root     = "../../../.."
	driver   = root + "/bin/driver"
	play     = root + "/bin/play"
	pictures = root + "/build/screenshots"
	axe      = root + "/build/axe/node_modules/axe-core/axe.min.js"
	solved   = "/play/connectn/4-4-3" // the page of the table
	table    = "/tables/connectn/4-4-3"
	patience = 3 * time.Minute // a busy machine needs less; after that, something hangs
)

// TestBrowser starts play web with the table of a small board, and uses its pages.
func TestBrowser(t *testing.T) {
	data := solve(t)
	address := serve(t, data)
	browser := launch(t)

	steps := map[string]func(t *tab, column string){
		"mouse": func(t *tab, column string) {
			x, y := t.middle(`.target[y="1"][data-moves="` + column + `"]`)
			t.run(chromedp.MouseClickXY(x, y))
		},
		"touch": func(t *tab, column string) {
			x, y := t.middle(`.target[y="1"][data-moves="` + column + `"]`)
			t.run(input.DispatchTouchEvent(input.TouchStart, []*input.TouchPoint{{X: x, Y: y}}), input.DispatchTouchEvent(input.TouchEnd, []*input.TouchPoint{}))
		},
		"key": func(t *tab, column string) { t.run(chromedp.KeyEvent(column)) },
		"tabulator": func(t *tab, column string) {
			for range 60 {
				if t.text(`document.activeElement.closest('#moves') ? document.activeElement.textContent : ''`) == column {
					t.run(chromedp.KeyEvent(kb.Enter))
					return
				}
				t.run(chromedp.KeyEvent(kb.Tab))
			}
			t.Fatalf("the tabulator key does not reach the button of move %s", column)
		},
		"typed": func(t *tab, column string) { t.run(chromedp.SendKeys("#move", column+kb.Enter)) },
	}
	for name, step := range steps {
		t.Run("game by "+name, func(t *testing.T) {
			tab := open(t, browser, address+solved)
			if name == "touch" { // on a phone
				tab.run(emulation.SetTouchEmulationEnabled(true), emulation.SetDeviceMetricsOverride(360, 640, 2, true))
			}
			var made []string
			for _, column := range []string{"0", "1", "0", "1", "0"} {
				step(tab, column)
				made = append(made, column)
				tab.wait(`new URLSearchParams(location.search).get('moves') === '` + strings.Join(made, ",") + `' && document.querySelectorAll('.piece').length === ` + strconv.Itoa(len(made)))
			}
			tab.want(`document.querySelector('#state').textContent`, "X has won after 5 moves.")
			tab.want(`document.querySelectorAll('#board rect.won').length + ' ' + [...document.querySelectorAll('#board line.won')].map(l => [l.x1, l.y1, l.x2, l.y2].map(v => v.baseVal.value).join()).join(' ')`, "3 0.5,1.5,0.5,3.5")
		})
	}

	t.Run("hints equal the table", func(t *testing.T) {
		tab := open(t, browser, address+solved)
		random := rand.New(rand.NewPCG(1, 2))
		for compared := 0; compared < 20; {
			var moves []string
			for range random.IntN(9) {
				moves = append(moves, strconv.Itoa(random.IntN(4)))
			}
			out, err := exec.Command(driver, append([]string{"lookup", "--data", data, "--json"}, strings.Join(moves, ","))...).Output()
			if len(moves) == 0 || err != nil {
				continue // a full column, or a game that was over before
			}
			var found struct {
				Value      string
				Remoteness int
				Moves      []struct {
					Move, Value string
					Remoteness  int
				}
			}
			if err := json.Unmarshal(out, &found); err != nil {
				t.Fatalf("driver lookup %v: %v", moves, err)
			}
			if len(found.Moves) == 0 {
				continue
			}
			compared++
			tab.visit(address + solved + "?moves=" + strings.Join(moves, ","))
			glyphs := map[string]string{"win": "▲", "lose": "▼", "tie": "=", "draw": "∞"}
			var rows, marks []string
			for _, m := range found.Moves {
				rows = append(rows, fmt.Sprint(m.Move, " ", m.Value, " ", m.Remoteness))
				marks = append(marks, glyphs[m.Value]+strconv.Itoa(m.Remoteness))
			}
			tab.want(`[...document.querySelectorAll('#moves tbody tr')].map(r => [...r.cells].slice(0, 3).map(c => c.textContent.replace(/[^a-z0-9]/g, '')).join(' ')).join()`, strings.Join(rows, ","))
			slices.Sort(marks)
			tab.want(`[...document.querySelectorAll('#board .mark')].map(m => m.textContent.replace('★', '')).sort().join()`, strings.Join(marks, ","))
		}
	})

	t.Run("history, undo and redo", func(t *testing.T) {
		tab := open(t, browser, address+solved+"?moves=1,1,2")
		tab.run(chromedp.KeyEvent("3"))
		tab.wait(`document.querySelectorAll('#history .point').length === 5`)
		tab.settle()
		x, y := tab.middle(`#history tbody tr:nth-of-type(2) .point`)
		tab.run(chromedp.MouseClickXY(x, y))
		tab.wait(`location.search === '?moves=1' && document.querySelectorAll('.piece').length === 1`)
		tab.run(chromedp.KeyEvent(kb.ArrowRight))
		tab.wait(`location.search === '?moves=1%2C1'`)
		tab.run(press("#undo"))
		tab.wait(`location.search === '?moves=1'`)
		tab.run(chromedp.NavigateBack())
		tab.wait(`location.search === '?moves=1%2C1' && document.querySelectorAll('.piece').length === 2`)
	})

	t.Run("the size of a finished board", func(t *testing.T) {
		const size = `document.querySelector('#board svg').getAttribute('viewBox')`
		tab := open(t, browser, address+solved+"?moves=0,1,0,1")
		before := tab.text(size)
		tab.visit(address + solved + "?moves=0,1,0,1,0")
		tab.want(size, before)
	})

	t.Run("a piece falls", func(t *testing.T) {
		for motion, want := range map[string]string{"no-preference": "drop", "reduce": "none"} {
			tab := newTab(t, browser)
			tab.run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: motion}}))
			tab.visit(address + solved + "?moves=1,1")
			tab.want(`[...document.querySelectorAll('.piece.new')].map(p => getComputedStyle(p).animationName).join()`, want)
		}
	})

	t.Run("a shared address", func(t *testing.T) {
		const shown = `document.querySelector('#board').textContent + document.querySelector('.side').innerText.replace(/\d+:\d\d/g, 'clock') + document.querySelectorAll('.piece').length`
		first := open(t, browser, address+solved)
		for i, column := range []string{"2", "2", "1"} {
			steps["key"](first, column)
			first.wait(`document.querySelectorAll('.piece').length === ` + strconv.Itoa(i+1))
		}
		first.settle()
		second := open(t, browser, first.text(`location.href`))
		second.want(shown, first.text(shown))
	})

	t.Run("two machines", func(t *testing.T) { testMachines(t, browser, address) })
	t.Run("the review", func(t *testing.T) { testReview(t, browser, address) })
	t.Run("a page loaded again", func(t *testing.T) { testReload(t, browser, address) })
	t.Run("keys of moves", func(t *testing.T) { testKeys(t, browser, address) })
	t.Run("play", func(t *testing.T) { testPlay(t, browser, address) })
	t.Run("players", func(t *testing.T) { testPlayers(t, browser, address) })
	t.Run("the line", func(t *testing.T) { testLine(t, browser, address) })
	t.Run("practice", func(t *testing.T) { testPractice(t, browser, address) })
	t.Run("threats", func(t *testing.T) { testThreats(t, browser, address) })
	t.Run("the chooser", func(t *testing.T) { testChooser(t, browser, address) })
	t.Run("paths", func(t *testing.T) { testPaths(t, browser, address) })
	t.Run("pending", func(t *testing.T) { testPending(t, browser, address) })
	t.Run("passes", func(t *testing.T) { testPasses(t, browser, address) })
	t.Run("failures", func(t *testing.T) { testFailures(t, browser, address) })
	t.Run("squares", func(t *testing.T) { testSquares(t, browser, address) })
	t.Run("the ring of the focus", func(t *testing.T) { testRing(t, browser, address) })
	t.Run("targets", func(t *testing.T) { testTargets(t, browser, address) })
	t.Run("columns", func(t *testing.T) { testColumns(t, browser, address) })
	t.Run("modes", func(t *testing.T) { testModes(t, browser, address) })
	t.Run("evaluations", func(t *testing.T) { testBars(t, browser, address) })

	t.Run("the board editor", func(t *testing.T) {
		tab := open(t, browser, address+solved)
		tab.expectError = true // a board that is no position
		tab.run(press("#edit"))
		tab.wait(`document.querySelectorAll('#board [role=button]').length === 16 && document.activeElement.id === 'edit'`)
		place := func(piece, column, row int) {
			tab.run(press(fmt.Sprintf(`#tools button:nth-of-type(%d)`, piece)))
			x, y := tab.middle(fmt.Sprintf(`#board [role=button][x="%d"][y="%d"]`, column, row))
			tab.run(chromedp.MouseClickXY(x, y))
		}
		place(2, 1, 3) // X
		tab.run(press("#editor [type=submit]"))
		tab.wait(`location.search === '?from=++++X+++++++++++' && document.querySelectorAll('.piece').length === 1 && document.querySelector('#editor').hidden`)
		tab.run(press("#edit"))
		place(2, 0, 0)
		tab.run(press("#editor [type=submit]"))
		tab.wait(`/piece over an empty square/.test(document.querySelector('#message').textContent)`)
		place(1, 0, 0) // empty
		place(3, 0, 3) // O
		tab.run(chromedp.Focus(`#board [role=button][x="2"][y="3"]`), press(`#tools button:nth-of-type(2)`), chromedp.Focus(`#board [role=button][x="2"][y="3"]`), chromedp.KeyEvent(kb.Enter))
		tab.run(press("#editor [type=submit]"))
		tab.wait(`document.querySelector('#editor').hidden && document.querySelectorAll('.piece').length === 3 && document.querySelector('#message').textContent === ''`)
		tab.run(press("#edit"), press("#cancel"))
		tab.wait(`document.querySelector('#editor').hidden && document.querySelectorAll('#board .mark').length > 0`)
	})

	t.Run("a random position by value", func(t *testing.T) {
		tab := open(t, browser, address+solved)
		tab.wait(`document.querySelectorAll('#board .target').length > 0`)
		tab.run(press("details:has(#drawn) summary"), chromedp.SendKeys("#tier", "5"), chromedp.SendKeys("#remoteness", "3"), chromedp.SetValue("#outcome", "O wins"), press("#drawn button"))
		tab.wait(`document.querySelectorAll('.piece').length === 5`)
		tab.wait(`/O: win in 3/.test(document.querySelector('#worth').textContent)`)
	})

	t.Run("a part of a picture", func(t *testing.T) {
		tab := open(t, browser, address+table)
		tab.visit(tab.text(`new URL(document.querySelector('a.node[href$="moves=2%2C1"]').getAttribute('href'), document.baseURI)`))
		tab.wait(`location.search === '?moves=2%2C1' && document.querySelectorAll('.piece').length === 2`)
	})

	t.Run("start", func(t *testing.T) {
		tab := open(t, browser, address+"/")
		tab.run(press("a.start"))
		tab.wait(`location.pathname.endsWith('/play/connectn/7-6-4') && document.getElementById('seat1').value === 'regular' && location.hash === '#play'`)
		tab.wait(`document.querySelectorAll('#board .target').length > 0`)
		tab.run(chromedp.KeyEvent("3"))
		tab.wait(`document.querySelectorAll('.piece').length === 2`) // the machine has moved
		const rules = `document.querySelector('#rules').checkVisibility() + ' ' + document.activeElement.id`
		tab.run(press("[popovertarget=rules]"))
		tab.wait(rules + ` === 'true rules'`)
		tab.want(`document.querySelector('#rules pre').textContent.includes('0 1 2 3 4 5 6')`, "true")
		tab.run(chromedp.KeyEvent("3"), chromedp.KeyEvent(kb.Escape)) // the key is no move
		tab.wait(`!document.querySelector('#rules').checkVisibility() && document.activeElement.textContent === 'How to play'`)
		tab.run(chromedp.KeyEvent("4"))
		const third = `(new URLSearchParams(location.search).get('moves') ?? '').split(',')[2]`
		tab.wait(third + ` !== undefined`)
		tab.want(third, "4")
	})

	t.Run("start without scripts", func(t *testing.T) {
		tab := newTab(t, browser)
		tab.run(emulation.SetScriptExecutionDisabled(true))
		tab.visit(address + "/")
		tab.want(`document.querySelector('#today').hidden && [...document.querySelectorAll('li:has(.preview)')].every(e => e.querySelector('pre').checkVisibility())`, "true")
		tab.run(press(`a[href*="play/connectn/4-4-3#"]`))
		tab.wait(`location.pathname === '` + solved + `'`)
	})

	t.Run("why", func(t *testing.T) {
		tab := open(t, browser, address+"/play/connectn/7-6-4?moves=0,3,0,4,0,5,1") // X should have played 2 or 6, or won with 0
		tab.wait(`document.querySelectorAll('#board .target').length > 0`)
		tab.want(`document.getElementById('ended').hidden`, "true")
		tab.run(chromedp.KeyEvent("6"))
		tab.wait(`document.getElementById('state').textContent.includes('O has won')`)
		tab.want(`document.getElementById('why').checkVisibility()`, "false")        // it leads here
		tab.run(chromedp.Evaluate(`document.getElementById('review').click()`, nil)) // it is hidden if the analysis has found all values
		tab.wait(`document.getElementById('review').hidden && document.querySelectorAll('#mistakes li').length > 0`)
		tab.want(`[...document.querySelectorAll('#mistakes li')].pop().textContent.startsWith('Move 7 X played 1')`, "true")
		tab.run(press("#again"))
		tab.wait(`location.search === '' && document.getElementById('ended').hidden`)
	})

	t.Run("pages", func(t *testing.T) { testPages(t, browser, address) })
}

// testPages opens every page, light and dark, wide and narrow, checks it and keeps a picture. README.md has
// copies of table-light-1200.png and mancala-light-1200.png, as docs/play/web-table.png and docs/play/web-search.png.
func testPages(t *testing.T, browser context.Context, address string) {
	games := []string{"connectn/7-6-4", "quickcross/4-4-4?moves=a1-,b2|,c3-", "mancala/6-4", "network/regular?moves=24,34,11,44,55,22,06,15,02",
		"mills/9?moves=a1,d2,d1,b2,g1xb2,f4,d3,d5", "dobutsu/regular?moves=Cb3b2,Ec1b2,C*a3", "quixo/4?moves=a1-a4,b1-a1,c1-d1,a2-a1", "teeko/standard?moves=c3,c4,d3,b3,d4", "dodgem/4"}
	pages := map[string]string{"index": "/", "error": "/play/nothing/here", "table": solved + "?moves=1,1,2,0", "over": solved + "?moves=0,1,0,1,0",
		"threats": "/play/mnk/3-3-3?moves=a1,c2,b1,c3", "line": solved + "?moves=0,0", "practice": solved + "?moves=0,0,3,1,2", "play": solved + "?moves=1,1,2#play", "won": solved + "?moves=0,1,0,1,0#play",
		"whole": table, "editor": solved + "?moves=1,1,2,0", "rules": "/play/dobutsu/regular#play", "mills-3": "/play/mills/3?moves=a1,b2"}
	for _, game := range games {
		id, _, _ := strings.Cut(game, "/")
		pages[id] = "/play/" + game
	}
	for name, path := range pages {
		for _, scheme := range []string{"light", "dark"} {
			for _, width := range []int64{1200, 360} {
				t.Run(fmt.Sprintf("%s-%s-%d", name, scheme, width), func(t *testing.T) {
					tab := newTab(t, browser)
					tab.expectError = name == "error"
					tab.emulate(scheme, width)
					tab.visit(address + path)
					if strings.HasPrefix(path, "/play/") && name != "error" {
						tab.want(`document.querySelector('#board svg').getBoundingClientRect().height > 100`, "true")
						tab.want(`document.querySelectorAll('#board .target').length > 0`, strconv.FormatBool(name != "over" && name != "won"))
					}
					if name == "quickcross" || name == "mancala" || name == "network" { // by search
						tab.wait(`document.querySelectorAll('#moves .bar').length > 5 || document.querySelectorAll('#moves td.win').length > 0`)
					}
					if name == "line" {
						tab.run(press("#steps button:nth-of-type(5)"))
						tab.wait(`document.querySelectorAll('.ghost').length === 5`)
						tab.want(`[...document.querySelectorAll('#steps button')].map(b => b.getBoundingClientRect()).some((a, i, all) => all.slice(i + 1).some(b => a.right > b.left && b.right > a.left && a.bottom + 2 > b.top))`, "false")
					}
					if name == "index" { // the button is beside the game of the day
						tab.want(`document.querySelector('.start').getBoundingClientRect().left > document.querySelector('#today').getBoundingClientRect().right`, strconv.FormatBool(width > 500))
					}
					if name == "dobutsu" { // the hands have the colours of their players
						tab.want(`['second', 'first'].map(side => [...document.querySelectorAll('.goal')].filter(g => getComputedStyle(g).stroke === getComputedStyle(document.querySelector('.piece .' + side)).fill).map(g => g.y.baseVal.value.toFixed(1)).join()).join(' ')`, "0.0,0.0,0.0 5.0,5.0,5.0")
					}
					if name == "whole" {
						tab.want(`[...document.querySelectorAll('.picture .chart-label')].every(t => t.getAttribute('font-size') * t.getScreenCTM().a > 9)`, "true")
					}
					if name == "practice" {
						tab.run(press("#practise"))
						tab.wait(`document.activeElement.id === 'practice'`)
						tab.run(chromedp.KeyEvent("3"), chromedp.WaitVisible("#why-wrong"))
					}
					if name == "rules" {
						tab.run(press("[popovertarget=rules]"), chromedp.WaitVisible("#rules pre"))
						tab.want(`(r => r.getBoundingClientRect().left + r.clientLeft + r.clientWidth - r.querySelector('button').getBoundingClientRect().right)(document.querySelector('#rules'))`, "0")
					}
					if name == "threats" { // the browser keeps this setting
						tab.run(press("#threats"))
						defer tab.run(press("#threats"))
					}
					tab.want(`[...document.querySelectorAll('[id]')].map(e => e.id).filter((id, i, all) => all.indexOf(id) !== i).join()`, "")
					tab.want(overlaps, "")
					tab.want(`[...document.querySelectorAll('#board .mark')].filter(m => (b => b.width > 1 || Math.floor(b.x) !== Math.floor(b.x + b.width))(m.getBBox())).map(m => m.textContent).join()`, "")
					if name == "editor" {
						tab.run(press("#edit"), press("details summary"))
					}
					tab.keep()
				})
			}
		}
	}
}

// overlaps names the marks that lie over a piece.
const overlaps = `[...document.querySelectorAll('#board .mark')].filter(m => [...document.querySelectorAll('#board .piece')].some(p =>
	(([a, b]) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)([m, p].map(e => e.getBoundingClientRect())))).map(m => m.textContent).join()`

// solve solves the board of the page solved, and returns the data directory.
func solve(t *testing.T) string {
	data := filepath.Join(t.TempDir(), "data")
	if out, err := exec.Command(driver, "solve", "connectn", "--width", "4", "--height", "4", "--connect", "3", "--data", data).CombinedOutput(); err != nil {
		t.Fatalf("driver solve: %v\n%s", err, out)
	}
	return data
}

// serve starts play web, and returns its address. The server has no Hadoop: it would look up a data
// directory that is still absent in the cluster of make cluster-up, which another test may start and stop.
func serve(t *testing.T, data ...string) string {
	cmd := exec.Command(play, "web", "--listen", "localhost:0", "--searches", "1")
	for _, dir := range data {
		cmd.Args = append(cmd.Args, "--data", dir)
	}
	cmd.Env = append(os.Environ(), "HADOOP_CONF_DIR="+t.TempDir())
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Errorf("play web: %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("play web: no address: %v", err)
	}
	return strings.TrimSuffix(strings.TrimSpace(line), "/")
}

// launch starts the browser.
func launch(t *testing.T) context.Context {
	allocator, end := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath("chromium-headless-shell"), chromedp.NoSandbox)...)
	t.Cleanup(end)
	ctx, _ := chromedp.NewContext(allocator)
	t.Cleanup(func() { chromedp.Cancel(ctx) }) // waits until the browser has ended, with all of its processes
	if err := chromedp.Run(ctx); err != nil {
		t.Fatal(err)
	}
	return ctx
}

// A tab is an open page. Messages on its console and requests to other servers fail its test.
type tab struct {
	*testing.T
	ctx         context.Context
	expectError bool // an answer has an error status, which the console shows
}

// newTab opens an empty page.
func newTab(t *testing.T, browser context.Context) *tab {
	ctx, end := chromedp.NewContext(browser)
	tab := &tab{T: t, ctx: ctx}
	problems := make(chan string, 1000)
	chromedp.ListenTarget(ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventConsoleAPICalled:
			for _, a := range e.Args {
				problems <- fmt.Sprintf("console: %s", a.Value)
			}
		case *runtime.EventExceptionThrown:
			problems <- "exception: " + e.ExceptionDetails.Error()
		case *log.EventEntryAdded:
			if !tab.expectError || e.Entry.Source != log.SourceNetwork {
				problems <- "console: " + e.Entry.Text + " " + e.Entry.URL
			}
		case *network.EventRequestWillBeSent:
			if u, err := url.Parse(e.Request.URL); err != nil || u.Scheme != "data" && u.Hostname() != "127.0.0.1" && e.Request.URL != "about:blank" {
				problems <- "request to " + e.Request.URL
			}
		}
	})
	t.Cleanup(func() {
		end()
		for len(problems) > 0 {
			t.Error(<-problems)
		}
	})
	// The tab closes when the context of its first call of Run ends.
	if err := chromedp.Run(ctx, network.Enable(), log.Enable()); err != nil {
		t.Fatal(err)
	}
	return tab
}

// open opens a page.
func open(t *testing.T, browser context.Context, address string) *tab {
	tab := newTab(t, browser)
	tab.visit(address)
	return tab
}

// visit loads a page, and waits until it is complete.
func (t *tab) visit(address string) {
	t.Helper()
	t.run(chromedp.Navigate(address))
	t.settle()
}

// emulate sets the colour scheme and the width of the page.
func (t *tab) emulate(scheme string, width int64) {
	t.Helper()
	t.run(emulation.SetDeviceMetricsOverride(width, 800, 1, width < 500).WithScreenWidth(width).WithScreenHeight(800),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}))
}

// keep checks the page, and keeps a picture of it that has the name of the test.
func (t *tab) keep() {
	t.Helper()
	script, err := os.ReadFile(axe)
	if err != nil {
		t.Fatalf("%v: run make test-web", err)
	}
	if err := os.MkdirAll(pictures, 0o777); err != nil {
		t.Fatal(err)
	}
	t.want(`/undefined|NaN/.test(document.body.textContent)`, "false")
	t.want(`document.documentElement.scrollWidth <= screen.width`, "true")
	var picture []byte
	t.run(chromedp.FullScreenshot(&picture, 100))
	if err := os.WriteFile(filepath.Join(pictures, filepath.Base(t.Name())+".png"), picture, 0o666); err != nil {
		t.Error(err)
	}
	t.accessible(string(script))
}

// settle waits until the page shows its position and, to analyse, an analysis that does not come from a
// table is under way.
func (t *tab) settle() {
	t.Helper()
	t.wait(`!document.querySelector('#known') || / after \d+ move/.test(document.querySelector('#state').textContent) || document.body.dataset.mode === 'play' || document.querySelector('#search') !== null`)
}

// run does something in the page.
func (t *tab) run(actions ...chromedp.Action) {
	t.Helper()
	if err := t.try(actions...); err != nil {
		t.Fatal(err)
	}
}

func (t *tab) try(actions ...chromedp.Action) error {
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	return chromedp.Run(ctx, actions...)
}

// text returns the value of an expression in JavaScript.
func (t *tab) text(expression string) string {
	t.Helper()
	var value string
	t.run(asText(expression, &value))
	return value
}

func asText(expression string, value *string) chromedp.Action {
	return chromedp.Evaluate("String("+expression+")", value)
}

// wait waits until an expression is true. An error means that it is not true yet: a page that is
// being replaced ends an evaluation, and a page that is not complete lacks elements.
func (t *tab) wait(expression string) {
	t.Helper()
	var value string
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		err := t.try(asText(expression, &value))
		if err == nil && value == "true" {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s: not true after %v at %s: %v: %s", expression, patience, t.text("location.href"), err, t.text("document.body.innerText"))
		}
	}
}

// press presses a button or follows a link with the keyboard, once it is visible. A click with the mouse misses the
// button if the page moves it in the same moment. The query runs in the page: those of chromedp fail while
// a page is being replaced.
func press(selector string) chromedp.Action {
	focus := fmt.Sprintf(`(e => { if (!e?.checkVisibility()) return false; e.focus(); return document.activeElement === e; })(document.querySelector(%q))`, selector)
	return chromedp.ActionFunc(func(ctx context.Context) error {
		var focused bool
		for {
			err := chromedp.Evaluate(focus, &focused).Do(ctx)
			if err == nil && focused {
				return chromedp.KeyEvent(kb.Enter).Do(ctx)
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("press %s: not visible: %w", selector, errors.Join(err, ctx.Err()))
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
}

// want checks the value of an expression.
func (t *tab) want(expression, want string) {
	t.Helper()
	if got := t.text(expression); got != want {
		t.Errorf("%s: %s is\n%s, want\n%s", t.text("location.href"), expression, got, want)
	}
}

// middle returns the place of an element, once that does not change for a moment: parts of a page
// that come later move the others.
func (t *tab) middle(selector string) (x, y float64) {
	t.Helper()
	type spot struct{ X, Y float64 }
	for last := (spot{-1, -1}); ; time.Sleep(100 * time.Millisecond) {
		var place spot
		t.run(chromedp.Evaluate(`(e => { e.scrollIntoView({ block: 'nearest' }); const r = e.getBoundingClientRect(); return { X: r.x + r.width / 2, Y: r.y + r.height / 2 }; })(document.querySelector('`+selector+`'))`, &place))
		if place == last {
			return place.X, place.Y
		}
		last = place
	}
}

// accessible checks the page by the rules of WCAG 2.2 AA and best practice. It logs what axe-core
// could not decide.
func (t *tab) accessible(axe string) {
	t.Helper()
	type rule struct{ ID, Help, Nodes string }
	var found struct{ Violations, Incomplete []rule }
	t.run(chromedp.Evaluate(axe+"; 0", nil), chromedp.Evaluate(`axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }).then(r => {
		const short = rules => rules.map(r => ({ ID: r.id, Help: r.help, Nodes: r.nodes.slice(0, 5).map(n => n.html.slice(0, 200)).join(' ') }));
		return { Violations: short(r.violations), Incomplete: short(r.incomplete) };
	})`, &found, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	for _, r := range found.Violations {
		t.Errorf("%s: %s: %s", r.ID, r.Help, r.Nodes)
	}
	for _, r := range found.Incomplete {
		t.Logf("axe-core cannot decide: %s: %s", r.ID, r.Help)
	}
}
