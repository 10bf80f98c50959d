//go:build race

package interp

// raceEnabled says whether the race detector is on: the stop flag is then read
// through a call, which costs more and is no race.
const raceEnabled = true
