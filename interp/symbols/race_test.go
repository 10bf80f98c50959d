//go:build race

package symbols_test

func init() { raceDetector = true }
