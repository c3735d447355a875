package amazon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/cloud/internal/aws"
	"github.com/treereduce/treereduce/cloud/internal/mirror"
	"github.com/treereduce/treereduce/cloud/internal/s3"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/numfmt"
)

// Keys below --bucket and outside of data directories that treereduce wrote, recognized by
// their form: a program below its hash, the logs of a cluster.
var (
	programKey = regexp.MustCompile(`^bin/[0-9a-f]{32}/(driver-aws|mapper|reducer|limit\.sh)$`)
	logKey     = regexp.MustCompile(`^logs/(j-[A-Z0-9]+)/`)
)

// A removal lists what driver-aws emr rm would delete.
type removal struct {
	groups map[string]*removalGroup // keyed by path in the bucket
	others int                      // the number of objects that stay
	other  string                   // one of them
}

// A removalGroup is a data directory, or one of the directories bin and logs.
type removalGroup struct {
	what string
	data bool
	keys []string
	size int64
}

// bucketToo reports whether the bucket would be empty and is deleted as well.
func (r *removal) bucketToo(place bucketPlace) bool { return place.prefix == "" && r.others == 0 }

// print lists what would be deleted.
func (r *removal) print(out io.Writer, place bucketPlace) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, dir := range slices.Sorted(maps.Keys(r.groups)) {
		g := r.groups[dir]
		fmt.Fprintf(w, "s3://%s/%s\t%s\t%s\t%s\n", place.bucket, command.Printable(dir), numfmt.Count(int64(len(g.keys)), "object"), numfmt.Bytes(float64(g.size)), command.Printable(g.what))
	}
	if r.bucketToo(place) {
		fmt.Fprintf(w, "s3://%s\t0 objects\t0 B\tthe bucket, which is otherwise empty\n", place.bucket)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if r.others > 0 {
		if _, err := fmt.Fprintf(out, "kept: %s, such as s3://%s/%s\n", numfmt.Count(r.others, "other object"), place.bucket, command.Printable(r.other)); err != nil {
			return err
		}
	}
	return nil
}

// A remover finds and deletes the objects of driver-aws emr rm.
type remover struct {
	*emrCommand
	ours map[string]bool // whether a cluster with logs there was created for this place, keyed by id
}

// rel returns the path of a key relative to --bucket.
func (r *remover) rel(key string) string {
	return strings.TrimPrefix(strings.TrimPrefix(key, r.place.prefix), "/")
}

// find lists all objects below the place and assigns them to groups.
func (r *remover) find(ctx context.Context) (*removal, error) {
	sizes := make(map[string]int64)
	var manifests []string
	err := r.fs.Walk(ctx, r.place.prefix, func(key string, size int64) {
		sizes[key] = size
		if path.Base(key) == store.ManifestFile && path.Dir(key) != "." {
			manifests = append(manifests, path.Dir(key))
		}
	})
	if err != nil {
		return nil, err
	}
	found := &removal{groups: make(map[string]*removalGroup)}
	for _, dir := range manifests {
		text, err := store.ReadFile(r.fs, path.Join(dir, store.ManifestFile))
		var damaged *store.DamageError
		if errors.As(err, &damaged) {
			continue // too large for a manifest, so it is not one of ours
		}
		if err != nil {
			return nil, err
		}
		var m store.Manifest
		if store.UnmarshalSummed(dir, text, &m) == nil {
			found.groups[dir] = &removalGroup{what: m.Game, data: true}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(sizes)) {
		dir, what, err := r.groupOf(ctx, key, found)
		switch {
		case err != nil:
			return nil, err
		case dir == "":
			if path.Base(key) == mirror.OwnerFile && found.groups[path.Dir(key)] != nil {
				continue // the claim of the directory, which is deleted with it
			}
			if found.others++; found.other == "" {
				found.other = key
			}
			continue
		case found.groups[dir] == nil:
			found.groups[dir] = &removalGroup{what: what}
		}
		g := found.groups[dir]
		g.keys, g.size = append(g.keys, key), g.size+sizes[key]
	}
	return found, nil
}

// groupOf returns the directory with which a key is deleted, or "" if the key stays. If the key
// is in a data directory, that is the innermost directory with a manifest.
func (r *remover) groupOf(ctx context.Context, key string, found *removal) (dir, what string, err error) {
	for at := path.Dir(key); at != "."; at = path.Dir(at) {
		if g := found.groups[at]; g == nil || !g.data {
			continue
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(key, at+"/"), "/")
		if name == store.ManifestFile || solve.IsRunArtifact(name) {
			return at, "", nil
		}
		return "", "", nil
	}
	rel := r.rel(key)
	top := func(name string) string { return path.Join(r.place.prefix, name) }
	if programKey.MatchString(rel) {
		return top("bin"), "programs", nil
	}
	if m := logKey.FindStringSubmatch(rel); m != nil {
		if ours, err := r.isOurs(ctx, m[1]); err != nil || !ours {
			return "", "", err
		}
		return top("logs"), "logs of clusters", nil
	}
	return "", "", nil
}

// isOurs reports whether a cluster was created for this place, or for one below it. It returns
// false for a cluster that the service no longer knows, or denies access to.
func (r *remover) isOurs(ctx context.Context, id string) (bool, error) {
	if ours, asked := r.ours[id]; asked {
		return ours, nil
	}
	state, err := r.service.Cluster(id).State(ctx)
	var refused *aws.Error
	if err != nil && (!errors.As(err, &refused) || refused.Code == "" || aws.IsTransient(err)) {
		return false, err
	}
	r.ours[id] = err == nil && madeFor(state.Name, r.place)
	return r.ours[id], nil
}

// madeFor reports whether the name of a cluster shows that it was created for a place, or for
// one below it.
func madeFor(name string, place bucketPlace) bool {
	rest, ok := strings.CutPrefix(name, "treereduce "+place.String())
	return ok && (rest == "" || rest[0] == '/' || rest[0] == ' ')
}

// mayWrite returns an error if a running cluster may write below the place, after find.
func (r *remover) mayWrite(ctx context.Context) error {
	alive, err := r.service.Alive(ctx)
	if err != nil {
		return err
	}
	for _, s := range alive {
		if r.ours[s.ID] || madeFor(s.Name, r.place) {
			return fmt.Errorf("cluster %s may still write there: driver-aws emr down --cluster-id %s terminates it", s.ID, s.ID)
		}
	}
	return nil
}

// remove implements driver-aws emr rm.
func (f *emrFlags) remove(c *cli.Context) error {
	place, err := bucketOf(f.bucket)
	if err != nil {
		return err
	}
	e, ctx, stop, err := f.begin(c, place)
	if err != nil {
		return err
	}
	defer stop()
	if err := e.openBucket(ctx); err != nil {
		return err
	}
	r := &remover{e, make(map[string]bool)}
	found, err := r.find(ctx)
	if err != nil {
		return err
	}
	if err := r.mayWrite(ctx); err != nil {
		return err
	}
	out := c.App.Writer
	if err := found.print(out, place); err != nil {
		return err
	}
	if len(found.groups) == 0 && !found.bucketToo(place) {
		_, err := fmt.Fprintf(out, "treereduce has created nothing below %s\n", place)
		return err
	}
	if !c.Bool("yes") {
		answer, asked := command.Ask(ctx, c.App, "Delete these, yes or no?")
		switch {
		case !asked:
			return errors.New("nothing was deleted: --yes deletes them")
		case !strings.HasPrefix(answer, "y"):
			return errors.New("nothing was deleted")
		}
	}
	if err := r.remove(ctx, found); err != nil {
		return err
	}
	n, size := 0, int64(0)
	for _, g := range found.groups {
		n, size = n+len(g.keys), size+g.size
	}
	text := fmt.Sprintf("deleted %s, %s", numfmt.Count(int64(n), "object"), numfmt.Bytes(float64(size)))
	if found.bucketToo(place) {
		if err := e.fs.RemoveBucket(ctx); err != nil {
			return err
		}
		text += ", and the bucket"
	}
	_, err = fmt.Fprintln(out, text)
	return err
}

// remove deletes the listed objects. It claims the data directories first, so that no driver
// works in them, and deletes nothing if they have changed since they were listed.
func (r *remover) remove(ctx context.Context, found *removal) (err error) {
	var claims []*s3.Claim
	defer func() {
		for _, claim := range claims {
			err = errors.Join(err, claim.Release(context.WithoutCancel(ctx)))
		}
	}()
	for dir, g := range found.groups {
		if !g.data {
			continue
		}
		claim, _, err := r.fs.Claim(ctx, path.Join(dir, mirror.OwnerFile), whoami()+" (emr rm)", s3.Hold)
		if err != nil {
			return fmt.Errorf("nothing was deleted: %w", err)
		}
		claims = append(claims, claim)
	}
	held := func(ctx context.Context) error {
		for _, claim := range claims {
			if err := claim.Held(ctx); err != nil {
				return err
			}
		}
		return nil
	}
	now, err := r.find(ctx)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(now, found) {
		return fmt.Errorf("nothing was deleted: the objects below %s have changed since they were listed; list them again", r.place)
	}
	for _, g := range found.groups {
		// Delete the seals first: a directory without one is incomplete. Delete the manifest
		// last: without it, find no longer recognizes the directory.
		ranks := map[string]int{store.Success: -1, store.ManifestFile: 1} // others: 0
		for rank := -1; rank <= 1; rank++ {
			keys := slices.DeleteFunc(slices.Clone(g.keys), func(key string) bool { return ranks[path.Base(key)] != rank })
			if err := r.fs.RemoveObjects(ctx, keys, held); err != nil {
				return err
			}
		}
	}
	var listErr error
	err = r.fs.RemoveUploads(ctx, r.place.prefix, func(key string) bool {
		dir, _, err := r.groupOf(ctx, key, found)
		listErr = errors.Join(listErr, err)
		return dir != ""
	})
	return errors.Join(err, listErr)
}
