package amazon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/treereduce/treereduce/cloud/internal/emr"
	"github.com/treereduce/treereduce/cloud/internal/s3"
)

// creation is how long another driver may take from writing the owner until its cluster is in Amazon EMR's list.
const creation = 15 * time.Minute

// An owner names the cluster that may write a data directory in S3. It is a small object, which a driver writes
// before it creates the cluster, on condition that no other driver has changed it.
type owner struct {
	Cluster string    `json:"cluster"` // the unique name of the cluster; "": none
	By      string    `json:"by"`
	Since   time.Time `json:"since"`

	version s3.Version
}

// readOwner reads the owner of the data directory; without one, it names no cluster.
func (r *run) readOwner(ctx context.Context) (o owner, err error) {
	v, err := r.fs.Read(ctx, r.ownerKey())
	if err == nil && len(v.Content) > 0 && json.Unmarshal(v.Content, &o) != nil {
		err = fmt.Errorf("%s: expected the owner of a run, found %.40q: delete it if no cluster works there", r.fs.Name(r.ownerKey()), v.Content)
	}
	o.version = v
	return o, err
}

// ownerKey returns the key of the owner.
func (r *run) ownerKey() string { return r.place.key(ownersDir, r.place.name) }

// become makes a cluster the owner, in place of another or of none.
func (r *run) become(ctx context.Context, cluster string, old owner) (owner, error) {
	host, err := os.Hostname()
	if err != nil {
		host = "an unnamed machine"
	}
	o := owner{Cluster: cluster, By: fmt.Sprintf("driver %d on %s", os.Getpid(), host), Since: time.Now().UTC()}
	text, err := json.Marshal(o)
	if err == nil {
		o.version, err = r.fs.Replace(ctx, r.ownerKey(), append(text, '\n'), old.version)
	}
	if errors.Is(err, s3.ErrTaken) {
		err = fmt.Errorf("%s: another driver has just started a run there", r.place.data())
	}
	return o, err
}

// clusterOf returns the cluster that an owner names, which has not ended; or nil. A cluster that is ending is
// waited for. The error says that another driver is about to create the cluster.
func (r *run) clusterOf(ctx context.Context, o owner) (*emr.Cluster, error) {
	if o.Cluster == "" {
		return nil, nil
	}
	c, err := r.service.Find(ctx, o.Cluster, o.version.Changed)
	if err != nil {
		return nil, err
	}
	if c == nil && time.Since(o.version.Changed) < creation {
		return nil, fmt.Errorf("%s: %s has been creating a cluster there since %s: try again in some minutes", r.place.data(), o.By, clock(o.Since))
	}
	if c == nil || c.Terminated() {
		return nil, nil
	}
	if c, err = r.service.Cluster(ctx, c.ID); err != nil || !c.Over() {
		return c, err
	}
	r.notify(fmt.Sprintf("waiting for the last cluster to end: %s", c))
	_, err = r.service.Follow(ctx, c.ID, (*emr.Cluster).Terminated)
	return nil, err
}
