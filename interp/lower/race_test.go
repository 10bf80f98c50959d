//go:build race

package lower_test

const raceEnabled = true
