package blocks

var ReadBlocks, AddRecord, AppendLines = readBlocks, addRecord, appendLines
