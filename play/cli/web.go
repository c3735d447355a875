package play

import (
	"errors"
	"fmt"
	"io/fs"
	"log"
	"net"
	"os"
	"os/exec"
	"path"
	"runtime"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/command/datadir"
	"github.com/treereduce/treereduce/internal/engine/metrics"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/play/internal/web"
	"github.com/treereduce/treereduce/play/internal/web/runpages"
	"github.com/treereduce/treereduce/table"
)

// webCommand returns play web.
func webCommand(games game.Kinds) *cli.Command {
	return &cli.Command{
		Name:      "web",
		Usage:     "serve solved games, games by search, and runs in progress to a browser",
		UsageText: "play web [--data DIRECTORY]... [--listen HOST:PORT] [--open]",
		Description: "Serves the tables of the data directories, and every game by search, on a page with the value of each\n" +
			"move. Each directory has a page for its run, even before it begins. Answers only requests to localhost, an IP\n" +
			"address or a --host name.",
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "data", Usage: "a data `DIRECTORY` to serve, " + datadir.ByDefault + " by default if it exists"},
			&cli.StringFlag{Name: "listen", Usage: "`HOST:PORT` to listen at; port 0 takes a free one", Value: "localhost:8080"},
			&cli.BoolFlag{Name: "open", Usage: "open the page in a browser"},
			&cli.StringSliceFlag{Name: "host", Usage: "a further `HOST` name that requests may name"},
			&cli.StringFlag{Name: "allow-origin", Usage: "`ORIGIN` of pages that may use the interface below /api/; * allows all"},
			&cli.IntFlag{Name: "searches", Usage: "number of searches at a time", DefaultText: "number of cores less one, at least 1"},
			&cli.StringFlag{Name: "export", Usage: "write the pages, and the tables of --data, to an empty `DIRECTORY` for any web server, and end"},
			&cli.StringFlag{Name: "memory", Usage: "memory of all searches together, e.g. 64M or 4G", DefaultText: "64M"},
		},
		Action: func(c *cli.Context) error { return serveWeb(c, games) },
	}
}

// serveWeb implements play web.
func serveWeb(c *cli.Context, games game.Kinds) error {
	if err := command.NoArguments(c, ""); err != nil {
		return err
	}
	if dir := c.String("export"); dir != "" {
		return exportWeb(c, games, dir)
	}
	o := web.Options{
		Games: games, Pages: runpages.New, AllowOrigin: c.String("allow-origin"), Searches: max(1, runtime.GOMAXPROCS(0)-1),
		HostAllowed: func(host string) bool { return metrics.HostAllowed(host, c.StringSlice("host")) },
		Log:         logOf(c),
	}
	err := command.AtLeast(c, 1, "searches")
	if err != nil {
		return err
	}
	if c.IsSet("searches") {
		o.Searches = c.Int("searches")
	}
	if o.Memory, err = command.Size(c, "memory"); err != nil {
		return err
	}
	names := c.StringSlice("data")
	if _, err := os.Stat(datadir.ByDefault); err == nil && !c.IsSet("data") {
		names = []string{datadir.ByDefault}
	}
	for _, name := range names {
		source, err := openSource(name, games, o.Log)
		var unknown *game.UnknownError
		var other *game.ParamError
		if !c.IsSet("data") && (errors.As(err, &unknown) || errors.As(err, &other)) {
			o.Log.Printf("%v; the pages do not show it", err) // nothing has named it
			continue
		}
		if err != nil {
			return err
		}
		if source.Table != nil {
			defer source.Table.Close()
			same := func(s web.Source) bool { return s.Table != nil && s.Table.Game().Spec() == source.Table.Game().Spec() }
			if i := slices.IndexFunc(o.Sources, same); i >= 0 {
				o.Log.Printf("%s: the page shows the table of %s, which has the same game; leave out --data %[2]s to show this one", name, o.Sources[i].Name)
			}
		}
		o.Sources = append(o.Sources, *source)
	}
	s, err := web.New(o)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", c.String("listen"))
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	ctx, stop := command.Interruptible(c.Context)
	defer stop()
	address := "http://" + l.Addr().String() + "/"
	if host, _, err := net.SplitHostPort(l.Addr().String()); err == nil && !net.ParseIP(host).IsLoopback() {
		o.Log.Print("other machines can reach this server")
	}
	if _, err := fmt.Fprintln(c.App.Writer, address); err != nil {
		l.Close()
		return err
	}
	if c.Bool("open") {
		openBrowser(address)
	}
	return s.Serve(ctx, l)
}

// openSource opens a data directory. Without a complete table, it logs why there is none.
func openSource(name string, games game.Kinds, notices *log.Logger) (*web.Source, error) {
	place, err := datadir.OpenDir(name)
	if err != nil {
		return nil, err
	}
	source := &web.Source{Name: name, FS: place.FS, Path: place.Path}
	_, err = store.ReadSeal(place.FS, path.Join(place.Path, table.Dir))
	if errors.Is(err, store.ErrIncomplete) {
		if err = datadir.Absent(place, name); err == nil {
			_, err = store.ReadManifest(place.FS, place.Path)
		}
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%s: its table is not complete", name)
		}
		notices.Printf("%v; a page shows its run", err)
		return source, nil
	}
	source.Table, err = table.OpenFS(place.FS, place.Path, games.Parse)
	return source, err
}

// openBrowser opens a page in the user's browser, if there is a way.
func openBrowser(address string) {
	name := "xdg-open"
	if runtime.GOOS == "darwin" {
		name = "open"
	}
	if cmd := exec.Command(name, address); cmd.Start() == nil {
		go cmd.Wait()
	}
}
