package hadoop

// TogetherFormat is an input format that gives a map the lines of many small files, one after
// the other. In the configuration of a job, it is the value of mapred.input.format.class.
const TogetherFormat = "org.apache.hadoop.mapred.lib.CombineTextInputFormat"
