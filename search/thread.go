//go:build !js

package search

// workTime is 0: searches never rest, because other goroutines have other threads.
const workTime = 0
