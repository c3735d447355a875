package emr

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// A File is a file that a cluster gets from S3.
type File struct {
	Name    string
	Content []byte
}

// DirOf returns a name for a directory of these files, which depends on their contents: the programs of a
// running step are never replaced.
func DirOf(files []File) string {
	h := sha256.New()
	for _, f := range files {
		fmt.Fprintf(h, "%d %s %d\n", len(f.Name), f.Name, len(f.Content))
		h.Write(f.Content)
	}
	return hex.EncodeToString(h.Sum(nil))[:32]
}

// LimitScript is the bootstrap action of Spec.Limit. It runs on every node, but does nothing
// unless the node is the master. When the master shuts down, the cluster terminates, because
// its instances are terminated when they shut down. The timer is systemd's, because another
// process could be killed.
const LimitScript = `#!/bin/bash
# Ends the cluster after $1 minutes, on the master; does nothing on other nodes. It fails if the
# kind of the node is unknown, so that no cluster is without its limit.
grep -q '"isMaster": *true' /mnt/var/lib/info/instance.json || exit $(($? - 1))
exec sudo shutdown -P "+$1" "treereduce: the cluster has reached its limit of $1 minutes"
`

// stopTime is how long a program may take to stop after it has received SIGTERM.
const stopTime = 5 * time.Minute

// plainWord matches a word that a shell does not need in quotes.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// quote returns text as a word of a shell command, with quotes if necessary.
func quote(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// A Command is a program of a step.
type Command struct {
	Files []File
	At    string   // the directory of the files in S3: s3://bucket/dir
	Words []string // the name of one of the files, and its arguments
	Limit time.Duration
	Owner string // the address of an object in S3 that names the cluster
	Name  string // the name of the cluster, which the object must contain
}

// Step returns the words of a step that fetches the files and runs one of them. The step fails if
//
//   - the SHA-256 of a file is not that of the step, because it was replaced in the bucket;
//   - the owner does not contain the name of this cluster: another one has taken its place;
//   - the program runs longer than the limit. It receives SIGTERM then, and the exit status is 124.
//
// The script uses exec, so that signals of the service reach the program.
func (c *Command) Step() []string {
	words := make([]string, len(c.Words))
	for i, w := range c.Words {
		words[i] = quote(w)
	}
	var sums strings.Builder
	for _, f := range c.Files {
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(f.Content), f.Name)
	}
	fail := func(why string) string { return "{ echo " + quote(why) + " >&2; exit 1; }\n" }
	return []string{"bash", "-c", "set -eu\n" +
		"d=$(mktemp -d)\n" +
		"aws s3 cp --recursive --only-show-errors " + quote(c.At+"/") + ` "$d"` + "\n" +
		`(cd "$d" && sha256sum --check --quiet >&2) <<'END' || ` + fail("the programs in "+c.At+" are not those that were uploaded: delete them, and start the run again") +
		sums.String() + "END\n" +
		"aws s3 cp --only-show-errors " + quote(c.Owner) + ` "$d/owner"` + "\n" +
		"grep -qF -e " + quote(c.Name) + ` "$d/owner" || ` + fail("another cluster has taken over: "+c.Owner+" names it") +
		`chmod +x "$d"/*` + "\n" +
		fmt.Sprintf("exec timeout -s TERM -k %d %d ", int(stopTime/time.Second), int(c.Limit/time.Second)) + `"$d"/` + strings.Join(words, " ") + "\n"}
}
