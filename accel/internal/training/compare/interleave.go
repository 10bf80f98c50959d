// Package compare times several candidates in interleaved rounds, so that other load on
// the machine affects all of them equally, and formats reports that compare a model before
// and after a change.
package compare

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/internal/quantity"
)

// Times holds the seconds of each round.
type Times []float64

// Interleave runs each candidate once per round, after two warm-up rounds that are not
// recorded. It returns the times of each candidate.
func Interleave(ctx context.Context, rounds int, candidates ...func() error) ([]Times, error) {
	const warmup = 2 // rounds in which plans are made and memory is allocated
	all := make([]Times, len(candidates))
	meter, _ := display.Measure(ctx, "rounds", float64(warmup+rounds))
	defer meter.End()
	for round := range warmup + rounds {
		for i, candidate := range candidates {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			begin := time.Now()
			if err := candidate(); err != nil {
				return nil, err
			}
			if round >= warmup {
				all[i] = append(all[i], time.Since(begin).Seconds())
			}
		}
		meter.Set(float64(round+1), "")
	}
	return all, nil
}

// Quantile returns the time that a share of the rounds, from 0 to 1, did not exceed.
func (t Times) Quantile(share float64) float64 {
	sorted := slices.Sorted(slices.Values(t))
	at := share * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// Median returns the median time.
func (t Times) Median() float64 { return t.Quantile(0.5) }

// String formats the median with the quartiles.
func (t Times) String() string {
	if len(t) == 0 {
		return "not measured"
	}
	return fmt.Sprintf("%s (%s to %s)", quantity.Seconds(t.Median()), quantity.Seconds(t.Quantile(0.25)), quantity.Seconds(t.Quantile(0.75)))
}

// Ratio returns the median and the quartiles of the ratio of t to o in each round.
func (t Times) Ratio(o Times) (median, low, high float64) {
	var r Times
	for i := range t {
		r = append(r, t[i]/o[i])
	}
	return r.Median(), r.Quantile(0.25), r.Quantile(0.75)
}
