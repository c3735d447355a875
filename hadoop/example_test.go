package hadoop_test

import (
	"fmt"
	"log"

	"github.com/treereduce/treereduce/hadoop"
)

func ExampleInHDFS() {
	for _, name := range []string{"hdfs://namenode:8020/user/alice", "/tmp/all_data"} {
		is, err := hadoop.InHDFS(name)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(name, is)
	}
	// Output:
	// hdfs://namenode:8020/user/alice true
	// /tmp/all_data false
}
