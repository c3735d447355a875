package hadoop

import "encoding/binary"

// sequenceFile packs keys as TotalOrderPartitioner wants them: a Hadoop
// SequenceFile of Text keys and NullWritable values, not compressed.
//
//	"SEQ" 6  key class  value class  compressed? blocks?  metadata: 0 entries (4)
//	sync mark (16)
//	{ record length (4)  key length (4)  key: vint length, bytes  no value } …
//
// Numbers are big-endian; a Text's length is a vint, one byte up to 127. No sync
// mark is needed between records: one comes at least every 2,000 bytes when
// Hadoop writes, but readers only look for them when they seek.
func sequenceFile(keys [][]byte) []byte {
	text := func(dst []byte, s string) []byte { return append(append(dst, byte(len(s))), s...) }
	out := []byte{'S', 'E', 'Q', 6}
	out = text(out, "org.apache.hadoop.io.Text")
	out = text(out, "org.apache.hadoop.io.NullWritable")
	out = append(out, 0, 0, 0, 0, 0, 0)
	out = append(out, "treereduce ranges"[:16]...)
	for _, k := range keys {
		out = binary.BigEndian.AppendUint32(out, uint32(len(k)+1))
		out = binary.BigEndian.AppendUint32(out, uint32(len(k)+1))
		out = append(append(out, byte(len(k))), k...)
	}
	return out
}
