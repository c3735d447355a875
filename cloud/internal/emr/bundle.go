package emr

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/treereduce/treereduce/cloud/internal/s3"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// A File is a file of a Bundle.
type File struct {
	Name    string
	Content []byte
}

// A Bundle is a set of programs in a directory named by the hash of their contents. So they
// are uploaded to S3 only once, and the programs of a running step are never replaced.
type Bundle struct {
	Files []File
	hash  string
}

// ReadBundle reads the files with the given names from a directory.
func ReadBundle(dir string, names ...string) (*Bundle, error) {
	var files []File
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		files = append(files, File{name, content})
	}
	return NewBundle(files...), nil
}

// NewBundle returns a bundle of the given files.
func NewBundle(files ...File) *Bundle {
	h := sha256.New()
	for _, f := range files {
		fmt.Fprintf(h, "%d %s %d\n", len(f.Name), f.Name, len(f.Content))
		h.Write(f.Content)
	}
	return &Bundle{Files: slices.Clone(files), hash: hex.EncodeToString(h.Sum(nil))[:32]}
}

// Dir returns the directory of a bundle below base.
func (b *Bundle) Dir(base string) string { return path.Join(base, "bin", b.hash) }

// Put uploads the files of a bundle to its directory below base, and returns that directory.
// It skips files that are there, see s3.FS.HasContent. It calls news for each file before the upload.
func (b *Bundle) Put(to *s3.FS, base string, news func(name string, bytes int)) (dir string, err error) {
	dir = b.Dir(base)
	for _, f := range b.Files {
		name := path.Join(dir, f.Name)
		has, err := to.HasContent(name, f.Content)
		if err == nil && !has {
			news(name, len(f.Content))
			err = store.WriteFile(to, name, f.Content)
		}
		if err != nil {
			return "", err
		}
	}
	return dir, nil
}

// limitScript is the bootstrap action of Spec.Limit. It runs on every node, but does nothing
// unless the node is the master. When the master shuts down, the cluster terminates, because
// its instances are terminated when they shut down. The timer is systemd's, because another
// process could be killed.
const limitScript = `#!/bin/bash
# Ends the cluster after $1 minutes, on the master; does nothing on other nodes. It fails if the
# kind of the node is unknown, so that no cluster is without its limit.
grep -q '"isMaster": *true' /mnt/var/lib/info/instance.json || exit $(($? - 1))
exec sudo shutdown -P "+$1" "treereduce: the cluster has reached its limit of $1 minutes"
`

// LimitScript returns the bootstrap action of Spec.Limit, as a bundle of one file.
func LimitScript() *Bundle { return NewBundle(File{"limit.sh", []byte(limitScript)}) }

// stopTime is how long a program may take to stop after it has received SIGTERM.
const stopTime = 5 * time.Minute

// plainWord matches a word that a shell does not need in quotes.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// word returns text as a word of a shell command, with quotes if necessary.
func word(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// Program returns a step that fetches a bundle from its directory in S3 (s3://bucket/dir),
// verifies it, and runs one of its files with the given words. If limit is not 0, the program
// receives SIGTERM after that time, and the step fails with exit code 124.
//
//   - The master compares the SHA-256 of each file with that in the step, so a file that
//     was replaced in the bucket does not run.
//   - A cluster with Spec.Keep may count as idle while the program does not use YARN. The
//     file isbusy, touched every minute, prevents this (releases from 6.4.0 on).
//   - The script uses exec, so that signals of the service reach the program.
func Program(name string, bundle *Bundle, at, file string, words []string, limit time.Duration) Step {
	run := "exec "
	if limit > 0 {
		run += fmt.Sprintf("timeout -s TERM -k %d %d ", int(stopTime/time.Second), int(limit/time.Second))
	}
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = word(w)
	}
	var sums strings.Builder
	for _, f := range bundle.Files {
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(f.Content), f.Name)
	}
	script := "set -eu\n" +
		"d=$(mktemp -d)\n" +
		"aws s3 cp --recursive --only-show-errors " + word(at+"/") + ` "$d"` + "\n" +
		`(cd "$d" && sha256sum --check --quiet >&2) <<'END' || { echo ` + word(file+": the programs in "+at+" are not those that were uploaded: driver-aws solve uploads them again") + ` >&2; exit 1; }` + "\n" +
		sums.String() + "END\n" +
		`chmod +x "$d"/*` + "\n" +
		"(while kill -0 $$; do touch /emr/metricscollector/isbusy; sleep 60; done; rm -rf \"$d\") >/dev/null 2>&1 &\n" +
		run + `"$d"/` + word(file) + " " + strings.Join(quoted, " ") + "\n"
	return Step{Name: name, Args: []string{"bash", "-c", script}}
}
