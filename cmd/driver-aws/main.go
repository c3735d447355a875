// Driver-aws is the command driver with S3 and Amazon EMR.
//
//	driver-aws solve connectn --width 6 --height 5 --connect 4 --runner emr --bucket s3://BUCKET/PREFIX
//	driver-aws lookup --data s3://BUCKET/PREFIX/all_data 1 1 2
//
// driver-aws help, and driver-aws COMMAND --help, list everything.
package main

import (
	"github.com/treereduce/treereduce/cloud/amazon"
	"github.com/treereduce/treereduce/game/all"
)

func main() { amazon.Extension().Main(all.Kinds()...) }
