package browser

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// TestNginx uses the pages through nginx with its default settings, below a path. TREEREDUCE_LONG=1 also
// waits until after the time in which nginx ends a connection without data.
func TestNginx(t *testing.T) {
	data := solve(t)
	dir := t.TempDir()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listen := l.Addr().String()
	l.Close()
	conf := filepath.Join(dir, "nginx.conf")
	text := fmt.Sprintf(`daemon off; pid %[1]s/pid; error_log %[1]s/log;
events {}
http { access_log off; client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/s;
  server { listen %[2]s; location /games/ { proxy_pass %[3]s/; } } }
`, dir, listen, serve(t, data, filepath.Join(dir, "absent")))
	if err := os.WriteFile(conf, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	nginx := exec.Command("nginx", "-p", dir, "-c", conf, "-e", filepath.Join(dir, "log"))
	nginx.Stderr = os.Stderr
	if err := nginx.Start(); err != nil {
		t.Fatalf("%v: run make web-tools", err)
	}
	t.Cleanup(func() {
		nginx.Process.Signal(os.Interrupt)
		nginx.Wait()
	})
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		if c, err := net.Dial("tcp", listen); err == nil {
			c.Close()
			break
		} else if time.Now().After(end) {
			t.Fatal(err)
		}
	}

	first := "http://" + listen + "/games/"
	tab := open(t, launch(t), first)
	follow := func(link, path string) {
		tab.Helper()
		tab.run(press(link))
		tab.wait(`location.pathname === '/games/` + path + `' && document.readyState === 'complete'`)
		tab.want(`getComputedStyle(document.querySelector('header')).display !== '' && [...document.styleSheets].length >= 3`, "true")
	}
	follow(`a[href*="play/connectn/4-4-3#"]`, "play/connectn/4-4-3")
	follow(`a[href$="tables/connectn/4-4-3"]`, "tables/connectn/4-4-3")
	tab.visit(tab.text(`new URL(document.querySelector('a.node[href$="moves=2%2C1"]').getAttribute('href'), location)`))
	tab.run(chromedp.KeyEvent("0"))
	tab.wait(`location.pathname === '/games/play/connectn/4-4-3' && location.search === '?moves=2%2C1%2C0' && document.querySelectorAll('.piece').length === 3`)
	tab.settle()
	follow(`header a`, "")
	tab.run(press(`details:has(form[action*="play/mancala"]) summary`))
	follow(`form[action*="play/mancala"] button`, "play/mancala/3-2")
	tab.wait(`document.querySelectorAll('#board .target').length > 0 && document.querySelector('#seat1').value === 'adapts'`)
	tab.visit(first + "play/mancala/6-4") // events arrive while the search goes on
	tab.wait(`/Search: .* …$/.test(document.querySelector('#search').textContent)`)

	tab.visit(first + "run?data=" + url.QueryEscape(filepath.Join(dir, "absent")))
	tab.want(state, "no run has begun")
	if os.Getenv("TREEREDUCE_LONG") != "" {
		time.Sleep(70 * time.Second)
		tab.want(`document.querySelector('#message').textContent`, "")
	}
	if log, err := os.ReadFile(filepath.Join(dir, "log")); err != nil || strings.Contains(string(log), "[error]") {
		t.Errorf("%s %v", log, err)
	}
}
