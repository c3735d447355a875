package browser

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
)

// maxSite is the number of bytes that the first visit of a site may load.
const maxSite = 2_500_000

// A fileServer is a plain web server with a site below a path. It notes what is requested.
type fileServer struct {
	*httptest.Server
	mu    sync.Mutex
	paths []string
	bytes int
}

// exported writes the site of play web --export, and serves it.
func exported(t *testing.T) *fileServer {
	dir := filepath.Join(t.TempDir(), "site")
	if out, err := exec.Command(play, "web", "--export", dir).CombinedOutput(); err != nil {
		t.Fatalf("play web --export: %v: run make site\n%s", err, out)
	}
	s := new(fileServer)
	files := http.StripPrefix("/games/", http.FileServer(http.Dir(dir)))
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		counted := &counter{ResponseWriter: w}
		if r.URL.Path == "/games/play/connectn/4-4-3" { // as GitHub Pages does
			http.ServeFile(&missing{counted}, r, filepath.Join(dir, "404.html"))
		} else {
			files.ServeHTTP(counted, r)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.paths = append(s.paths, r.URL.Path)
		s.bytes += counted.n
	}))
	t.Cleanup(s.Close)
	return s
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
	server := exported(t)
	site := server.URL + "/games/"
	browser := launch(t)
	tab := newTab(t, browser)
	tab.run(chromedp.Navigate(site))
	tab.run(press("a.start"))
	tab.wait(`location.pathname === '/games/play/connectn/7-6-4' && document.getElementById('seat1').value === 'regular' && document.querySelectorAll('#board .target').length > 0`)
	tab.playOut()

	server.mu.Lock()
	slices.Sort(server.paths)
	want := []string{"/games/", "/games/program.bin", "/games/start.js", "/games/sw.js", "/games/wasm_exec.js"}
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
	later.run(press(`details:has(form[action$="open/mancala"]) summary`), press(`form[action$="open/mancala"] button`))
	later.wait(`location.pathname === '/games/play/mancala/3-2' && document.querySelectorAll('#board .target').length > 0`)
	later.run(chromedp.Navigate(site + "play/connectn/4-4-3?moves=1,1,2")) // events arrive while a search is at work
	later.wait(`/in \d+ move/.test(document.querySelector('#worth').textContent)`)
}

// TestSiteLink opens a page of the site first, not the list of games.
func TestSiteLink(t *testing.T) {
	tab := newTab(t, launch(t))
	tab.expectError = true // the server has no such file
	tab.run(chromedp.Navigate(exported(t).URL + "/games/play/connectn/4-4-3?moves=1,1,2"))
	tab.wait(`document.querySelectorAll('.piece').length === 3`)
}

// playOut plays a game to its end against the machine that plays second.
func (t *tab) playOut() {
	t.Helper()
	const over = `/over/.test(document.querySelector('#state').textContent)`
	for made := 0; t.text(over) != "true"; made += 2 {
		t.run(chromedp.Evaluate(`document.querySelector('#moves tbody button').click()`, nil))
		t.wait(over + ` || document.querySelectorAll('.piece').length === ` + strconv.Itoa(made+2))
	}
}
