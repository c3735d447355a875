//go:build unix

// Cluster starts and stops a real Hadoop on this machine: NameNode, DataNode, ResourceManager,
// NodeManager and JobHistoryServer on the loopback interface.
//
//	cluster up [--dir DIR] [--free-ports] [--nodes N]
//	cluster status [--dir DIR]
//	cluster down [--dir DIR]
//	cluster kill-node [--dir DIR] [--remove-storage] N
//	cluster start-node [--dir DIR] N
//
// Up returns when the cluster accepts jobs. It does nothing if the cluster runs, and restarts
// processes that have died. With --nodes 3, three nodes have a DataNode and a NodeManager each,
// and files have two replicas; kill-node kills both, and all tasks of the node. After
//
//	. build/cluster/env.sh
//
// the commands hadoop, hdfs, yarn and mapred use this cluster. Down stops all processes; data
// and logs stay in the folder.
//
// Exit status: 0 done; 1 failed, or for status: not everything runs; 2 wrong usage; 130 stopped
// by Ctrl-C.
package main

import "os"

func main() {
	os.Exit(run(os.Args, os.Stdout, os.Stderr))
}
