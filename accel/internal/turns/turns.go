// Package turns times ways to do the same, one after the other and again, so that what
// else the machine does meanwhile falls on all of them; and it has the parts that
// reports of two models, before and after, have in common.
package turns

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/quernlab/quern/display"
)

// Times are the seconds of each round.
type Times []float64

// Take runs the ways in turns, so many rounds after two that do not count.
func Take(ctx context.Context, rounds int, ways ...func() error) ([]Times, error) {
	const untimed = 2 // plans are made, and memory is taken
	all := make([]Times, len(ways))
	meter, _ := display.Measure(ctx, "rounds", float64(untimed+rounds))
	defer meter.End()
	for round := range untimed + rounds {
		for i, way := range ways {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			begin := time.Now()
			if err := way(); err != nil {
				return nil, err
			}
			if round >= untimed {
				all[i] = append(all[i], time.Since(begin).Seconds())
			}
		}
		meter.Set(float64(round+1), "")
	}
	return all, nil
}

// Quantile returns the time below which a share of the rounds are.
func (t Times) Quantile(share float64) float64 {
	sorted := slices.Sorted(slices.Values(t))
	at := share * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// Median returns the time of the middle round.
func (t Times) Median() float64 { return t.Quantile(0.5) }

// String returns the median, and between which times the middle half of the rounds are.
func (t Times) String() string {
	if len(t) == 0 {
		return "not measured"
	}
	return fmt.Sprintf("%s (%s to %s)", Seconds(t.Median()), Seconds(t.Quantile(0.25)), Seconds(t.Quantile(0.75)))
}

// Ratio returns the median of how many times as long a round of t takes as one of o, and
// where the middle half of the rounds are.
func (t Times) Ratio(o Times) (median, low, high float64) {
	var r Times
	for i := range t {
		r = append(r, t[i]/o[i])
	}
	return r.Median(), r.Quantile(0.25), r.Quantile(0.75)
}

// Seconds returns a time with three digits.
func Seconds(s float64) string {
	switch {
	case s >= 1:
		return fmt.Sprintf("%.3g s", s)
	case s >= 1e-3:
		return fmt.Sprintf("%.3g ms", s*1e3)
	}
	return fmt.Sprintf("%.3g µs", s*1e6)
}

// Bytes returns a size with three digits.
func Bytes(n int) string {
	v := float64(n)
	for _, unit := range []string{"B", "KiB", "MiB"} {
		if v < 1000 {
			return fmt.Sprintf("%.3g %s", v, unit)
		}
		v /= 1024
	}
	return fmt.Sprintf("%.3g GiB", v)
}
