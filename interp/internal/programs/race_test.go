//go:build race

package programs

const raceEnabled = true
