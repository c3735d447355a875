package browser

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// A gate is a proxy before the server that delays the answers to requests for positions until the
// test lets them pass.
type gate struct {
	address string
	waiting chan request
}

// A request is a request for a position. Its answer waits at the gate.
type request struct {
	done string        // the moves that lead to the position, and what is done there
	pass chan struct{} // the test closes it to let the answer pass
}

func newGate(t *testing.T, address string) *gate {
	target, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	proxy, g := httputil.NewSingleHostReverseProxy(target), &gate{waiting: make(chan request, 100)}
	proxy.FlushInterval = -1
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Count(r.URL.Path, "/") == 3 && strings.HasPrefix(r.URL.Path, "/view/") {
			pass := make(chan struct{})
			g.waiting <- request{r.FormValue("moves") + strings.Join(r.Form["do"], ","), pass}
			select {
			case <-pass:
			case <-r.Context().Done():
			}
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections() // ends the event streams
		server.Close()
	})
	g.address = server.URL
	return g
}

// requests waits until n requests have arrived, and returns them in ascending order of the length of
// what is done. They may arrive in any order, because each may have its own connection.
func (g *gate) requests(t *tab, n int) (all []request) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	for range n {
		select {
		case r := <-g.waiting:
			all = append(all, r)
		case <-ctx.Done():
			t.Fatalf("%d requests, want %d", len(all), n)
		}
	}
	slices.SortFunc(all, func(a, b request) int { return len(a.done) - len(b.done) })
	return all
}

// pass lets the answers to n requests pass.
func (g *gate) pass(t *tab, n int) {
	t.Helper()
	for _, r := range g.requests(t, n) {
		close(r.pass)
	}
}

// open opens the page of a play.
func (g *gate) open(t *testing.T, browser context.Context, moves string) *tab {
	tab := newTab(t, browser)
	tab.run(chromedp.Navigate(g.address + solved + "?moves=" + moves))
	g.pass(tab, 1)
	tab.settle()
	return tab
}

// TestSlowNetwork plays a game against a machine to its end where each answer takes 200 ms longer.
func TestSlowNetwork(t *testing.T) {
	tab := newTab(t, launch(t))
	tab.run(network.EmulateNetworkConditions(false, 200, -1, -1), chromedp.Navigate(serve(t)+"/play/connectn/5-4-4#against=regular"))
	tab.wait(`document.getElementById('seat1').value === 'regular' && document.querySelectorAll('#board .target').length > 0`)
	tab.playOut()
}

// TestLatency uses the page faster than the server answers: the board, the values and the address
// must be those of the same play, and the next move must continue it.
func TestLatency(t *testing.T) {
	g := newGate(t, serve(t, solve(t)))
	browser := launch(t)
	// same waits until the page shows these moves, with the values of the position after them.
	same := func(tab *tab, moves string) {
		tab.Helper()
		tab.wait(`(new URLSearchParams(location.search).get('moves') ?? '') === '` + moves + `'`)
		tab.wait(`document.querySelectorAll('.piece').length === ` + strconv.Itoa(len(strings.FieldsFunc(moves, func(r rune) bool { return r == ',' }))))
		const shown = `['state', 'board', 'worth', 'search', 'line', 'moves', 'history', 'judged'].map(id => document.getElementById(id).textContent).join('\n')`
		tab.settle()
		got := tab.text(shown)
		fresh := g.open(tab.T, browser, moves)
		fresh.want(shown, got)
	}
	next := func(tab *tab, moves string) {
		tab.Helper()
		tab.run(chromedp.KeyEvent("3"))
		g.pass(tab, 1)
		same(tab, strings.TrimPrefix(moves+",3", ","))
	}

	t.Run("two keys", func(t *testing.T) {
		tab := g.open(t, browser, "1,2")
		tab.run(chromedp.KeyEvent("0"), chromedp.KeyEvent("0"))
		g.pass(tab, 2)
		same(tab, "1,2,0,0")
		next(tab, "1,2,0,0")
	})
	t.Run("answers in the other order", func(t *testing.T) {
		tab := g.open(t, browser, "1,2")
		tab.run(chromedp.KeyEvent("0"), chromedp.KeyEvent("0"))
		requests := g.requests(tab, 2)
		close(requests[1].pass)
		same(tab, "1,2,0,0")
		close(requests[0].pass)
		next(tab, "1,2,0,0")
	})
	t.Run("a move that is not legal", func(t *testing.T) {
		tab := g.open(t, browser, "0,0,3")
		tab.expectError = true // the answer to it
		tab.run(chromedp.KeyEvent("0"), chromedp.KeyEvent("0"), chromedp.KeyEvent("0"))
		g.pass(tab, 3)
		tab.wait(`document.querySelector('#message').textContent !== ''`)
		same(tab, "0,0,3")
		next(tab, "0,0,3")
	})
	t.Run("a double click", func(t *testing.T) {
		tab := g.open(t, browser, "1,2")
		x, y := tab.middle(`.target[y="1"][data-moves="0"]`)
		tab.run(chromedp.MouseClickXY(x, y), chromedp.MouseClickXY(x, y, chromedp.ClickCount(2)))
		g.pass(tab, 1)
		same(tab, "1,2,0")
		x, y = tab.middle(`#moves tbody tr:first-of-type button`)
		first := tab.text(`document.querySelector('#moves tbody button').textContent`)
		tab.run(chromedp.MouseClickXY(x, y), chromedp.MouseClickXY(x, y, chromedp.ClickCount(2)))
		g.pass(tab, 1)
		same(tab, "1,2,0,"+first)
	})
	t.Run("a key that is held down", func(t *testing.T) {
		tab := g.open(t, browser, "1,2")
		press := input.DispatchKeyEvent(input.KeyDown).WithKey("0").WithText("0")
		tab.run(press, input.DispatchKeyEvent(input.KeyDown).WithKey("0").WithText("0").WithAutoRepeat(true))
		g.pass(tab, 1)
		same(tab, "1,2,0")
		tab.run(input.DispatchKeyEvent(input.KeyDown).WithKey("0").WithText("0").WithAutoRepeat(true))
		next(tab, "1,2,0")
	})
	t.Run("against a machine", func(t *testing.T) {
		tab := g.open(t, browser, "1,2")
		tab.choose("speed", "0")
		tab.choose("seat1", "perfect")
		g.pass(tab, 1)
		tab.run(chromedp.Reload())
		g.pass(tab, 1)
		tab.settle()
		tab.run(chromedp.KeyEvent("0"), chromedp.KeyEvent("0"), chromedp.KeyEvent("0"))
		g.pass(tab, 1)
		machine := g.requests(tab, 1)
		tab.wait(`document.querySelectorAll('.piece').length === 3`) // the other keys play nothing
		close(machine[0].pass)
		tab.wait(`document.querySelectorAll('.piece').length === 4`)
		moves := tab.text(`new URLSearchParams(location.search).get('moves')`)
		if !strings.HasPrefix(moves, "1,2,0,") || moves == "1,2,0,0" {
			t.Fatalf("moves %s", moves)
		}
		same(tab, moves)
	})
	t.Run("players are chosen before the answer to Undo", func(t *testing.T) {
		tab := g.open(t, browser, "1,2,0")
		tab.run(press("#undo"))
		tab.choose("seat0", "perfect")
		requests := g.requests(tab, 2)
		close(requests[1].pass)
		tab.wait(`document.querySelectorAll('.piece').length === 2`)
		close(g.requests(tab, 1)[0].pass) // the machine, whose turn it is
		tab.wait(`document.querySelectorAll('.piece').length === 3`)
		tab.want(`new URLSearchParams(location.search).get('moves').startsWith('1,2,')`, "true")
		close(requests[0].pass)
	})
	t.Run("a move after a request for another position", func(t *testing.T) {
		tab := g.open(t, browser, "1,2")
		tab.run(chromedp.SetValue("#position", "2"), press("#goto [type=submit]"))
		other := g.requests(tab, 1)
		tab.run(chromedp.KeyEvent("0"))
		g.pass(tab, 1)
		same(tab, "1,2,0")
		close(other[0].pass)
		next(tab, "1,2,0")
	})
}
