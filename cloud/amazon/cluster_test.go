//go:build emr && linux && !race

package amazon_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/cloud/internal/testing/moto"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/minicluster"
	"github.com/treereduce/treereduce/internal/testing/minicluster/clustertest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/process"
	"github.com/treereduce/treereduce/internal/testing/solved"
)

// onHadoop is the command hadoop of a master, where Amazon EMR uses a connector of several hundred megabytes: for Hadoop,
// s3://bucket/games/data is the directory OBJECTS. What a command changes there is copied to S3.
const onHadoop = `#!/bin/bash
[[ " $* " == *' s3://'* ]] || exec HADOOP "$@"
HADOOP "$1" -Dfs.s3.impl=org.apache.hadoop.fs.viewfs.ViewFileSystemOverloadScheme -Dfs.viewfs.overload.scheme.target.s3.impl=org.apache.hadoop.fs.LocalFileSystem \
	-Dfs.viewfs.mounttable.bucket.link./games/data=file://OBJECTS "${@:2}"
status=$?
case "$1 $2" in
'fs -put' | 'fs -rm' | distcp*)
	aws s3 sync --only-show-errors --delete --exclude '*.crc' OBJECTS s3://bucket/games/data
	echo "$*" >>OBJECTS/../commands
	;;
esac
exit $status
`

// inHadoop starts both services, whose clusters are a Hadoop on this machine, with the programs that users have.
func inHadoop(t *testing.T) (*site, *minicluster.Cluster) {
	t.Helper()
	hadoop := clustertest.Shared(t.Context(), t)
	work := t.TempDir()
	objects, tools := filepath.Join(work, "objects"), filepath.Join(work, "tools")
	must.OK(t, os.Mkdir(objects, 0o777))
	must.OK(t, os.Mkdir(tools, 0o777))
	script := strings.NewReplacer("HADOOP", filepath.Join(hadoop.Dir(), "bin", "hadoop"), "OBJECTS", objects).Replace(onHadoop)
	must.OK(t, os.WriteFile(filepath.Join(tools, "hadoop"), []byte(script), 0o777))
	var env []string
	for _, v := range hadoop.Env() {
		if strings.HasPrefix(v, "HADOOP_") || strings.HasPrefix(v, "JAVA_HOME=") {
			env = append(env, v)
		}
	}
	path := strings.Join([]string{tools, moto.Bin(t), filepath.Join(hadoop.Dir(), "bin"), os.Getenv("PATH")}, ":")
	s := newSite(t, append(env, "STEP_PATH="+path)...)
	// The programs that users have: those of the tests are the test binary and a script, which go build does not replace.
	must.OK(t, os.RemoveAll(filepath.Join(s.dir, "programs")))
	process.Output(t, exec.Command("go", "build", "-o", filepath.Join(s.dir, "programs")+"/", "../../cmd/driver", "../../cmd/mapper", "../../cmd/reducer"))
	s.work = work
	return s, hadoop
}

// lost kills the applications of a cluster that has ended, and deletes its files in HDFS: nothing remains of a cluster
// of Amazon EMR either.
func lost(t *testing.T, hadoop *minicluster.Cluster) {
	t.Helper()
	cmd := exec.Command("bash", "-c", `apps=$(yarn application -list | awk '/^application_/ { print $1 }')
[ -z "$apps" ] || yarn application -kill $apps
hadoop fs -rm -r -f -skipTrash /user/*/treereduce`)
	cmd.Env = hadoop.Env()
	process.Output(t, cmd)
}

// TestEMR solves boards on a simulated Amazon EMR with a real Hadoop: the driver is a step, Hadoop keeps the copy in S3,
// and a cluster that is lost in mid-run is replaced by a new one, which goes on from the copy. The results are those of a
// run in one process.
func TestEMR(t *testing.T) {
	s, hadoop := inHadoop(t)
	const line = "solve connectn --width 4 --height 4 --connect 3 --final yes"
	const onEMR = line + " --runner emr --bucket s3://bucket/games --binaries programs --poll 200ms --instance m5.xlarge --yes --cluster-above 4000 --data data/"
	s.says(t, 0, line+" --data want")
	same := func(name string) {
		t.Helper()
		s.aws(t, "s3", "cp", "--recursive", "--only-show-errors", "s3://bucket/games/data/"+name, name)
		solved.SameText(t, store.Local{}, filepath.Join(s.dir, name), filepath.Join(s.dir, "want"))
	}
	t.Run("solve", func(t *testing.T) {
		s.says(t, 0, onEMR+"solve", "X wins in ", "final: s3://bucket/games/data/solve/final")
		same("solve")
		commands := string(must.Get(os.ReadFile(filepath.Join(s.work, "commands")))(t))
		jobs, local := strings.Count(commands, "distcp "), strings.Count(commands, "mapreduce.framework.name=local")
		if local == 0 || jobs == local || !strings.Contains(commands, "fs -put") {
			t.Errorf("the copy was made by %s", commands)
		}
		lost(t, hadoop)
	})
	t.Run("lost", func(t *testing.T) {
		cmd, says := s.start(t, onEMR+"lost")
		wait(t, "a copy of tier 8", func() bool {
			_, err := os.Stat(filepath.Join(s.work, "objects", "lost", "data_first8", store.Success))
			return err == nil
		})
		s.says(t, 0, "emr down --all --yes --poll 200ms")
		cmd.Wait()
		if !strings.Contains(says.String(), "--resume continues") {
			t.Errorf("it says %s", says)
		}
		lost(t, hadoop)
		s.says(t, 0, onEMR+"lost --resume", "X wins in ")
		same("lost")
		lost(t, hadoop)
	})
	t.Run("mapper fails", func(t *testing.T) {
		must.OK(t, os.Remove(filepath.Join(s.dir, "programs", "mapper")))
		must.OK(t, os.WriteFile(filepath.Join(s.dir, "programs", "mapper"), []byte("#!/bin/sh\necho \"$0: input:3: expected a key, found 'x'\" >&2\nexit 1\n"), 0o777))
		s.says(t, 1, strings.Replace(onEMR, "--cluster-above 4000", "--cluster-above 0", 1)+"fails", "input:3: expected a key, found 'x'", "; cluster j-")
		lost(t, hadoop)
	})
}
