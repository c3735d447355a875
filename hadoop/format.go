package hadoop

// TogetherFormat is the input format in which a map reads the lines of many small files
// one after the other. A job's configuration names it as mapred.input.format.class.
const TogetherFormat = "org.apache.hadoop.mapred.lib.CombineTextInputFormat"
