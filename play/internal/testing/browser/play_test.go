package browser

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// choose selects an option of the select with this identifier.
func (t *tab) choose(id, option string) {
	t.Helper()
	t.text(`(e => { e.value = '` + option + `'; e.dispatchEvent(new Event('change')); return e.value; })(document.querySelector('#` + id + `'))`)
	t.want(`document.querySelector('#`+id+`').value`, option)
}

// twoPersons lets a person play the second side, too, of a game in Play.
func (t *tab) twoPersons() {
	t.Helper()
	t.choose("seat1", "person")
	t.wait(`/^(?!.*\(you\)).*to move/.test(document.querySelector('#state').textContent)`)
}

// plies returns the number of moves in the address.
func (t *tab) plies() int {
	t.Helper()
	n, err := strconv.Atoi(t.text(`new URLSearchParams(location.search).get('moves')?.split(',').length ?? 0`))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// testMachines lets two machines play: slowly, with a pause, back to an earlier position, and fast
// to the end, with a time for a move.
func testMachines(t *testing.T, browser context.Context, address string) {
	tab := open(t, browser, address+solved)
	tab.want(`document.querySelector('#pause').hidden`, "true")
	tab.want(`[...document.querySelectorAll('#seat0 option')].every(o => /^[a-z]+$|^adapts \(casual\)$/.test(o.textContent))`, "true")
	best, err := strconv.Atoi(tab.text(`document.querySelector('#worth').textContent.match(/win in (\d+)/)[1]`))
	if err != nil {
		t.Fatal(err)
	}
	tab.choose("speed", "1500")
	tab.choose("limit", "100")
	begun := time.Now()
	tab.choose("seat0", "perfect")
	tab.choose("seat1", "perfect")
	tab.wait(`/moves=/.test(location.search)`)
	if took := time.Since(begun); took < time.Second {
		t.Errorf("slow machines: the first move after %v", took)
	}
	tab.run(press("#pause"))
	tab.wait(`document.querySelector('#pause').ariaPressed === 'true'`)
	paused := tab.plies()
	time.Sleep(1700 * time.Millisecond) // longer than the pause between moves
	if n := tab.plies(); n != paused {
		t.Errorf("%d moves during the pause after %d moves", n, paused)
	}
	tab.choose("speed", "0")
	tab.run(press("#undo"))
	tab.wait(`document.querySelectorAll('.piece').length === ` + strconv.Itoa(paused-1))
	tab.run(press("#pause"))
	tab.wait(`document.querySelector('#state').textContent.startsWith('X has won after ')`)
	if n := tab.plies(); n != best {
		t.Errorf("%d moves, want %d", n, best)
	}
	tab.want(`/^0:[0-5]\d$/.test(document.querySelector('#clock0').textContent)`, "true")
	tab.want(`document.querySelector('#judged').textContent`, "X: 5 moves, 0 mistakes. O: 4 moves, 0 mistakes. The start is lost for O, in 9 moves.")
	tab.run(press("#undo")) // a machine does not make a move again that was taken back
	tab.wait(`document.querySelectorAll('.piece').length === ` + strconv.Itoa(best-1))
	time.Sleep(200 * time.Millisecond)
	if n := tab.plies(); n != best-1 {
		t.Errorf("%d moves after undo, want %d", n, best-1)
	}
}

// testReview plays a game with mistakes, and goes to one of them; then it asks for the review of a
// play without a table.
func testReview(t *testing.T, browser context.Context, address string) {
	tab := open(t, browser, address+solved)
	for i, column := range []string{"0", "0", "3", "1", "2", "2", "2", "1", "0", "0"} {
		tab.run(chromedp.KeyEvent(column))
		tab.wait(`document.querySelectorAll('.piece').length === ` + strconv.Itoa(i+1))
		if tab.text(`document.querySelector('#state').textContent.includes(' after ')`) == "true" {
			break
		}
	}
	made := tab.plies()
	const mistakes = `[...document.querySelectorAll('#mistakes li')].map(li => li.textContent.replace(' Refute', '')).join('\n')`
	list := tab.text(mistakes)
	if want := "Move 3 X played 3: win in 9 → lose in 12, then 0 0 2 2 2 3 … (0 threatens 0); better: 2 (win in 9), 0 (win in 11), 1 (win in 11)\nMove 4 O played 1: win in 11 → lose in 12, then 1 0 0 1 1 3 …; better: 0 (win in 11), 2 (win in 11)"; len(list) < len(want) || list[:len(want)] != want {
		t.Errorf("mistakes:\n%s\nwant\n%s", list, want)
	}
	tab.want(`document.querySelector('#judged').textContent.includes(' The turning point was move ')`, "true")
	tab.want(`/◀ X winsO wins ▶in 0in (\d+)in \1in 0Value[^]*0X in 9[^]*3O in 11!/.test(document.querySelector('#history').textContent)`, "true")
	tab.want(`[...document.querySelectorAll('#history circle')].every(c => Math.sign(c.cx.baseVal.value) === (c.classList.contains('first') ? -1 : 1))`, "true")
	tab.want(`document.querySelectorAll('#history .mark').length`, tab.text(`document.querySelectorAll('#mistakes li').length`))
	tab.run(chromedp.Focus(`#mistakes button`), chromedp.KeyEvent(kb.Enter))
	tab.wait(`location.search === '?moves=0%2C0' && document.querySelectorAll('.piece').length === 2`)
	tab.want(mistakes, list) // it stays
	tab.want(`document.activeElement.textContent`, "Move 3")
	tab.want(`document.querySelectorAll('#history tbody tr').length`, strconv.Itoa(made+1))
	clock := `document.querySelector('#clock0').textContent + document.querySelector('#clock1').textContent`
	before := tab.text(clock)
	time.Sleep(1200 * time.Millisecond)
	tab.want(clock, before) // it stands while the play is taken back
	tab.run(chromedp.KeyEvent("2"))
	tab.wait(`document.querySelectorAll('#history tbody tr').length === 4`)
	tab.wait(clock + ` !== '` + before + `'`)

	tab.visit(address + "/play/connectn/4-3-3?moves=0,0,0,3,2,1")
	tab.want(`document.querySelector('#review').hidden`, "false")
	tab.run(press("#review"))
	tab.want(`document.querySelector('#review').textContent`, "Stop")
	tab.wait(`document.querySelector('#review').hidden`)
	tab.want(`document.querySelector('#judged').textContent.includes('not judged')`, "false")
	tab.want(`document.querySelectorAll('#mistakes li').length > 0`, "true")

	const current = `[...document.querySelectorAll('#history tr')].findIndex(r => r.getAttribute('aria-current') === 'step')`
	const goesOn = `/\d of 3 positions are solved; the search goes on for \d+ s …$/.test(document.querySelector('#judged').textContent)`
	tab.visit(address + "/play/connectn/7-7-4?moves=3,3")
	for _, button := range []string{"Review by search", "Search longer"} {
		tab.want(current+` + document.querySelector('#review').textContent`, "3"+button)
		tab.run(press("#review"))
		tab.wait(goesOn)
		tab.run(press("#review"))
		tab.wait(`document.querySelector('#review').textContent === 'Search longer' && /not judged: no value is proven\.$/.test(document.querySelector('#judged').textContent)`)
	}
	tab.run(press("#review"), chromedp.KeyEvent(kb.ArrowLeft))
	tab.wait(`location.search === '?moves=3'`)
	tab.run(chromedp.Evaluate(`document.querySelector('#judged').textContent = ''`, nil))
	tab.wait(goesOn)
	tab.want(current, "2") // the review does not go back
	tab.run(chromedp.KeyEvent("2"))
	tab.wait(`location.search === '?moves=3%2C2'`)
	tab.want(`document.querySelector('#review').textContent`, "Review by search")
}

// testReload checks that loading the page again keeps the players, their clocks, the pace of the
// machines, and a move that was taken back; and that a link in another tab has none of them.
func testReload(t *testing.T, browser context.Context, address string) {
	tab := open(t, browser, address+solved+"?moves=1,1")
	const players = `['seat0', 'seat1', 'speed', 'limit'].map(id => document.getElementById(id).value).join()`
	tab.run(chromedp.KeyEvent("2")) // the clock of O runs
	tab.wait(`document.querySelector('#clock1').textContent >= '0:02'`)
	tab.run(press("#undo"))
	tab.wait(`document.querySelectorAll('.piece').length === 2`)
	tab.choose("seat1", "novice")
	tab.choose("speed", "1500")
	tab.choose("limit", "1000")
	tab.run(press("#pause"))
	tab.wait(`document.querySelector('#pause').ariaPressed === 'true'`)
	tab.run(chromedp.KeyEvent("3")) // the machine waits
	tab.wait(`document.querySelectorAll('.piece').length === 3`)
	tab.run(press("#undo"))
	tab.wait(`document.querySelectorAll('.piece').length === 2`)
	tab.run(chromedp.Reload())
	tab.settle()
	tab.want(players, "person,novice,1500,1000")
	tab.want(`document.querySelector('#pause').ariaPressed`, "true")
	tab.want(`document.querySelector('#clock1').textContent >= '0:02'`, "true")
	tab.run(press("#redo"))
	tab.wait(`location.search === '?moves=1%2C1%2C3'`)
	open(t, browser, tab.text(`location.href`)).want(players, "person,person,500,")
	tab.visit(address + solved) // X moves, so the clock of O stands
	tab.want(players, "person,novice,1500,1000")
	tab.want(`document.querySelector('#pause').ariaPressed + document.querySelector('#clock1').textContent`, "false0:00")
}

// testKeys switches off the keys of moves: then they do nothing, also after the page is loaded again,
// and the arrow keys still work.
func testKeys(t *testing.T, browser context.Context, address string) {
	tab := open(t, browser, address+solved+"?moves=1,1")
	tab.run(press("#more summary"), press("#keys"), chromedp.KeyEvent("2"), chromedp.Reload())
	tab.settle()
	tab.want(`document.querySelector('#keys').ariaPressed`, "false")
	tab.run(chromedp.KeyEvent("2"), chromedp.KeyEvent(kb.ArrowLeft))
	tab.wait(`document.querySelectorAll('.piece').length === 1`)
	tab.want(`location.search`, "?moves=1")
	tab.run(press("#more summary"), press("#keys"), chromedp.KeyEvent("2"))
	tab.wait(`location.search === '?moves=1%2C2'`)
}

// testPlay plays against a machine without values: with a hint, a move that is taken back, sides that
// change, and a resignation, which leads to the review.
func testPlay(t *testing.T, browser context.Context, address string) {
	tab := open(t, browser, address+solved+"#against=perfect")
	const shown = `[...document.querySelectorAll('.side, #line, #goto, #edit, #redo, #hint, #resign')].filter(e => e.checkVisibility()).map(e => e.id || e.className).join()`
	pieces := func(n int) {
		t.Helper()
		tab.wait(`document.querySelectorAll('.piece').length === ` + strconv.Itoa(n))
	}
	tab.wait(`location.hash === '#play' && document.querySelectorAll('#board .target').length > 0`)
	tab.want(shown, "hint,resign")
	tab.want(`document.querySelectorAll('#board .mark').length`, "0")
	tab.run(press("#hint"))
	tab.wait(`/^X \(you\) to move. Hint: [12].$/.test(document.querySelector('#state').textContent)`) // the moves that win soonest
	tab.want(`[...document.querySelectorAll('#board .mark')].map(m => m.textContent).join()`, "★")
	tab.choose("speed", "0")
	tab.run(chromedp.KeyEvent("2"))
	pieces(2)
	tab.want(`document.querySelectorAll('#board .last').length + document.querySelectorAll('#board .mark').length`, "1")
	tab.run(press("#undo")) // the move of the machine, too
	pieces(0)
	tab.run(chromedp.KeyEvent("0"))
	pieces(2)
	tab.run(chromedp.Reload())
	pieces(2)
	tab.want(`document.querySelector('#seat1').value + location.hash`, "perfect#play")
	tab.run(press("#swap"))
	pieces(3)
	tab.run(press("#resign"))
	tab.wait(`document.querySelector('#state').textContent === 'You have lost after 3 moves: O (you) resigned. Undo takes it back.'`)
	tab.want(`document.querySelector('#hint').disabled`, "true")
	tab.run(press("#undo"))
	tab.wait(`!document.querySelector('#resign').disabled`)
	pieces(3)
	tab.run(press("#resign"))
	tab.wait(`!document.querySelector('#ended').hidden`)
	tab.run(press("#why"))
	tab.wait(`location.hash === '' && document.activeElement.id === 'past' && /X: 2 moves/.test(document.querySelector('#judged').innerText)`)
	tab.want(`document.querySelectorAll('#mistakes li').length`, tab.text(`document.querySelectorAll('#history .mark').length`))
	tab.run(chromedp.KeyEvent("1")) // nobody answers this move
	pieces(4)
	tab.want(`document.querySelector('#pause').ariaPressed`, "true")
	tab.run(press("#playing"))
	pieces(5)
	tab.want(shown, "hint,resign")
	open(t, browser, tab.text(`location.href`)).want(shown, "hint,resign")
}

// testPlayers opens links to games: in Play, a machine plays the side that is not to move, until somebody chooses the
// players. The end of a game is that of the person.
func testPlayers(t *testing.T, browser context.Context, address string) {
	const players = `document.querySelector('#seat0').value + ',' + document.querySelector('#seat1').value`
	for _, link := range []struct{ address, players string }{
		{"/play/connect4?moves=3,3", "person,person"}, {"/play/connectn/7-6-4#play", "person,regular"}, {"/play/connect4?moves=3#play", "regular,person"},
		{"/play/connectn/7-6-4#against=novice", "person,novice"}, {"/play/mnk/3-3-3#against=nothing", "person,regular"},
	} {
		tab := open(t, browser, address+link.address)
		tab.wait(`document.querySelectorAll('#board .target').length > 0`)
		tab.want(players, link.players)
	}
	tab := open(t, browser, address+solved)
	tab.run(press("#playing"))
	tab.wait(players + ` === 'person,regular'`)
	tab.choose("seat1", "person")
	tab.run(press("#analysing"), press("#playing"))
	tab.wait(`location.hash === '#play' && !document.querySelector('#hint').disabled`)
	tab.want(players, "person,person")
	for _, moves := range []string{"0,1,0,1,0", "0,1,0,1,2,1"} { // the person would be to move after the win of the other side
		tab := newTab(t, browser)
		tab.visit(address + solved + "?moves=" + moves + "#play")
		after := fmt.Sprintf(" after %d moves.", strings.Count(moves, ",")+1)
		tab.wait(`document.querySelector('#state').textContent === 'You have lost` + after + `'`)
		tab.run(press("#swap"))
		tab.wait(`document.querySelector('#state').textContent === 'You have won` + after + `'`)
	}

	tab = open(t, browser, address+solved+"#against=perfect") // a resignation belongs to its position
	tab.wait(`document.querySelectorAll('#board .target').length > 0`)
	tab.run(chromedp.KeyEvent("2"))
	tab.wait(`document.querySelectorAll('.piece').length === 2 && !document.querySelector('#resign').disabled`)
	tab.run(press("#resign"))
	tab.wait(`/ after 2 moves: X \(you\) resigned. Undo takes it back.$/.test(document.querySelector('#state').textContent)`)
	tab.run(chromedp.Evaluate(`history.back()`, nil))
	tab.wait(`document.querySelector('#state').textContent === 'X played 2. O (machine) is paused.'`)
}

// testLine steps through best play, forward and back, with the mouse and with keys, and plays out what
// follows a losing move and a mistake.
func testLine(t *testing.T, browser context.Context, address string) {
	tab := open(t, browser, address+solved+"?moves=0,0")
	const ghosts = `[...document.querySelectorAll('#board .number')].map(n => n.textContent).sort().join('') + ' ' + document.querySelectorAll('.ghost').length`
	const title = `document.querySelector('#steps').textContent.split(':')[0]`
	tab.wait(`document.querySelectorAll('#steps button').length === 9`)
	tab.want(ghosts, " 0")
	tab.run(press("#steps button:nth-of-type(3)"))
	tab.wait(ghosts + ` === '123 3'`)
	tab.want(`/^Best play, move 3 of 9: X plays \d.$/.test(document.querySelector('#state').textContent)`, "true")
	tab.want(`document.querySelectorAll('#board .mark').length`, "0")
	tab.run(press("#back"))
	tab.want(ghosts, "12 2")
	tab.run(chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight))
	tab.want(ghosts, "1234 4")
	tab.run(chromedp.KeyEvent(kb.Escape))
	tab.want(ghosts, " 0")
	tab.want(`location.search + document.activeElement.id`, "?moves=0,0forward")
	tab.want(`document.querySelectorAll('#moves [aria-label^=Refute]').length`, "1")
	tab.run(press("#moves [aria-label='Refute 3']"))
	tab.wait(`document.querySelectorAll('.ghost').length === 12 && document.querySelector('#board line.won') !== null`)
	tab.want(title, "Refutation of 3")
	tab.want(`document.querySelector('#message').textContent`, "After 0, O threatens 0.")

	tab.visit(address + solved + "?moves=0,0,3,1,2")
	tab.run(press("#mistakes li:first-of-type [aria-label='Refute move 3']"))
	tab.wait(`location.search === '?moves=0%2C0' && document.querySelectorAll('.ghost').length === 12`)
	tab.want(`document.querySelector('#steps').textContent.startsWith('Refutation of 3: 3 ')`, "true")
	tab.want(`document.querySelectorAll('#board .target').length + document.querySelector('#board svg').ariaLabel`, "0Board, Refutation of 3, move 12 of 12: O plays "+tab.text(`document.querySelector('#steps [aria-current]').textContent`)+tab.text(`document.querySelector('#board svg').ariaLabel.match(/plays .(.*)/s)[1]`))
	tab.want(`document.querySelector('#state').getBoundingClientRect().top >= 0`, "true")
	x, y := tab.middle(`#board svg`) // a click ends the line, and plays no move
	tab.run(chromedp.MouseClickXY(x, y))
	tab.wait(ghosts + ` === ' 0'`)
	tab.want(`location.search + ' ' + `+title, "?moves=0%2C0 Best play")
}

// testPractice puts the mistakes of a play right: the first one at the second try, after the refutation of
// the first, the second one at once, and not the third. Against a machine, only the person practises.
func testPractice(t *testing.T, browser context.Context, address string) {
	tab := open(t, browser, address+solved+"?moves=0,0,3,1,2")
	const shown = `document.querySelector('#asked').textContent.trim().replace('\n', ' ') + ' ' + document.querySelectorAll('#board .mark').length + ' ' + [...document.querySelectorAll('#practice button')].filter(b => b.checkVisibility()).map(b => b.textContent).join()`
	const wins, focus = ` Find a move with which X still wins.`, `document.activeElement.id`
	tab.run(press("#practise"))
	tab.wait(focus + ` === 'practice'`)
	tab.want(shown, "Mistake 1 of 3."+wins+" 0 Skip,Stop")
	tab.want(`['.side', '#undo'].filter(id => document.querySelector(id).checkVisibility({ visibilityProperty: true })).join()`, "")
	tab.run(chromedp.KeyEvent(kb.ArrowLeft), chromedp.KeyEvent("3"))
	tab.wait(shown + ` === 'Mistake 1 of 3.` + wins + ` 3 is wrong: lose in 12. Try another move. 0 Show why,Skip,Stop'`)
	tab.run(press("#why-wrong"))
	tab.wait(`document.querySelectorAll('.ghost').length === 12`)
	tab.run(chromedp.KeyEvent(kb.Escape))
	tab.want(`document.querySelectorAll('.ghost').length + `+focus, "0practice")
	tab.run(chromedp.KeyEvent("3"))
	tab.wait(shown + ` === 'Mistake 1 of 3.` + wins + ` 3 is wrong, try 2: lose in 12. Try another move. 0 Show why,Skip,Stop'`)
	tab.run(chromedp.KeyEvent("0"))
	tab.wait(shown + ` === 'Mistake 1 of 3.` + wins + ` 0 is right: win in 11. 4 Next,Stop'`)
	tab.wait(focus + ` === 'next'`)
	tab.want(`document.querySelector('#legend').checkVisibility()`, "true")
	tab.run(chromedp.KeyEvent(kb.Enter))
	tab.wait(shown + ` === 'Mistake 2 of 3.` + strings.Replace(wins, "X", "O", 1) + ` 0 Skip,Stop' && document.querySelectorAll('.piece').length === 3`)
	x, y := tab.middle(`.target[y="1"][data-moves="2"]`)
	tab.run(chromedp.MouseClickXY(x, y))
	tab.wait(focus + ` === 'next'`)
	tab.run(chromedp.KeyEvent(kb.Enter))
	tab.wait(shown + ` === 'Mistake 3 of 3.` + wins + ` 0 Skip,Stop' && document.querySelectorAll('.piece').length === 4`)
	tab.run(chromedp.Reload())
	tab.wait(shown + ` === 'Mistake 3 of 3.` + wins + ` 0 Skip,Stop' && document.querySelectorAll('.piece').length === 4`)
	tab.run(chromedp.KeyEvent("3"), press("#next"))
	tab.wait(shown + ` === '1 of 3 found at the first try. 0 Close'`)
	tab.visit(address + solved + "?moves=0,0,3,1,2") // a link to the play does not lead into the practice
	tab.want(`document.body.dataset.mode + document.querySelectorAll('.piece').length`, "analyse5")
	tab.run(press("#practise"))
	tab.wait(`document.querySelector('#asked').textContent.startsWith('Mistake 1 of 3.')`)
	tab.run(press("#stop"))
	tab.wait(focus + ` === 'practise'`)
	tab.want(`location.search + document.querySelectorAll('.piece').length + document.querySelectorAll('#board .mark').length`, "?moves=0,0,3,1,254")

	tab.choose("seat1", "novice")
	tab.run(press("#practise"))
	tab.wait(shown + ` === 'Mistake 1 of 2.` + wins + ` 0 Skip,Stop'`)
	tab.run(chromedp.KeyEvent(kb.Escape))
	tab.wait(focus + ` === 'practise'`)
}

// testThreats shows the squares on which a side would complete a line, and checks that Play has none.
func testThreats(t *testing.T, browser context.Context, address string) {
	tab := open(t, browser, address+"/play/mnk/3-3-3?moves=a1,c2,b1,c3")
	const shown = `[...document.querySelectorAll('.threat')].map(g => g.textContent + Math.floor(g.firstChild.cx.baseVal.value) + Math.floor(g.firstChild.cy.baseVal.value)).join()`
	tab.want(shown, "")
	tab.run(press("#threats"))
	tab.want(shown, "X20,O20")
	tab.want(`document.querySelector('#board svg').ariaLabel.endsWith('. X threatens column c, row 1. O threatens column c, row 1')`, "true")
	tab.run(press("#playing"))
	tab.wait(shown + ` === ''`)
	tab.run(press("#analysing"))
	tab.wait(shown + ` === 'X20,O20'`)
	tab.run(chromedp.SendKeys("#move", "c1"+kb.Enter)) // the end of the game
	tab.wait(`document.querySelector('#threats').hidden`)
	tab.want(shown, "")
	tab.run(press("#undo"), press("#threats")) // off, as for the next test
	tab.wait(shown + ` === ''`)
	tab.visit(address + "/play/quickcross/3-3-3")
	tab.want(`document.querySelector('#threats').hidden`, "true")
}

// testChooser clicks a square with several moves, in both modes: the page shows them there.
func testChooser(t *testing.T, browser context.Context, address string) {
	for _, mode := range []string{"", "#play"} {
		tab := open(t, browser, address+"/play/quickcross/3-3-3?moves=a1-,b2|"+mode)
		if mode != "" {
			tab.twoPersons()
		}
		const moves = `(document.querySelector('#chooser').checkVisibility() && [...document.querySelectorAll('#chooser button')].map(b => b.textContent).join())`
		tab.wait(`document.querySelectorAll('#board .target').length > 0`)
		tab.want(moves, "false")
		x, y := tab.middle(`.target[x="2"][y="2"]`)
		tab.run(chromedp.MouseClickXY(x, y))
		tab.wait(moves + ` === 'c3-,c3|'`)
		tab.want(`document.activeElement.textContent`, "c3-")
		tab.want(`(c => c.top >= s.top && c.right <= innerWidth && Math.abs(c.top - s.bottom) < 2)(document.querySelector('#chooser').getBoundingClientRect(), s = document.querySelector('.target[x="2"][y="2"]').getBoundingClientRect())`, "true")
		tab.run(chromedp.KeyEvent(kb.Escape))
		tab.wait(moves + ` === false`)
		tab.run(chromedp.MouseClickXY(x, y))
		tab.wait(moves + ` === 'c3-,c3|'`)
		tab.run(chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Enter))
		tab.wait(`new URLSearchParams(location.search).get('moves') === 'a1-,b2|,c3|'`)
		tab.want(moves, "false")
	}
}

// testPaths plays moves of which each needs several squares, by clicks on them: the page marks those that can follow.
// Escape begins again, and so does a square that no move from the first one leads to.
func testPaths(t *testing.T, browser context.Context, address string) {
	for _, tt := range []struct{ path, first, next, open, move string }{
		{"mills/3?moves=a1,c2,b2,b1", `[x="4"][y="0"]`, `[x="2"][y="4"]`, "2,4 4,2", "c3xb1"},
		{"dobutsu/regular?moves=Cb3b2,Ec1b2", `[x="2"][y="5"]`, `[x="0"][y="3"]`, "0,2 0,3 1,3 2,1 2,2 2,3", "C*a3"},
		{"quixo/3?moves=", `[x="0"][y="2"]`, `[x="0"][y="0"]`, "0,0 2,2", "a3-a1"},
		{"quixo/3?moves=", `[x="0"][y="0"]`, `[x="0"][y="2"]`, "0,2 2,0", "a1-a3"},
		{"quixo/3?moves=", `[x="1"][y="0"]`, `[x="1"][y="2"]`, "0,0 1,2 2,0", "b1-b3"},
	} {
		tab := open(t, browser, address+"/play/"+tt.path+"#play")
		tab.twoPersons()
		const marked = `[...document.querySelectorAll('#board .target.open')].map(e => e.getAttribute('x') + ',' + e.getAttribute('y')).sort().join(' ')`
		click := func(square string) {
			x, y := tab.middle(".target" + square)
			tab.run(chromedp.MouseClickXY(x, y))
		}
		tab.wait(`document.querySelectorAll('#board .target').length > 0`)
		click(tt.first)
		tab.wait(marked + ` === '` + tt.open + `'`)
		tab.run(chromedp.KeyEvent(kb.Escape))
		tab.wait(marked + ` === ''`)
		if tt.move == "b1-b3" {
			click(`[x="0"][y="0"]`) // b1-a1 leads to it, not from it
			tab.wait(marked + ` === '0,2 2,0'`)
		}
		click(tt.first)
		tab.wait(marked + ` === '` + tt.open + `'`)
		click(tt.next)
		tab.wait(`new URLSearchParams(location.search).get('moves').split(',').at(-1) === '` + tt.move + `'`)
	}
}

// testPending clicks squares, one after the other, that do not yet mean a move: the page says what the next click is to name,
// names the squares that are chosen and those that can follow by what they do now, and shows the piece that goes there before it takes another one.
func testPending(t *testing.T, browser context.Context, address string) {
	for _, tt := range []struct{ path, clicks, asked, chosen, other, pieces string }{
		{"mills/3?moves=a1,c2,b2,b1", "", "B played b1. W to move.", "", "column c, row 3: 2 moves", "0,4 0,5 2,2 2,4 4,2 4,5"},
		{"mills/3?moves=a1,c2,b2,b1", "4,0", "Column c, row 3: choose a piece of B to take.", "column c, row 3, W: 2 moves", "column b, row 1, B: move c3xb1", "0,4 0,5 2,2 2,4 4,0 4,2 4,5"},
		{"mills/3?from=W.W/.WB/BB. W 0 0", "2,2", "Column b, row 2: choose where it goes.", "column b, row 2, W: 5 moves", "column b, row 3: 3 moves", "0,0 0,4 0,5 2,2 2,4 4,0 4,2 4,5"},
		{"mills/3?from=W.W/.WB/BB. W 0 0", "2,2 2,0", "Column b, row 3: choose a piece of B to take.", "column b, row 2: 3 moves; column b, row 3, W: 3 moves", "column b, row 1, B: move b2-b3xb1", "0,0 0,4 0,5 2,0 2,4 4,0 4,2 4,5"},
		{"mills/3?from=W.W/.WB/BB. W 0 0", "2,0", "Column b, row 3: choose the piece that goes there.", "column b, row 3: 5 moves", "column b, row 2, W: 3 moves", "0,0 0,4 0,5 2,2 2,4 4,0 4,2 4,5"},
		{"mills/3?from=W.W/.WB/BB. W 0 0", "2,4", "Column b, row 1: choose another square.", "column b, row 1, B: move b2-b3xb1", "column b, row 2, W: move b2-b3xb1", "0,0 0,4 0,5 2,2 2,4 4,0 4,2 4,5"},
		{"dobutsu/regular?moves=Cb3b2,Ec1b2", "2,5", "Column c, hand: choose where it goes.", "column c, hand, chick of the first player: 6 moves", "column a, row 2: move C*a2", "0,1 0,4 1,1 1,2 1,4 2,0 2,4 2,5"},
		{"quixo/3?moves=", "0,0", "Column a, row 1: choose where it goes.", "column a, row 1: 2 moves", "column a, row 3: move a1-a3", ""},
	} {
		tab := open(t, browser, address+"/play/"+tt.path+"#play")
		tab.twoPersons()
		tab.wait(`document.querySelectorAll('#board .target').length > 0`)
		for at := range strings.FieldsSeq(tt.clicks) {
			x, y, _ := strings.Cut(at, ",")
			left, top := tab.middle(fmt.Sprintf(`.target[x="%s"][y="%s"]`, x, y))
			tab.run(chromedp.MouseClickXY(left, top))
		}
		tab.want(`document.querySelector('#state').textContent`, tt.asked)
		tab.want(`[...document.querySelectorAll('#board [aria-pressed=true]')].map(e => e.ariaLabel).sort().join('; ')`, tt.chosen)
		tab.want(`[...document.querySelectorAll('#board .target')].some(e => e.ariaLabel === '`+tt.other+`')`, "true")
		tab.want(`[...document.querySelectorAll('#board .piece')].map(p => [p.getBBox().x + p.getBBox().width / 2, p.getBBox().y + p.getBBox().height / 2].map(Math.floor).join()).sort().join(' ')`, tt.pieces)
	}
	tab := open(t, browser, address+"/puzzles/mills/3?from=W.W/.../BB. W 1 1")
	tab.wait(`document.querySelectorAll('#board .target').length > 0`)
	tab.want(`document.querySelector('#state').textContent`, "W to move: find the move that wins.")
	x, y := tab.middle(`.target[x="2"][y="0"]`)
	tab.run(chromedp.MouseClickXY(x, y))
	tab.want(`document.querySelector('#state').textContent`, "Column b, row 3: choose a piece of B to take.")
}

// testPasses plays a move that no square of the board means, and checks that long names of moves fit beside their values.
func testPasses(t *testing.T, browser context.Context, address string) {
	tab := open(t, browser, address+"/play/mancala/3-1?moves=0,4,1,5,2,4#play")
	tab.twoPersons()
	tab.run(press("#passes button"))
	tab.wait(`location.search.endsWith('pass') && document.querySelector('#passes').hidden`)

	tab.visit(address + "/play/mills/3?moves=a1,b2,a2,c1,a3xc1")
	tab.want(`document.querySelector('#name0').className + ' ' + document.querySelector('#name1').className`, "first second")
}

// testFailures opens a link with a move that there is not, and begins a game there; a machine that cannot move waits. A move that
// there is not stays in its field, and the page says so where it can be seen.
func testFailures(t *testing.T, browser context.Context, address string) {
	tab := newTab(t, browser)
	tab.expectError = true
	tab.run(chromedp.Navigate(address + solved + "?moves=9#play"))
	tab.wait(`document.querySelector('#message').textContent.startsWith('move 1: expected one of')`)
	tab.run(press("#restart"))
	tab.wait(`document.querySelectorAll('#board .target').length > 0`)
	tab.want(`document.querySelector('#message').textContent`, "")
	tab.run(network.SetBlockedURLs([]string{"*do=machine*"}), chromedp.KeyEvent("0"))
	tab.wait(`document.querySelector('#state').textContent === 'X played 0. O (machine) is paused.'`)
	tab.want(`document.querySelector('#message').textContent !== ''`, "true")
	tab.run(network.SetBlockedURLs([]string{}), press("#pause"))
	tab.wait(`document.querySelectorAll('.piece').length === 2`)

	tab.run(emulation.SetDeviceMetricsOverride(1280, 900, 1, false))
	tab.visit(address + "/play/dobutsu/regular#play")
	tab.wait(`document.querySelectorAll('#board .target').length > 0`)
	tab.run(chromedp.SendKeys("#move", "c4c3"+kb.Enter))
	tab.want(`document.querySelector('#message').textContent + ' ' + document.querySelector('#move').value`, `There is no move "c4c3". c4c3`)
	tab.want(`(r => r.top > 0 && r.bottom < innerHeight + 1)(document.querySelector('#message').getBoundingClientRect())`, "true")
}

// testSquares plays with the squares of a board by keyboard: the tabulator key reaches one of them, the arrow keys
// the others, and the focus stays on the board, at the square nearest to the one that was pressed.
func testSquares(t *testing.T, browser context.Context, address string) {
	tab := open(t, browser, address+"/play/quickcross/3-3-3?moves=a1-,b2|#play")
	tab.twoPersons()
	const square, moves = `document.activeElement.ariaLabel`, `new URLSearchParams(location.search).get('moves')`
	tab.wait(`document.querySelectorAll('#board [role=button]').length === 9`)
	tab.run(chromedp.Focus("#seat1"), chromedp.KeyEvent(kb.Tab))
	tab.want(square, "column a, row 1, across: move a1|")
	tab.run(chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowDown))
	tab.want(square, "column c, row 3: 2 moves")
	tab.run(chromedp.KeyEvent(kb.Enter))
	tab.want(`document.activeElement.textContent`, "c3-")
	tab.run(chromedp.KeyEvent(kb.Escape))
	tab.want(square, "column c, row 3: 2 moves")
	tab.run(chromedp.KeyEvent(" "), chromedp.KeyEvent(kb.Enter))
	tab.wait(moves + ` === 'a1-,b2|,c3-'`)
	tab.visit(address + solved + "?moves=1,1#play")
	tab.twoPersons()
	tab.wait(`document.querySelectorAll('#board [role=button]').length === 4`)
	tab.run(chromedp.Focus("#seat1"), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.ArrowRight))
	tab.want(square, "move 1")
	for _, want := range []string{"1,1,1", "1,1,1,1"} {
		tab.run(chromedp.KeyEvent(kb.Enter))
		tab.wait(moves + ` === '` + want + `'`)
	}
	tab.want(square, "move 0") // column 1 is full
	for path, names := range map[string]string{
		"/play/dobutsu/regular":     "column b, row 2, chick of the second player: move Cb3b2\ncolumn b, row 3, chick of the first player: move Cb3b2",
		"/play/mills/3?moves=a1,a2": "column a, hand, 2 of W: 7 moves\ncolumn a, row 3: move a3",
	} {
		open(t, browser, address+path).want(`[...document.querySelectorAll('#board .target')].map(e => e.ariaLabel).slice(0, 2).sort((a, b) => b.length - a.length).join('\n')`, names)
	}
	for path, name := range map[string]string{
		"/play/dobutsu/regular?moves=Cb3b2,Ec1b2": "Board, first to move; hand: c chick of the second player; row 1: a giraffe of the second player, b lion of the second player; " +
			"row 2: b elephant of the second player; row 4: a elephant of the first player, b lion of the first player, c giraffe of the first player; hand: c chick of the first player",
		"/play/mills/3?moves=a1,b2,a2,c1,a3xc1": "Board, W has won after 5 moves; row 3: a W; row 2: a W, b B; row 1: a W; hand: a 0 of W, c 1 of B",
		"/play/network/regular":                 "Board, White to move",
	} {
		tab := open(t, browser, address+path)
		tab.want(`document.querySelector('#board svg').ariaLabel`, name)
		tab.want(`[...document.querySelectorAll('#board .label')].some(l => l.textContent === 'hand')`, strconv.FormatBool(strings.Contains(name, "hand")))
	}
	open(t, browser, address+"/play/dobutsu/regular?moves=Cb3b2,Ec1b2").want(`document.querySelector('#state').textContent`, "Second played Ec1b2. First to move.")
	tab.run(chromedp.KeyEvent("2"))
	tab.wait(moves + ` === '1,1,1,1,2'`)
	x, y := tab.middle(`.target[y="1"][data-moves="2"]`)
	tab.run(chromedp.MouseClickXY(x, y))
	tab.wait(moves + ` === '1,1,1,1,2,2'`)
	tab.run(chromedp.KeyEvent(kb.ArrowLeft)) // after the mouse, it undoes
	tab.wait(moves + ` === '1,1,1,1,2'`)

	tab.visit(address + "/play/mnk/3-3-3?moves=a1,c1#play")
	tab.twoPersons()
	for made, at := range []string{`[x="0"][y="1"]`, `[x="2"][y="1"]`, `[x="0"][y="2"]`} {
		tab.run(chromedp.Focus(`#board .target`+at), chromedp.KeyEvent(kb.Enter))
		tab.wait(moves + `.split(',').length === ` + strconv.Itoa(made+3))
		tab.want(square, []string{"column a, row 3: move a3", "column b, row 2: move b2", "Board, X has won after 5 moves; row 1: a X, c O; row 2: a X, c O; row 3: a X"}[made])
	}
}

// testRing checks that the square with the focus has a ring that can be seen, and that nothing beside it changes.
func testRing(t *testing.T, browser context.Context, address string) {
	for _, path := range []string{"connectn/7-6-4#play", "connectn/7-6-4", "dobutsu/regular#play", "mills/9#play", "quixo/4#play", "teeko/standard#play"} {
		for _, scheme := range []string{"light", "dark"} {
			tab := newTab(t, browser)
			tab.emulate(scheme, 1200)
			tab.visit(address + "/play/" + path)
			tab.wait(`document.querySelectorAll('#board .target').length > 0`)
			if !strings.HasSuffix(path, "#play") {
				tab.run(press("#edit"))
			}
			tab.run(chromedp.Evaluate(`document.getElementById('board').scrollIntoView()`, nil))
			var without, with, again []byte
			var r struct{ X, Y, Width, Height float64 }
			blur := chromedp.Evaluate(`document.activeElement.blur()`, nil)
			focus := chromedp.Evaluate(`(e => {
				e.focus({ focusVisible: true, preventScroll: true });
				const { x, y, width, height } = e.getBoundingClientRect();
				return { x, y, width, height };
			})(document.querySelector('#board [tabindex="0"]'))`, &r)
			for ok := false; !ok; ok = bytes.Equal(without, again) { // otherwise something else has changed, too
				tab.run(blur, chromedp.CaptureScreenshot(&without), focus, chromedp.CaptureScreenshot(&with), blur, chromedp.CaptureScreenshot(&again))
			}
			before, err := png.Decode(bytes.NewReader(without))
			if err != nil {
				t.Fatal(err)
			}
			after, err := png.Decode(bytes.NewReader(with))
			if err != nil {
				t.Fatal(err)
			}
			square := image.Rect(int(r.X), int(r.Y), int(r.X+r.Width), int(r.Y+r.Height)).Inset(-4)
			seen, beside := 0, 0
			for y := range before.Bounds().Dy() {
				for x := range before.Bounds().Dx() {
					a, b := luminance(before.At(x, y)), luminance(after.At(x, y))
					if a != b && !image.Pt(x, y).In(square) {
						beside++
					}
					if max(a, b)+.05 > 3*(min(a, b)+.05) {
						seen++
					}
				}
			}
			if length := int(2 * (r.Width + r.Height)); seen < 3*length/2 || seen > 5*length || beside > 0 {
				t.Errorf("%s, %s: around a square of %.0f×%.0f, %d pixels have a contrast of 3, and %d change outside", path, scheme, r.Width, r.Height, seen, beside)
			}
		}
	}
}

// luminance returns the relative luminance of a colour, as WCAG defines it.
func luminance(c color.Color) (l float64) {
	r, g, b, _ := c.RGBA()
	for i, v := range []uint32{r, g, b} {
		part := float64(v) / 0xffff
		if part <= .04045 {
			part /= 12.92
		} else {
			part = math.Pow((part+.055)/1.055, 2.4)
		}
		l += []float64{.2126, .7152, .0722}[i] * part
	}
	return l
}

// testTargets checks that what a finger presses is large enough.
func testTargets(t *testing.T, browser context.Context, address string) {
	tab := newTab(t, browser)
	tab.run(emulation.SetTouchEmulationEnabled(true), emulation.SetDeviceMetricsOverride(390, 844, 2, true))
	for _, path := range []string{"connectn/7-6-4?moves=3,3", "connectn/7-6-4?moves=3,3#play", "network/regular#play", "mancala/6-4", "mills/9", "dobutsu/regular#play"} {
		tab.visit(address + "/play/" + path)
		tab.wait(`document.querySelectorAll('#board .target').length > 0`)
		tab.want(`[...document.querySelectorAll('button, select, input, summary, #board .target')].filter(e => e.checkVisibility() && (r => r.width < 44 || r.height < 44)(e.getBoundingClientRect())).map(e => e.outerHTML).join('\n')`, "")
		tab.want(`document.documentElement.scrollWidth <= 390`, "true")
	}
	tab.visit(address + "/play/dobutsu/regular#play") // a state of two lines does not move the board
	tab.wait(`document.querySelectorAll('#board .target').length > 0`)
	tab.want(`new Set(['First (you) to move.', 'Second played Lb1c2. First (you) to move.'].map(text => { document.querySelector('#state').textContent = text; return document.querySelector('#board').getBoundingClientRect().top; })).size`, "1")
	tab.visit(address + "/play/network/regular?moves=22,15,72,67,11,10,61,13,45,56,64,33,74,20,41,52,76,40,43,25#play")
	tab.wait(`document.querySelectorAll('#board .target').length > 0`)
	tab.run(press(`#board [role=button][x="1"][y="1"]`)) // a chip with 17 moves
	tab.want(`document.querySelectorAll('#board .target.open').length`, "17")
	tab.want(`document.documentElement.scrollWidth <= 390`, "true")
}

// testColumns shows a position of a page that counts columns from 1.
func testColumns(t *testing.T, browser context.Context, address string) {
	tab := open(t, browser, address+"/play/connectn/7-6-4")
	for _, text := range []string{"https://connect4.gamesolver.org/?pos=444447", "1:444447"} {
		tab.run(chromedp.SetValue("#position", text), press("#goto [type=submit]"))
		tab.wait(`document.querySelectorAll('.piece').length === 6 && location.search === '?moves=3%2C3%2C3%2C3%2C3%2C6'`)
		tab.want(`new Set([...document.querySelectorAll('.piece circle')].map(c => Math.floor(c.cx.baseVal.value))).size + ' ' + document.querySelector('.piece:last-of-type circle').cx.baseVal.value`, "2 6.5")
		tab.run(press("#undo")) // the moves are those of the play
		tab.wait(`document.querySelectorAll('.piece').length === 5`)
		tab.run(press("#restart"))
		tab.wait(`document.querySelectorAll('.piece').length === 0`)
	}
	tab.want(`document.querySelector('#goto').textContent.includes('1:44444')`, "true")
	tab.visit(address + "/play/mancala/6-4")
	tab.want(`document.querySelector('#goto').textContent.includes('1:44444')`, "false")
}

// testModes changes the mode: one has values and the other has none.
func testModes(t *testing.T, browser context.Context, address string) {
	tab := open(t, browser, address+solved+"?moves=1,1")
	const shown = `document.querySelectorAll('#board .mark').length > 0 && /win|lose|tie/.test(document.querySelector('.side').innerText)`
	tab.want(shown, "true")
	tab.want(`document.querySelector('#summary').textContent`, "2 of 4 moves keep the win. After 2, X threatens 0 and 3.")
	tab.run(press("#playing"))
	tab.wait(`location.hash === '#play' && document.querySelectorAll('#board .mark').length === 0`)
	tab.run(chromedp.Reload())
	tab.wait(`document.querySelectorAll('.piece').length === 2`)
	tab.want(`/win|lose|tie|keep/.test(document.querySelector('main').innerText)`, "false")
	tab.want(shown, "false")
	tab.run(press("#analysing"))
	tab.settle()
	tab.wait(shown)
	tab.want(`location.search + location.hash`, "?moves=1,1")
}

// testBars checks the bars of the evaluations of a search, and that the best move comes first.
func testBars(t *testing.T, browser context.Context, address string) {
	tab := open(t, browser, address+"/play/mancala/6-4")
	tab.wait(`document.querySelectorAll('#moves .bar').length === 6`)
	tab.wait(`document.querySelector('#moves tbody tr').textContent.includes('★')`)
	tab.want(`[...document.querySelectorAll('#moves tr')].every(r => !r.querySelector('.bar') || r.querySelector('.bar').getBoundingClientRect().width > 40 && / (\d+ points? for row [01]|even)/.test(r.textContent))`, "true")
	tab.want(`[...document.querySelectorAll('#moves tbody tr')][0].querySelector('button').textContent === document.querySelector('#steps').textContent.split(' ')[2]`, "true")
}

// TestRules plays the game of a rules program: its board has coordinates, and marks above the pieces.
func TestRules(t *testing.T) {
	rules := filepath.Join(t.TempDir(), "three.sh")
	script := `printf 'treereduce rules 1\nname three\nbits 2\nstart 3\npicture\n\n'
while read -r n; do case $n in '') echo ;; 0) echo lose ;; 1) echo one:0 ;; 2) echo one:1 two:0 ;; 3) echo one:2 two:1 ;;
*0) echo '. . .' ;; *1) echo '# . .' ;; *2) echo '# # .' ;; *3) echo '# # #' ;; esac; done`
	if err := os.WriteFile(rules, []byte(script), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TREEREDUCE_RULES", "sh "+rules)
	tab := open(t, launch(t), serve(t))
	tab.visit(tab.text(`document.querySelector('a[href*="play/three/"]').href.split('#')[0]`))
	tab.wait(`[...document.querySelectorAll('#board .mark')].map(m => m.textContent).join() === '★▼2,▼2'`)
	tab.want(overlaps, "")
	tab.want(`[...document.querySelectorAll('#board .label')].map(l => l.textContent).join()`, "a,b,c,1")
}

// TestPuzzle solves a puzzle, which has one player.
func TestPuzzle(t *testing.T) {
	rules := filepath.Join(t.TempDir(), "three.sh")
	script := `printf 'treereduce rules 1\nname three\nbits 2\nstart 2\npuzzle\n\n'
while read -r n; do case $n in '') echo ;; 0) echo solved ;; *) echo "on:$((n - 1))" ;; esac; done`
	if err := os.WriteFile(rules, []byte(script), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TREEREDUCE_RULES", "sh "+rules)
	tab := open(t, launch(t), serve(t))
	tab.visit(tab.text(`document.querySelector('a[href*="play/three/"]').href.split('#')[0]`) + "#play")
	tab.wait(`document.querySelector('#state').textContent === 'Your move.'`)
	tab.want(`['#seat0', '#seat1', '#resign', '#swap'].filter(s => document.querySelector(s).checkVisibility()).join()`, "")
	for _, state := range []string{"You played on. Your move.", "Solved after 2 moves."} {
		tab.run(chromedp.SetValue("#move", "on"), press("#typed [type=submit]"))
		tab.wait(`document.querySelector('#state').textContent === '` + state + `'`)
	}
}

// TestPuzzlePractice practises the mistake of a puzzle.
func TestPuzzlePractice(t *testing.T) {
	dir := t.TempDir()
	rules, data := filepath.Join(dir, "three.sh"), filepath.Join(dir, "data")
	script := `printf 'treereduce rules 1\nname three\nbits 2\nstart 2\npuzzle\n\n'
while read -r n; do case $n in '') echo ;; 0) echo solved ;; 1) echo on:0 ;; 2) echo on:1 off:3 ;; 3) echo stay:3 ;; esac; done`
	if err := os.WriteFile(rules, []byte(script), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TREEREDUCE_RULES", "sh "+rules)
	if out, err := exec.Command(driver, "solve", "three", "--data", data).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	tab := open(t, launch(t), serve(t, data))
	tab.visit(tab.text(`document.querySelector('a[href*="play/three/"]').href.split('#')[0]`) + "?moves=off")
	tab.run(press("#practise"))
	tab.wait(`document.querySelector('#asked').textContent === 'Mistake 1 of 1. Find a move that keeps the puzzle solvable.'`)
}
