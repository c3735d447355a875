package streaming

import (
	"encoding/binary"
)

// The classes of keys that the partitioner of a job may compare: the classes of its map output
// keys.
const (
	textClass  = "org.apache.hadoop.io.Text"
	bytesClass = "org.apache.hadoop.io.BytesWritable"
)

// sequenceFile returns the file that TotalOrderPartitioner reads: an uncompressed Hadoop
// SequenceFile of keys of the given class, with NullWritable values. Keys have at most 127
// bytes.
//
//	"SEQ" 6  key class  value class  compressed? blocks?  metadata: 0 entries (4)
//	sync mark (16)
//	{ record length (4)  key length (4)  key  no value } …
//	key   = length (vint)  bytes         Text
//	      | length (4)     bytes         BytesWritable
//
// Numbers are big-endian; a vint up to 127 is one byte. There are no sync marks between
// records. Hadoop writes one at least every 2,000 bytes, but readers look for them only when
// they seek.
func sequenceFile(class string, keys [][]byte) []byte {
	text := func(dst []byte, s string) []byte { return append(append(dst, byte(len(s))), s...) }
	out := []byte{'S', 'E', 'Q', 6}
	out = text(out, class)
	out = text(out, "org.apache.hadoop.io.NullWritable")
	out = append(out, 0, 0, 0, 0, 0, 0)
	out = append(out, "treereduce ranges"[:16]...)
	for _, k := range keys {
		var key []byte
		if class == textClass {
			key = text(nil, string(k))
		} else {
			key = append(binary.BigEndian.AppendUint32(nil, uint32(len(k))), k...)
		}
		out = binary.BigEndian.AppendUint32(out, uint32(len(key)))
		out = binary.BigEndian.AppendUint32(out, uint32(len(key)))
		out = append(out, key...)
	}
	return out
}

// Ranges returns the file that TotalOrderPartitioner needs for a job on lines: a SequenceFile of the first keys of all
// partitions except the first.
func Ranges(keys [][]byte) []byte { return sequenceFile(textClass, keys) }
