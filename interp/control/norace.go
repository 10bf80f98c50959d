//go:build !race

package control

// RaceEnabled reports whether the race detector is on.
const RaceEnabled = false
