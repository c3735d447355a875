//go:build 386 || arm || mips || mipsle

package game

// Positions are keys of 64 bits, and sizes of tables and tiers, which are ints, exceed 32 bits. The
// name that follows is not defined: the compiler prints it.
const _ = treereduce_needs_a_platform_of_64_bits
