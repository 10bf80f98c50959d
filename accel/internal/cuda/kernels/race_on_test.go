//go:build race

package kernels

// underRace says that the race detector slows the simulator down ten times; it is
// for the simulator's own tests. Here a part of the cases is enough then.
const underRace = true
