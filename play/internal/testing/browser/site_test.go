package browser

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// maxSite is the number of bytes that the first visit of a site may load.
const maxSite = 2_600_000

// A fileServer is a plain web server with a site below a path. It notes what is requested.
type fileServer struct {
	*httptest.Server
	noParts bool // it sends complete files instead of parts

	mu     sync.Mutex
	paths  []string
	bytes  int
	ranges int // parts that it has sent, and their bytes
	ranged int
}

// export writes the site of play web --export, with the tables of data directories, and returns its directory.
func export(t *testing.T, data ...string) string {
	dir := filepath.Join(t.TempDir(), "site")
	cmd := exec.Command(play, "web", "--export", dir)
	for _, d := range data {
		cmd.Args = append(cmd.Args, "--data", d)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("play web --export: %v: run make site\n%s", err, out)
	}
	return dir
}

// serveSite serves a site.
func serveSite(t *testing.T, dir string, noParts bool) *fileServer {
	s := &fileServer{noParts: noParts}
	files := http.StripPrefix("/games/", http.FileServer(http.Dir(dir)))
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		counted := &counter{ResponseWriter: w}
		if s.noParts && r.Header.Get("Range") != "" {
			sendForEver(w, r)
			return
		}
		if r.URL.Path == "/games/play/connectn/4-4-3" { // as GitHub Pages does
			http.ServeFile(&missing{counted}, r, filepath.Join(dir, "404.html"))
		} else {
			files.ServeHTTP(counted, r)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.paths = append(s.paths, r.URL.Path)
		s.bytes += counted.n
		if w.Header().Get("Content-Range") != "" {
			s.ranges++
			s.ranged += counted.n
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// sendForEver begins to answer with a complete file, and waits until the client has left.
func sendForEver(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Length", strconv.Itoa(1<<40))
	w.Write(make([]byte, 64<<10))
	w.(http.Flusher).Flush()
	<-r.Context().Done()
}

// A counter counts the bytes of an answer.
type counter struct {
	http.ResponseWriter
	n int
}

func (c *counter) Write(b []byte) (int, error) {
	c.n += len(b)
	return c.ResponseWriter.Write(b)
}

// A missing is an answer that a file is missing, with the page for that.
type missing struct{ http.ResponseWriter }

func (m *missing) WriteHeader(int) { m.ResponseWriter.WriteHeader(http.StatusNotFound) }

// TestSite uses the site of play web --export: a game against a machine to its end, then other pages without the
// server.
func TestSite(t *testing.T) {
	server := serveSite(t, export(t), false)
	site := server.URL + "/games/"
	browser := launch(t)
	tab := newTab(t, browser)
	tab.run(chromedp.Navigate(site))
	tab.run(press("a.start"))
	tab.wait(`location.pathname === '/games/play/connectn/7-6-4' && document.getElementById('seat1').value === 'regular' && document.querySelectorAll('#board .target').length > 0`)
	tab.playOut()

	server.mu.Lock()
	slices.Sort(server.paths)
	want := []string{"/games/", "/games/program.bin", "/games/start.js", "/games/sw.js", "/games/tables.bin", "/games/wasm_exec.js"}
	if got := slices.Compact(server.paths); !slices.Equal(got, want) {
		t.Errorf("requests of %q, want %q", got, want)
	}
	t.Logf("the first visit loads %d bytes", server.bytes)
	if server.bytes > maxSite {
		t.Errorf("the first visit loads %d bytes, more than %d", server.bytes, maxSite)
	}
	server.mu.Unlock()

	server.Close()
	if c, err := net.Dial("tcp", server.Listener.Addr().String()); err == nil {
		c.Close()
		t.Fatal("the server still answers")
	}
	later := newTab(t, browser)
	later.run(chromedp.Navigate(site))
	later.wait(`document.querySelectorAll('.cards li').length > 5`)
	later.run(press(`details:has(form[action*="play/mancala"]) summary`), press(`form[action*="play/mancala"] button`))
	later.wait(`location.pathname === '/games/play/mancala/3-2' && document.querySelectorAll('#board .target').length > 0`)
	later.run(chromedp.Navigate(site + "play/connectn/4-4-3?moves=1,1,2")) // events arrive while a search is at work
	later.wait(`/in \d+/.test(document.querySelector('#worth').textContent)`)
}

// TestSiteLink opens a page of the site first, not the list of games.
func TestSiteLink(t *testing.T) {
	tab := newTab(t, launch(t))
	tab.expectError = true // the server has no such file
	tab.run(chromedp.Navigate(serveSite(t, export(t), false).URL + "/games/play/connectn/4-4-3?moves=1,1,2"))
	tab.wait(`document.querySelectorAll('.piece').length === 3`)
}

// TestSiteBeside visits pages that the same server has beside the site, and pages that it does not have. Then
// another site takes the place of the first one: its page is shown, and the worker is gone.
func TestSiteBeside(t *testing.T) {
	dir := export(t)
	write := func(name, text string) {
		t.Helper()
		err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o777)
		if err = cmp.Or(err, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	write("about.html", `<link rel="stylesheet" href="static/style.css"><body>About us`)
	write("static/style.css", "body { color: rgb(1, 2, 3) }")
	server, browser := serveSite(t, dir, false), launch(t)
	tab := newTab(t, browser)
	tab.expectError = true // the pages that the server does not have
	visit := func(page string) { tab.run(chromedp.Navigate(server.URL + "/games/" + page)) }
	text := `document.body.innerText.trim() + ' ' + getComputedStyle(document.body).color`
	games := `document.querySelectorAll('.cards li').length > 5 && getComputedStyle(document.querySelector('.cards')).display === 'grid'`
	visit("")
	tab.wait(games)
	visit("about.html")
	tab.want(text, "About us rgb(1, 2, 3)")
	visit("nothing")
	tab.want(`document.body.innerText.trim()`, "404 page not found")
	visit("404.html") // which GitHub Pages shows
	tab.wait(`document.querySelector('#message').innerText === 'There is no such page. All games'`)
	visit("play/nothing")
	tab.wait(`/there is no game "nothing"/.test(document.body.innerText)`)
	visit("index.html")
	tab.wait(games + ` && location.pathname === '/games/'`)

	files, err := os.ReadDir(dir)
	for _, f := range files {
		err = cmp.Or(err, os.RemoveAll(filepath.Join(dir, f.Name())))
	}
	if err != nil {
		t.Fatal(err)
	}
	write("index.html", `<link rel="stylesheet" href="static/style.css"><body>Another site`)
	write("static/style.css", "body { color: rgb(4, 5, 6) }")
	later := time.Now().Add(time.Minute) // HTTP compares times of files in seconds
	if err := os.Chtimes(filepath.Join(dir, "static/style.css"), later, later); err != nil {
		t.Fatal(err)
	}
	visit("")
	tab.want(text, "Another site rgb(4, 5, 6)")
	var left int
	tab.run(chromedp.Evaluate(`(async () => (await navigator.serviceWorker.getRegistrations()).length + (await caches.keys()).length)()`, &left, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	if left != 0 {
		t.Errorf("%d registrations and caches are left", left)
	}
}

// A looked is what driver lookup --json prints of a position.
type looked struct {
	Hash       uint64
	Value      string
	Remoteness int
	Moves      []struct {
		Move, Value string
		Remoteness  int
	}
}

// String returns the values of the position and its moves.
func (l looked) String() string {
	words := []string{fmt.Sprint(l.Value, l.Remoteness)}
	for _, m := range l.Moves {
		words = append(words, fmt.Sprint(m.Move, " ", m.Value, m.Remoteness))
	}
	slices.Sort(words[1:])
	return strings.Join(words, ", ")
}

// sample draws positions of a table, and looks them up with driver.
func sample(t *testing.T, data string, n int) (all []looked) {
	positions, err := exec.Command(driver, "export", "--data", data, "--sample", strconv.Itoa(n), "--seed", "1").Output()
	if err != nil {
		t.Fatalf("driver export: %v", err)
	}
	cmd := exec.Command(driver, "lookup", "--data", data, "--json")
	cmd.Stdin = bytes.NewReader(positions)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("driver lookup: %v", err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var l looked
		if err := d.Decode(&l); err != nil {
			t.Fatal(err)
		}
		all = append(all, l)
	}
	return all
}

// lookUp is a function for the page of a game that returns what a looked prints of positions.
const lookUp = `async hashes => {
  const found = [];
  for (const h of hashes) {
    const v = await (await fetch(document.body.dataset.view + '?from=%23' + h)).json();
    const [, value, end = 0] = v.over ? [0, { [['first', 'second'][v.turn]]: 'win', [['second', 'first'][v.turn]]: 'lose' }[/point (\w+)/.exec(v.review.history)[1]] ?? 'tie'] : /: (win|lose|tie|draw)(?: in (\d+))?/.exec(v.report.known);
    found.push([value + end, ...(v.marks ?? []).map(m => m.name + ' ' + m.value + (m.text.slice(1) || 0)).sort()].join(', '));
  }
  return found;
}`

// boards are solved for a site: games of both methods, and those whose positions have images.
const boards = `connectn --width 5 --height 5 --connect 4
mancala --pits 3 --stones 4
mills --men 5
quixo --size 3
`

// solveSite writes a site with the tables of boards as make site-tables does, with further data directories. It returns the
// directory of the site, and the data directories by the addresses of the games.
func solveSite(t *testing.T, boards string, further ...string) (dir string, data map[string]string) {
	dir, data = filepath.Join(t.TempDir(), "site"), make(map[string]string)
	tables, list := t.TempDir(), filepath.Join(t.TempDir(), "boards.txt")
	if err := os.WriteFile(list, []byte(boards), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("scripts/site.sh", append([]string{dir, tables, list}, further...)...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("scripts/site.sh: %v: run make site\n%s", err, out)
	}
	solved, err := os.ReadDir(tables)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range solved {
		data[strings.Replace(d.Name(), "-", "/", 1)] = filepath.Join(tables, d.Name())
	}
	return dir, data
}

// TestSiteTables compares the tables of a site with driver lookup, and plays a move with values. One table is of a data
// directory that is not in the list of boards.
func TestSiteTables(t *testing.T) {
	further := filepath.Join(t.TempDir(), "further")
	if out, err := exec.Command(driver, "solve", "dodgem", "--size", "4", "--data", further).CombinedOutput(); err != nil {
		t.Fatalf("driver solve: %v\n%s", err, out)
	}
	dir, data := solveSite(t, boards, further)
	data["dodgem/4"] = further
	if len(data) != 5 {
		t.Fatalf("data directories of %v", data)
	}
	browser := launch(t)
	server := serveSite(t, dir, false)
	for board := range data {
		t.Run(board, func(t *testing.T) { testSiteTable(t, newTab(t, browser), server, board, sample(t, data[board], 1000)) })
	}
	t.Run("game of the day", func(t *testing.T) { testGameOfTheDay(t, browser, server, len(data)) })
	near := sample(t, data["connectn/5-5-4"], 1000)
	position := near[slices.IndexFunc(near, func(l looked) bool { return l.Remoteness == 3 })]
	address := fmt.Sprintf("/games/play/connectn/5-5-4?from=%%23%d", position.Hash)
	worth := fmt.Sprintf(`document.querySelector('#worth').textContent.includes('%s in 3') && `, position.Value)
	t.Run("complete files", func(t *testing.T) {
		tab := newTab(t, browser)
		server := serveSite(t, dir, true)
		tab.openSite(server)
		tab.run(chromedp.Navigate(server.URL + address))
		tab.wait(worth + `/^Search:.* The table is not used: .*this server sends only complete files, not parts of them\.$/.test(document.querySelector('#search').textContent)`)
	})
	t.Run("no server", func(t *testing.T) {
		tab := newTab(t, browser)
		server := serveSite(t, dir, false)
		tab.openSite(server)
		server.Close()
		tab.run(chromedp.Navigate(server.URL + address))
		tab.wait(worth + `/^Search:.* The table is not used: .*the server does not answer\.$/.test(document.querySelector('#search').textContent)`)
	})
}

// openSite opens the first page of a site with the tables.
func (t *tab) openSite(server *fileServer) {
	t.Helper()
	t.run(chromedp.Navigate(server.URL + "/games/"))
	t.wait(`!document.querySelector('#today').hidden`)
}

// testGameOfTheDay opens the first page of a site with n tables on several dates, in several time zones.
func testGameOfTheDay(t *testing.T, browser context.Context, server *fileServer, n int) {
	game := func(zone, instant string) string {
		tab := newTab(t, browser)
		clock := `{ const now = Date.parse('` + instant + `'); Date = class extends Date { constructor(...at) { super(...at.length ? at : [now]); } }; }`
		tab.run(emulation.SetTimezoneOverride(zone), chromedp.ActionFunc(func(ctx context.Context) error {
			_, err := page.AddScriptToEvaluateOnNewDocument(clock).Do(ctx)
			return err
		}))
		tab.openSite(server)
		tab.want(`document.querySelectorAll('#today li').length`, "1")
		tab.want(`document.querySelectorAll('main > .cards > [data-solved]').length`, strconv.Itoa(n)) // that of the day, too
		tab.want(`document.querySelector('#today svg').getBoundingClientRect().height > 100`, "true")
		return tab.text(`document.querySelector('#today a').pathname`)
	}
	var games []string
	for day := range n {
		games = append(games, game("Europe/Berlin", fmt.Sprintf("2026-02-%02dT12:00:00Z", 25+day)))
	}
	if east, west := game("Pacific/Kiritimati", "2026-02-24T10:30:00Z"), game("Pacific/Pago_Pago", "2026-02-26T10:30:00Z"); east != games[0] || west != games[0] {
		t.Errorf("%s and %s in other time zones on the same date, want %s", east, west, games[0])
	}
	if slices.Sort(games); len(slices.Compact(slices.Clone(games))) != n {
		t.Errorf("the games of %d days are %v", n, games)
	}
}

// testSiteTable compares positions of a table, and what its page shows of one.
func testSiteTable(t *testing.T, tab *tab, server *fileServer, board string, positions []looked) {
	tab.openSite(server)
	tab.run(chromedp.Navigate(server.URL + "/games/play/" + board))
	tab.wait(`/From the table/.test(document.querySelector('#search').textContent)`)
	var hashes, want, got []string
	for _, p := range positions {
		hashes, want = append(hashes, strconv.FormatUint(p.Hash, 10)), append(want, p.String())
	}
	tab.run(chromedp.Evaluate("("+lookUp+")(["+strings.Join(hashes, ",")+"])", &got, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			t.Fatalf("position #%s: %q, want %q", hashes[i], got[i:min(len(got), i+1)], want[i])
		}
	}
	server.mu.Lock()
	t.Logf("%d requests of %d bytes for %d positions and their moves", server.ranges, server.ranged, len(positions))
	if server.ranges == 0 || server.ranges > 3*len(positions) {
		t.Errorf("%d requests for %d positions", server.ranges, len(positions))
	}
	server.ranges, server.ranged = 0, 0
	server.mu.Unlock()

	p := positions[slices.IndexFunc(positions, func(l looked) bool { return len(l.Moves) > 1 && (l.Remoteness > 2 || l.Value == "draw") })]
	want = want[:0]
	for _, m := range p.Moves {
		want = append(want, fmt.Sprint(m.Move, " ", m.Value, m.Remoteness))
	}
	slices.Sort(want)
	tab.run(chromedp.Navigate(fmt.Sprintf("%s/games/play/%s?from=%%23%d", server.URL, board, p.Hash)))
	const rows = `[...document.querySelectorAll('#moves tbody tr')].map(({ cells: [move, result, end] }) => move.textContent + ' ' + /[a-z]+/.exec(result.textContent) + (end.textContent || 0)).sort().join()`
	tab.wait(rows + ` === '` + strings.Join(want, ",") + `'`)
	tab.run(press("#moves tbody button")) // the best move
	ends := "draw"
	if p.Value != "draw" {
		ends = fmt.Sprintf(" in %d", p.Remoteness-1)
	}
	tab.wait(`/moves=/.test(location.search) && document.querySelector('#search').textContent === 'From the table.' && document.querySelector('#worth').textContent.includes('` + ends + `')`)
}

// playOut plays a game to its end against the machine that plays second.
func (t *tab) playOut() {
	t.Helper()
	const over = `/ after \d+ move/.test(document.querySelector('#state').textContent)`
	for made := 0; t.text(over) != "true"; made += 2 {
		t.run(chromedp.Evaluate(`document.querySelector('#board [role=button]').dispatchEvent(new MouseEvent('click'))`, nil))
		t.wait(over + ` || document.querySelectorAll('.piece').length === ` + strconv.Itoa(made+2))
	}
}
