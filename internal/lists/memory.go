package lists

// RowMemory is how many bytes a row takes that a step holds, at most: in an outbox that is
// being encoded.
const RowMemory = 64
