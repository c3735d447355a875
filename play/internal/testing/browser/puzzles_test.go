package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/serviceworker"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const (
	puzzles = "/puzzles/connectn/4-4-3"
	posed   = `(document.querySelectorAll('#board .piece').length > 0 && !document.querySelector('#solution').hidden)`
	asked   = `document.querySelector('#asked').textContent`
	message = `document.querySelector('#message').textContent`
	waiting = `document.querySelector('#due').textContent`
)

// saved is what the browser has saved.
const saved = `JSON.parse(localStorage.getItem('treereduce'))`

// shownPuzzle is the puzzle on the page.
const shownPuzzle = `new URL(document.querySelector('#look').href).search + ' ' + document.querySelector('#state').textContent + ' ' + document.querySelector('#board svg').ariaLabel`

// eval returns the value of an expression that is a promise.
func (t *tab) eval(expression string) (value string) {
	t.Helper()
	t.run(chromedp.Evaluate("(async () => String("+expression+"))()", &value, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	return value
}

// save replaces what the browser has saved.
func (t *tab) save(text string) {
	t.Helper()
	t.run(chromedp.Evaluate(`localStorage.setItem('treereduce', `+strconv.Quote(text)+`)`, nil))
}

// before runs a script before those of the pages that the tab loads.
func (t *tab) before(script string) {
	t.Helper()
	t.run(chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(script).Do(ctx)
		return err
	}))
}

// at shows the pages of the tab in a time zone, at a time.
func (t *tab) at(zone, utc string) {
	t.Helper()
	t.run(emulation.SetTimezoneOverride(zone))
	t.before(`{ const Real = Date, shift = Real.parse('` + utc + `') - Real.now();
		Date = class extends Real { constructor(...of) { if (of.length) super(...of); else super(Real.now() + shift); } static now() { return Real.now() + shift; } }; }`)
}

// right returns the answer to the puzzle on the page, and another move.
func (t *tab) right() (right, wrong string) {
	t.Helper()
	right, wrong, _ = strings.Cut(t.eval(`(({ move, marks }) => move + ' ' + marks.find(({ name }) => name !== move).name)(await (await fetch(document.body.dataset.view + '/answer' + new URL(document.querySelector('#look').href).search)).json())`), " ")
	return right, wrong
}

// TestPuzzlePages checks the pages of puzzles in all forms.
func TestPuzzlePages(t *testing.T) {
	address, chromium := serve(t, solve(t)), launch(t)
	inAllForms(t, chromium, "puzzles", address+puzzles, posed)
	inAllForms(t, chromium, "puzzles-none", address+"/puzzles/mills/9", `document.querySelector('#due').disabled`)
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1200, 390} {
			t.Run(fmt.Sprintf("puzzles-answer-%s-%d", scheme, width), func(t *testing.T) {
				tab := newTab(t, chromium)
				tab.emulate(scheme, width)
				tab.visit(address + puzzles + "?grade=hard")
				tab.save(`{"version":1,"mistakes":{"mnk/3-3-3?moves=a1":{"step":0,"due":"2020-01-01"}},"days":{},"games":[` + gameOf("connectn/4-4-3", "casual", "win") + `,` + gameOf("connectn/4-4-3", "regular", "tie") + `]}`)
				tab.wait(posed)
				tab.run(press("#solution"))
				tab.wait(asked + `.startsWith('The answer is ') && document.activeElement.id === 'another'`)
				tab.keep()
			})
		}
	}
	tab := newTab(t, chromium)
	tab.run(emulation.SetTouchEmulationEnabled(true), emulation.SetDeviceMetricsOverride(390, 844, 2, true))
	for _, path := range []string{puzzles, "/puzzles/quickcross/3-3-3?moves=a1-,b2-,c3%7C"} {
		tab.visit(address + path)
		tab.wait(`document.querySelectorAll('#board .target').length > 0`)
		tab.want(`[...document.querySelectorAll('button, input, summary, #board .target')].filter(e => e.checkVisibility() && (r => r.width < 44 || r.height < 44)(e.getBoundingClientRect())).map(e => e.outerHTML).join('\n')`, "")
		tab.want(`document.documentElement.scrollWidth <= 390`, "true")
	}
}

// gameOf returns a game as it is saved.
func gameOf(game, level, result string) string {
	return fmt.Sprintf(`{"game":%q,"at":1764460800000,"play":"moves=0","side":0,"level":%q,"adapts":true,"result":%q}`, game, level, result)
}

// TestAnswers answers puzzles with the mouse, the keyboard and buttons. One that was not solved comes again: tomorrow, and then
// after 3, 7 and 21 days.
func TestAnswers(t *testing.T) {
	chromium, address := launch(t), serve(t, solve(t))
	const mistakes = `Object.values(` + saved + `.mistakes).map(m => m.step + ' ' + m.due).join()`
	var tab *tab
	visit := func(date string) {
		t.Helper()
		tab = newTab(t, chromium)
		tab.at("UTC", date+"T12:00:00Z")
		tab.visit(address + puzzles)
		tab.wait(posed)
	}
	visit("2026-11-30")
	tab.want(`document.querySelector('[aria-pressed=true]').value + ' ' + document.querySelectorAll('.threat, .mark').length`, "easy 0")
	right, wrong := tab.right()
	x, y := tab.middle(`.target[y="1"][data-moves="` + wrong + `"]`)
	tab.run(chromedp.MouseClickXY(x, y))
	tab.wait(asked + `.startsWith('Wrong: ` + wrong + `: ') && ` + asked + `.endsWith(' Try another move.')`)
	tab.run(chromedp.MouseClickXY(x, y))
	tab.wait(asked + `.startsWith('Wrong, try 2: ` + wrong + `: ')`)
	tab.want(mistakes, "0 2026-12-01")
	tab.run(chromedp.Focus(`#board [role=button][aria-label="move `+right+`"]`), chromedp.KeyEvent(kb.Enter))
	tab.wait(asked + `.startsWith('Right: ` + right + `: ') && ` + asked + `.endsWith(' It comes again on 2026-12-01.')`)
	tab.want(`document.querySelectorAll('.mark').length > 1 && document.activeElement.closest('#board') !== null`, "true")
	tab.want(mistakes, "0 2026-12-01") // the first answer counts
	const easy = `document.querySelector('[value=easy]').textContent + ', ' + document.querySelector('[value=easy]').ariaLabel`
	tab.want(easy, "easy ✗, easy, wrong")
	tab.run(chromedp.Reload())
	tab.wait(posed)
	tab.run(press(`#board [role=button][aria-label="move ` + right + `"]`))
	tab.wait(asked + `.startsWith('Right')`)
	tab.want(mistakes, "0 2026-12-01") // it was not due
	tab.want(easy, "easy ✗, easy, wrong")

	for _, step := range []struct{ date, due, again string }{
		{"2026-12-01", "1 2026-12-04", "2026-12-03"}, {"2026-12-04", "2 2026-12-11", "2026-12-10"}, {"2026-12-12", "3 2027-01-02", "2027-01-01"}, {"2027-01-02", "", "2028-01-01"},
	} {
		visit(step.date)
		tab.run(press("#due"))
		tab.wait(`new URL(document.querySelector('#look').href).search === location.search && location.search.startsWith('?moves=') && ` + posed)
		if now, _ := tab.right(); now != right {
			t.Fatalf("the mistake has the answer %s, want %s", now, right)
		}
		x, y := tab.middle(`.target[y="1"][data-moves="` + right + `"]`)
		tab.run(chromedp.MouseClickXY(x, y))
		tab.wait(asked + `.startsWith('Right')`)
		tab.want(mistakes, step.due)
		visit(step.again)
		tab.want(`document.querySelector('#due').disabled`, "true")
	}
	tab.run(press("[value=hard]"))
	tab.wait(`document.querySelector('[value=hard]').ariaPressed === 'true' && location.search === '?grade=hard' && ` + posed)
	tab.run(press("#solution"))
	tab.wait(asked + `.startsWith('The answer is ')`)
	tab.want(mistakes, "0 2028-01-02")
	seen := map[string]bool{tab.text(shownPuzzle): true}
	for range 10 {
		last := tab.text(shownPuzzle)
		tab.run(press("#another"))
		tab.wait(posed + ` && ` + shownPuzzle + ` !== ` + strconv.Quote(last))
		if now := tab.text(shownPuzzle); seen[now] {
			t.Errorf("%s: repeated", now)
		} else {
			seen[now] = true
		}
	}
	const at = `document.querySelector('#look').href + document.querySelector('#board svg').ariaLabel`
	last := tab.text(at)
	tab.visit(tab.text("location.href"))
	tab.wait(posed)
	tab.want(at, last)
}

// TestSeveral answers a puzzle of a game in which a click can mean several moves.
func TestSeveral(t *testing.T) {
	tab := open(t, launch(t), serve(t)+"/puzzles/quickcross/3-3-3?moves=a1-,b2-,c3%7C")
	tab.wait(posed)
	x, y := tab.middle(`#board [role=button][x="0"][y="1"]`)
	tab.run(chromedp.MouseClickXY(x, y))
	const listed = `[...document.querySelectorAll('#chooser button')].filter(b => b.checkVisibility()).map(b => b.textContent).join()`
	tab.wait(listed + ` === 'a2-,a2|'`)
	tab.run(chromedp.KeyEvent(kb.Escape)) // not this square
	tab.want(listed+` + document.activeElement.closest('svg').parentElement.id`, "board")
	tab.run(chromedp.MouseClickXY(x, y), press("#chooser button"))
	tab.wait(asked + `.startsWith('Right: a2-') || ` + asked + `.startsWith('Wrong: a2-')`)
}

// TestDaily compares the puzzles of a day on a server, in a site whose table has other files, and in time zones in which it is
// another day elsewhere.
func TestDaily(t *testing.T) {
	data, other := solve(t), filepath.Join(t.TempDir(), "data")
	if out, err := exec.Command(driver, "solve", "connectn", "--width", "4", "--height", "4", "--connect", "3", "--data", other, "--runner", "pipe").CombinedOutput(); err != nil {
		t.Fatalf("driver solve: %v\n%s", err, out)
	}
	if string(read(t, data)) == string(read(t, other)) {
		t.Fatal("the tables have the same files")
	}
	address, chromium := serve(t, data), launch(t)
	server := serveSite(t, export(t, other), false)
	all := func(root, zone, utc string) (shown string) {
		tab := newTab(t, chromium)
		tab.at(zone, utc)
		if root != address {
			tab.run(chromedp.Navigate(root + "/"))
			tab.wait(`document.querySelectorAll('.cards li').length > 5`)
		}
		for _, grade := range []string{"easy", "medium", "hard"} {
			tab.run(chromedp.Navigate(root + puzzles + "?grade=" + grade))
			tab.wait(posed + ` && location.search === '?grade=` + grade + `'`)
			right, _ := tab.right()
			shown += tab.text(shownPuzzle) + " " + right + "\n"
		}
		return shown
	}
	site := server.URL + "/games"
	want := all(address, "UTC", "2026-11-30T12:00:00Z")
	for _, of := range [][3]string{
		{address, "Pacific/Kiritimati", "2026-11-29T10:30:00Z"}, {address, "Pacific/Pago_Pago", "2026-12-01T10:30:00Z"},
		{site, "UTC", "2026-11-30T00:00:00Z"}, {site, "Pacific/Pago_Pago", "2026-12-01T10:30:00Z"},
	} {
		if got := all(of[0], of[1], of[2]); got != want {
			t.Errorf("%q:\n%swant\n%s", of, got, want)
		}
	}
	if got := all(address, "Pacific/Pago_Pago", "2026-12-01T11:30:00Z"); got == want {
		t.Errorf("the next day has the same puzzles:\n%s", got)
	}
}

// TestOffline loads a puzzle of the day of a site, and again without the server: the site keeps the parts of the table.
func TestOffline(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	if out, err := exec.Command(driver, "solve", "connectn", "--width", "5", "--height", "5", "--connect", "4", "--data", data).CombinedOutput(); err != nil {
		t.Fatalf("driver solve: %v\n%s", err, out)
	}
	server, chromium := serveSite(t, export(t, data), false), launch(t)
	tab := newTab(t, chromium)
	tab.openSite(server)
	show := func() string {
		tab.run(chromedp.Navigate(server.URL + "/games/puzzles/connectn/5-5-4?grade=hard"))
		tab.wait(posed)
		right, _ := tab.right()
		return tab.text(shownPuzzle) + right
	}
	want := show()
	server.Close()
	tab.run(serviceworker.Enable(), serviceworker.StopAllWorkers(), network.ClearBrowserCache()) // which have parts of the table, too
	if got := show(); got != want {
		t.Errorf("%s, without the server %s", want, got)
	}
}

// read returns the first file of a table.
func read(t *testing.T, data string) []byte {
	content, err := os.ReadFile(filepath.Join(data, "table", "tier-00.pack"))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// TestStorage checks that nothing is lost without a word: if the storage is full, has been deleted, is forbidden, or has what
// the page does not read.
func TestStorage(t *testing.T) {
	chromium, address := launch(t), serve(t, solve(t))
	fail := func(on *tab) { // answers wrong
		t.Helper()
		on.run(chromedp.Reload())
		on.wait(posed)
		on.run(press("#solution"))
		on.wait(asked + ` !== ''`)
	}
	tab := open(t, chromium, address+puzzles)
	tab.wait(posed)
	const mistakes = `Object.keys(` + saved + `.mistakes).length`
	fail(tab)
	tab.want(mistakes+` + `+message, "1")

	tab.run(chromedp.Evaluate(`localStorage.removeItem('treereduce')`, nil), press("[value=medium]"))
	tab.wait(posed + ` && location.search === '?grade=medium'`)
	tab.want(message, "What was saved in this browser has been deleted meanwhile.")
	tab.run(press("#solution"))
	tab.wait(asked + ` !== ''`)
	tab.want(mistakes, "1")

	tab.run(chromedp.Evaluate(`{ let text = 'x'.repeat(1 << 20); for (let i = 0; text; i++) try { localStorage['full' + i] = text; } catch { text = text.slice(1 + text.length / 2); } }`, nil))
	before := tab.text(`localStorage.treereduce`)
	tab.run(press("[value=hard]"))
	tab.wait(posed + ` && location.search === '?grade=hard'`)
	tab.run(press("#solution"))
	tab.wait(message + ` === 'This is not saved: the storage of this browser for this site is full. Export what is saved, then delete it.'`)
	tab.want(`localStorage.treereduce`, before)
	tab.run(chromedp.Evaluate(`Object.keys(localStorage).filter(k => k.startsWith('full')).forEach(k => localStorage.removeItem(k))`, nil))

	for text, says := range map[string]string{
		`{"version":2,"games":{"new":1}}`: "has version 2, and this page reads version 1",
		`{"version":0,"games":[]}`:        "has version 0, and this page reads version 1",
		`{"games":[`:                      "has no version",
		`null`:                            "has no version",
		`{"version":1,"games":[{"game":"x"}],"mistakes":{},"days":{}}`:            "is damaged",
		`{"version":1,"games":[],"mistakes":{"a":{"step":4,"due":""}},"days":{}}`: "is damaged",
		`{"version":1,"games":[],"mistakes":null,"days":{}}`:                      "is damaged",
	} {
		tab.save(text)
		fail(tab)
		tab.want(message, "What is saved in this browser "+says+". It stays as it is, and nothing is added: export it, then delete it.")
		tab.want(`localStorage.treereduce`, text)
		if got := tab.export(); got != text {
			t.Errorf("exports %s, want %s", got, text)
		}
	}

	forbidden := newTab(t, chromium)
	forbidden.before(`Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('denied', 'SecurityError'); } });`)
	forbidden.visit(address + puzzles)
	forbidden.wait(posed)
	fail(forbidden)
	forbidden.want(message, "This browser does not let the page save anything: games and answers are lost with the page.")
	forbidden.want(asked+`.startsWith('The answer is')`, "true")
}

// export presses the button of that name, and returns the file.
func (t *tab) export() string {
	t.Helper()
	dir, done := t.TempDir(), make(chan string, 1)
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	chromedp.ListenTarget(ctx, func(event any) {
		if e, ok := event.(*browser.EventDownloadProgress); ok && e.State == browser.DownloadProgressStateCompleted {
			done <- e.GUID
		}
	})
	t.run(browser.SetDownloadBehavior(browser.SetDownloadBehaviorBehaviorAllowAndName).WithDownloadPath(dir).WithEventsEnabled(true), press("#export"))
	select {
	case name := <-done:
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	case <-ctx.Done():
		t.Fatal("nothing is downloaded")
	}
	return ""
}

// TestMoved exports what one browser has saved, deletes it, and imports it.
func TestMoved(t *testing.T) {
	tab := open(t, launch(t), serve(t, solve(t))+puzzles)
	tab.wait(posed)
	choose := func(text string) {
		t.Helper()
		name := filepath.Join(t.TempDir(), "export.json")
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		tab.run(chromedp.SetUploadFiles("#import", []string{name}))
	}
	const shown = `document.querySelectorAll('#games li').length + ' ' + document.querySelector('#results').innerText.replace(/\s+/g, ' ') + ' ' + ` + waiting
	first := `{"version":1,"games":[` + gameOf("connectn/4-4-3", "casual", "win") + `],"mistakes":{"connectn/4-4-3?moves=0,1":{"step":0,"due":"2020-01-01"}},"days":{"connectn/4-4-3 2020-01-01 easy":"right"}}`
	choose(first)
	tab.wait(`document.querySelectorAll('#games li').length === 1`)
	tab.want(shown, "1 Level Won Lost Other casual 1 0 0 My mistakes (1 due)")
	if got := tab.export(); got != first {
		t.Errorf("exports\n%s, want\n%s", got, first)
	}
	tab.want(message+`.replace(/\d+/g, 'n')`, "Exported to treereduce-n-n-n.json.")
	choose(strings.Replace(strings.Replace(first, `"win"`, `"lose"`, 1), "2020-01-01", "2019-01-01", 1)) // another game, a mistake that is known
	tab.wait(`document.querySelectorAll('#games li').length === 2`)
	choose(first)
	tab.want(shown+` + `+saved+`.mistakes['connectn/4-4-3?moves=0,1'].due`, "2 Level Won Lost Other casual 1 1 0 My mistakes (1 due)2020-01-01")
	for text, says := range map[string]string{"": "has no version", "[]": "has no version", `{"version":3}`: "has version 3, and this page reads version 1", `{"version":1}`: "is damaged"} {
		choose(text)
		tab.wait(message + ` === 'The file ` + says + `. Choose one that this page has exported.'`)
	}
	tab.want(shown, "2 Level Won Lost Other casual 1 1 0 My mistakes (1 due)")
	accepts := make(chan bool, 2)
	chromedp.ListenTarget(tab.ctx, func(event any) {
		if _, ok := event.(*page.EventJavascriptDialogOpening); ok {
			go chromedp.Run(tab.ctx, page.HandleJavaScriptDialog(<-accepts))
		}
	})
	for _, accept := range []bool{false, true} {
		accepts <- accept
		tab.run(press("#delete"))
		tab.wait(`(` + saved + ` === null) === ` + strconv.FormatBool(accept))
		tab.want(`document.querySelectorAll('#games li').length`, map[bool]string{false: "2", true: "0"}[accept])
	}
	tab.want(message, "All is deleted.")
}

// TestReviewed reviews a game without a table: its mistakes are saved if the game is, and only those of the person.
func TestReviewed(t *testing.T) {
	tab := open(t, launch(t), serve(t)+"/puzzles/connectn/4-4-3")
	tab.save(`{"version":1,"mistakes":{},"days":{},"games":[` + strings.Replace(gameOf("connectn/4-4-3", "casual", "win"), "moves=0", "moves=0%2C1%2C0%2C1%2C2%2C2%2C0", 1) + `]}`)
	for _, moves := range []string{"0,1,0,1,3,3,0", "0,1,0,1,2,2,0"} {
		tab.visit(tab.text("location.origin") + solved + "?moves=" + moves)
		tab.run(press("#review"))
		tab.wait(`document.querySelector('#review').hidden && document.querySelectorAll('#mistakes li').length > 1`)
		tab.wait(`Object.keys(` + saved + `.mistakes).join() === ` + map[bool]string{true: `'connectn/4-4-3?moves=0%2C1%2C0%2C1'`, false: `''`}[moves == "0,1,0,1,2,2,0"])
	}
	tab.run(press("#practise"))
	for tab.wait(asked + ` !== ''`); tab.text(`document.querySelector('#next').hidden`) == "false"; {
		before := tab.text(asked)
		tab.run(press("#next"))
		tab.wait(asked + ` !== ` + strconv.Quote(before))
	}
	tab.want(asked+`.replace(/\d+/g, 'n') + Object.values(`+saved+`.mistakes)[0].due.replace(/\d+/g, 'n')`, "n of n found at the first try. They come again among the puzzles on n-n-n.n-n-n")
}

// TestMyGames plays a game against the level that adapts, and looks at what is saved.
func TestMyGames(t *testing.T) {
	chromium, address := launch(t), serve(t, solve(t))
	tab := open(t, chromium, address+solved+"#against=adapts")
	tab.wait(`document.querySelector('#seat1').value === 'adapts' && document.querySelectorAll('#board .target').length > 0`)
	tab.run(chromedp.SetValue("#speed", "0"))
	tab.playOut()
	won := tab.text(`({ won: 'win', lost: 'lose' })[document.querySelector('#state').textContent.match(/have (won|lost)/)?.[1]] ?? 'tie'`)
	const games = `JSON.stringify(` + saved + `.games.map(g => [g.game, g.play, g.side, g.level, g.adapts, g.result]))`
	want := fmt.Sprintf(`[["connectn/4-4-3",%q,0,"casual",true,%q]]`, strings.TrimPrefix(tab.text("location.search"), "?"), won)
	tab.want(games, want)
	mistakes := tab.text(`Math.min(3, [...document.querySelectorAll('#mistakes li')].filter(li => /Move \d*[13579]\b/.test(li.textContent)).length)`)
	tab.want(`Object.keys(`+saved+`.mistakes).length`, mistakes)
	tab.run(press("#undo"))
	tab.wait(`/ to move/.test(document.querySelector('#state').textContent)`)
	tab.run(press("#resign"))
	tab.wait(`/resigned/.test(document.querySelector('#state').textContent)`)
	tab.want(games, want)
	tab.run(chromedp.Reload())
	tab.settle()
	tab.want(`document.querySelector('#seat1').value`, "adapts")
	tab.run(press("#undo"))
	tab.wait(`/ to move/.test(document.querySelector('#state').textContent)`)
	tab.want(games, want) // once
	tab.visit(address + puzzles)
	tab.wait(posed)
	tab.want(`[...document.querySelectorAll('#results tbody tr')].filter(r => !r.hidden).map(r => r.innerText.trim().replace(/\s+/g, ' ')).join()`, map[string]string{"win": "casual 1 0 0", "lose": "casual 0 1 0", "tie": "casual 0 0 1"}[won])

	level := func(results string) string {
		t.Helper()
		return tab.eval(`(await import('/static/storage.js')).adapted([...'` + results + `'].map(r => ({ game: 'connectn/4-4-3', adapts: true, result: { w: 'win', l: 'lose', t: 'tie' }[r] })), ['random', 'novice', 'casual', 'regular'])`)
	}
	for results, want := range map[string]string{"": "casual", "w": "casual", "ww": "regular", "www": "regular", "wwww": "regular", "wl": "casual", "wlw": "casual", "wtw": "casual", "ll": "novice", "lll": "novice", "llll": "random",
		"llllll": "random", "wwll": "casual", "wwlwl": "regular"} {
		if got := level(results); got != want {
			t.Errorf("after %q: %s, want %s", results, got, want)
		}
	}
	tab.want(`document.querySelectorAll('#games a').length`, "1")
	tab.want(`/^\d{4}-\d\d-\d\d \d\d:\d\d, casual: (won|lost|tie) after \d+ moves$/.test(document.querySelector('#games a').textContent)`, "true")
	tab.visit(address + "/puzzles/connectn/3-3-3")
	tab.want(`document.querySelector('#others').textContent.startsWith('Connect 3 on 4×4: games 1, ')`, "true")
	tab.visit(address + "/")
	tab.want(`document.querySelector('#mine a').checkVisibility() + document.querySelector('#mine a').pathname`, "true"+puzzles)
	tab.want(`document.querySelector('#today p').textContent`, "Puzzle of the day: Connect 3 on 4×4")
	tab.visit(address + solved + "#against=adapts")
	tab.save(`{"version":1,"mistakes":{},"days":{},"games":[` + strings.Repeat(gameOf("connectn/4-4-3", "casual", "win")+",", 2) + gameOf("connectn/4-4-3", "regular", "lose") + `]}`)
	tab.wait(`document.querySelectorAll('#board .target').length > 0`)
	tab.run(chromedp.SetValue("#speed", "0"), chromedp.KeyEvent("2"))
	tab.wait(`document.querySelectorAll('.piece').length === 2`)
	tab.want(`document.querySelector('#seat1').selectedOptions[0].textContent`, "adapts (regular)")
	tab.run(press("#resign"))
	tab.wait(`document.querySelector('#state').textContent.endsWith('resigned. Undo takes it back. The level that adapts falls to casual.')`)
	tab.want(`document.querySelector('#seat1').selectedOptions[0].textContent`, "adapts (casual)")
	tab.choose("seat1", "random")
	tab.visit(address + "/")
	tab.run(press(`a[href*="play/connectn/4-4-3#"]`))
	tab.wait(`document.querySelector('#seat1')?.value === 'random'`)
}
