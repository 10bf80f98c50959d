// Package compare times several candidates in interleaved rounds, so that other load on
// the machine affects all of them equally, and formats reports that compare a model before
// and after a change.
package compare

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
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

// FileBytes returns the size of the file that save writes.
func FileBytes(save func(path string) error) (size int, err error) {
	dir, err := os.MkdirTemp("", "quern-*")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "model.safetensors")
	if err := save(path); err != nil {
		return 0, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return int(info.Size()), nil
}

// Quality adds rows of loss and accuracy, before and after, to the table of a report. An accuracy of NaN
// means that it was not measured.
func Quality(r *display.Report, loss, accuracy [2]float64) {
	r.Row("loss", fmt.Sprintf("%.4g", loss[0]), fmt.Sprintf("%.4g", loss[1]), fmt.Sprintf("%+.2g", loss[1]-loss[0]))
	if !math.IsNaN(accuracy[0]) {
		r.Row("accuracy", fmt.Sprintf("%.2f %%", 100*accuracy[0]), fmt.Sprintf("%.2f %%", 100*accuracy[1]), fmt.Sprintf("%+.2f points", 100*(accuracy[1]-accuracy[0])))
	}
}

// Faster adds a row with the times of each round before and after, in seconds, and their ratio.
func Faster(r *display.Report, what string, seconds [2][]float64) {
	before, after := Times(seconds[0]), Times(seconds[1])
	median, low, high := before.Ratio(after)
	r.Row(what, before.String(), after.String(), fmt.Sprintf("%.2f times as fast (%.2f to %.2f)", median, low, high))
}
