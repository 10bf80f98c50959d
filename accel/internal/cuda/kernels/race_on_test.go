//go:build race

package kernels

// underRace is true under the race detector, which makes the simulator ten times slower and
// is meant for the simulator's own tests. These tests then run only some of their cases.
const underRace = true
