package play

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/internal/web/site"
)

// exportWeb implements play web --export: it writes the pages as static files.
func exportWeb(c *cli.Context, dir string) error {
	for _, name := range []string{"data", "book", "listen", "open", "host", "allow-origin", "searches", "memory"} {
		if c.IsSet(name) {
			return fmt.Errorf("--%s: the site of --export has no server and no tables: leave this flag out", name)
		}
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	size, err := site.Write(dir, filepath.Dir(self))
	if err != nil {
		return fmt.Errorf("--export: %w", err)
	}
	fmt.Fprintf(c.App.Writer, "%s: %s; copy it to a web server\n", dir, numfmt.Bytes(float64(size)))
	return nil
}
