//go:build race

package control

// RaceEnabled reports whether the race detector is on. Lowered code then reads the stop
// flag by a call, which costs more and is not a data race.
const RaceEnabled = true
