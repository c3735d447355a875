package driver

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"syscall"

	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/engine/metrics"
	"github.com/treereduce/treereduce/internal/engine/status"
)

// serveMetrics serves the metrics of the run, if --metrics names an address, until stop is called.
func (r *run) serveMetrics() (stop func(), err error) {
	address := r.flags.metrics
	if address == "" {
		return func() {}, nil
	}
	l, err := metrics.Listen(address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("--metrics %s: another program uses this port: choose another one, or 0 for a free one", address)
	}
	if err != nil {
		return nil, command.Usagef("--metrics %s: expected PORT or HOST:PORT of this machine: %w", address, err)
	}
	host, _, _ := net.SplitHostPort(address) // Listen has accepted it; "": a port alone
	this, _ := os.Hostname()
	metrics.Serve(l, []string{host, this}, func(out io.Writer) error {
		var runs []metrics.Run
		switch s, err := status.Read(r.place.FS, r.place.Path); {
		case err == nil:
			runs = append(runs, metrics.Run{Data: r.flags.data, Run: s})
		case !errors.Is(err, fs.ErrNotExist): // otherwise, the run has not written its journal yet
			return err
		}
		return metrics.Write(out, command.Version(), runs)
	})
	notice := fmt.Sprintf("metrics: http://%s/metrics", l.Addr())
	if at, ok := l.Addr().(*net.TCPAddr); ok && !at.IP.IsLoopback() {
		notice += "; other machines can reach it"
	}
	r.bar.Print(notice)
	return func() { l.Close() }, nil
}
