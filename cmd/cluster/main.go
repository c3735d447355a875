// Cluster brings a real Hadoop on this machine up and down: NameNode, DataNode,
// ResourceManager, NodeManager and JobHistoryServer on loopback.
//
//	cluster up [--dir DIR] [--free-ports]
//	cluster status [--dir DIR]
//	cluster down [--dir DIR]
//
// Up comes back when the cluster can take jobs; it does nothing if it runs, and
// starts again what has died. After
//
//	. build/cluster/env.sh
//
// the commands hadoop, hdfs, yarn and mapred are the cluster's. Down leaves no
// process; data and logs stay in the folder.
//
// Exit status: 0 done; 1 failed, or for status: not all of it runs; 2 wrong
// usage; 130 stopped by Ctrl-C.
package main

import "os"

func main() {
	os.Exit(run(os.Args, os.Stdout, os.Stderr))
}
