package hadoop

import "encoding/binary"

// The classes of keys that a job's partitioner compares: those of its map's
// output.
const (
	TextClass  = "org.apache.hadoop.io.Text"
	BytesClass = "org.apache.hadoop.io.BytesWritable"
)

// SequenceFile packs keys as TotalOrderPartitioner wants them: a Hadoop
// SequenceFile of keys of a class and NullWritable values, not compressed. Keys
// are at most 127 bytes long.
//
//	"SEQ" 6  key class  value class  compressed? blocks?  metadata: 0 entries (4)
//	sync mark (16)
//	{ record length (4)  key length (4)  key  no value } …
//	key   = length (vint)  bytes         Text
//	      | length (4)     bytes         BytesWritable
//
// Numbers are big-endian; a vint up to 127 is one byte. No sync mark is needed
// between records: one comes at least every 2,000 bytes when Hadoop writes, but
// readers only look for them when they seek.
func SequenceFile(class string, keys [][]byte) []byte {
	text := func(dst []byte, s string) []byte { return append(append(dst, byte(len(s))), s...) }
	out := []byte{'S', 'E', 'Q', 6}
	out = text(out, class)
	out = text(out, "org.apache.hadoop.io.NullWritable")
	out = append(out, 0, 0, 0, 0, 0, 0)
	out = append(out, "treereduce ranges"[:16]...)
	for _, k := range keys {
		var key []byte
		if class == TextClass {
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
