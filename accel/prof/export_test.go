package prof

import (
	"slices"
	"testing"
	"time"
)

// Measure returns the median time of a step in seconds, without and with a profile.
func Measure(b *testing.B, step func() error) (off, on float64) {
	b.Helper()
	var times [2][]float64
	group := func(k int, on bool) {
		begin := time.Now()
		if _, err := runSteps(b.Context(), step, on, 10, func(int) {}); err != nil {
			b.Fatal(err)
		}
		times[k] = append(times[k], time.Since(begin).Seconds()/10)
	}
	group(0, false)
	group(1, true)
	times = [2][]float64{}
	for b.Loop() {
		group(0, false)
		group(1, true)
	}
	for k := range times {
		slices.Sort(times[k])
	}
	return times[0][len(times[0])/2], times[1][len(times[1])/2]
}
