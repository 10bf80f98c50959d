//go:build !race

package interp

// raceEnabled says whether the race detector is on.
const raceEnabled = false
