package emrtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/treereduce/treereduce/hadoop"
	"github.com/treereduce/treereduce/hadoop/conf"
	"github.com/treereduce/treereduce/hadoop/yarn"
	"github.com/treereduce/treereduce/internal/testing/minicluster"
)

// forget kills the remaining applications of a cluster that has ended, and deletes its
// files in HDFS, because nothing remains of a cluster of the service either.
func (c *cluster) forget() {
	hadoopd := c.s.config.Hadoop
	if err := errors.Join(killAll(hadoopd), empty(hadoopd)); err != nil {
		fmt.Fprintf(os.Stderr, "emrtest: %s: %v\n", c.id, err)
	}
}

// killAll kills the applications of a cluster.
func killAll(c *minicluster.Cluster) error {
	ctx, cancel := context.WithTimeout(context.Background(), minicluster.DefaultTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet,
		c.Web(minicluster.ResourceManager)+"/ws/v1/cluster/apps?states=NEW,NEW_SAVING,SUBMITTED,ACCEPTED,RUNNING", nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var answer struct {
		Apps struct{ App []struct{ ID string } }
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return err
	}
	properties, err := conf.Load(c.ConfDir())
	if err != nil || len(answer.Apps.App) == 0 {
		return err
	}
	client := yarn.New(properties, os.Getenv("HADOOP_USER_NAME"))
	client.Command = filepath.Join(c.Dir(), "bin", "hadoop")
	for _, app := range answer.Apps.App {
		err = errors.Join(err, client.Kill(ctx, app.ID))
	}
	return err
}

// empty deletes all files of users.
func empty(c *minicluster.Cluster) error {
	files, _, err := hadoop.Dial(c.DefaultFS() + "/emrtest")
	if err != nil {
		return err
	}
	defer files.Close()
	top, err := files.ReadDir("/")
	if err != nil {
		return err
	}
	for _, e := range top {
		switch e.Name() {
		case "tmp": // of the history server
		case "user":
			homes, err := files.ReadDir("/user")
			if err != nil {
				return err
			}
			for _, home := range homes {
				own, err := files.ReadDir(path.Join("/user", home.Name()))
				if err != nil {
					return err
				}
				for _, e := range own {
					if err := files.RemoveAll(path.Join("/user", home.Name(), e.Name())); err != nil {
						return err
					}
				}
			}
		default:
			if err := files.RemoveAll("/" + e.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}

// SpotTaken takes the worker nodes away, and replaces them after away seconds of the
// service. All work on them is lost.
func (s *Server) SpotTaken(ctx context.Context, away int) error {
	hadoopd := s.config.Hadoop
	if err := hadoopd.Kill(minicluster.NodeManager); err != nil {
		return err
	}
	// The tasks end with their machine.
	if err := hadoopd.Stop(ctx, minicluster.NodeManager); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(s.seconds(away)):
	}
	return hadoopd.Start(ctx, minicluster.NodeManager)
}
