package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/history"
	"github.com/quernlab/quern/accel/internal/training/interrupt"
	"github.com/quernlab/quern/accel/internal/training/loop"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/plots"
)

// BatchSizeSearch is what accel.FindBatchSize measured. It displays itself as a figure of the speed
// over the batch sizes.
type BatchSizeSearch struct {
	// Size is the suggestion: the smallest batch with at least 90 % of the highest speed.
	Size   int
	Trials []BatchSizeTrial // in ascending order of Size
	// Stopped is the reason why no larger batch was tried.
	Stopped string

	drawn bool // the figure has been displayed
}

// BatchSizeTrial is the speed of one batch size.
type BatchSizeTrial struct {
	Size              int     // examples in a batch
	ExamplesPerSecond float64 // in training steps, with the update
}

// FindBatchSize measures the speed of a training with batches of several sizes, as accel.FindBatchSize describes it.
func FindBatchSize(ctx context.Context, t Training) (*BatchSizeSearch, error) {
	if err := interrupt.RequireContext(ctx, "accel: FindBatchSize"); err != nil {
		return nil, err
	}
	if err := loop.Touch(ctx, t.Model, t.Dataset); err != nil {
		return nil, fmt.Errorf("accel: FindBatchSize: %w", err)
	}
	defer loop.KeepRandom()()
	s := &BatchSizeSearch{}
	screen := plots.NewPartial(ctx, "batch sizes", batchTries(t.Dataset))
	ctx = display.Unmeasured(ctx)
	err := s.find(ctx, t, func(tries float64, size string) {
		screen.Set(tries, size, func() func() *plots.Figure {
			now := &BatchSizeSearch{Trials: slices.Clone(s.Trials)}
			return now.speeds
		})
	})
	s.drawn = screen.Close(s.Figure)
	return s, err
}

// find is [FindBatchSize] for a model whose layers have their parameters. It calls
// follow with the number of trials and the last size.
func (s *BatchSizeSearch) find(ctx context.Context, t Training, follow func(tries float64, size string)) error {
	start := loop.CopyWeights(t.Model)
	err := s.search(ctx, t, follow)
	s.choose()
	return cmp.Or(err, start.Restore(t.Model))
}

// batchTries returns the maximum number of batch sizes to try.
func batchTries(train *data.Dataset) float64 {
	n := 1
	for size := 2 * smallestBatch; size <= min(largestBatch, train.Len()); size *= 2 {
		n++
	}
	return float64(n)
}

const (
	smallestBatch, largestBatch = 16, 16384

	tryWarmUp = 2 // steps that plan and allocate, before timing starts
	trySteps  = 5
)

func (s *BatchSizeSearch) search(ctx context.Context, t Training, follow func(tries float64, size string)) error {
	for size := smallestBatch; ; size *= 2 {
		if size > largestBatch || size > t.Dataset.Len() && size > smallestBatch {
			s.Stopped = fmt.Sprintf("%d was the largest batch that was tried", size/2)
			return nil
		}
		run, err := t.fit(ctx, t.Dataset, func(c *loop.Settings) {
			c.BatchSize, c.Steps = size, tryWarmUp+trySteps
			c.Accumulate, c.NeedsValidation, c.Schedule = 1, false, nil
		})
		if _, ok := errors.AsType[*tensor.OutOfMemoryError](err); ok {
			s.Stopped = fmt.Sprintf("batches of %d do not fit into memory", size)
			return nil
		}
		if err := unlessDiverged(err); err != nil {
			return err
		}
		if speed := speedAfter(run, tryWarmUp); !math.IsNaN(speed) {
			s.Trials = append(s.Trials, BatchSizeTrial{size, speed})
		}
		follow(math.Log2(float64(size/smallestBatch))+1, fmt.Sprintf("batches of %d", size))
	}
}

// speedAfter returns the examples per second of a run without its first steps; NaN if the run
// has no other steps.
func speedAfter(r *history.Run, steps int) float64 {
	n := len(r.Steps)
	if n <= steps {
		return math.NaN()
	}
	part := float64(n-steps) / float64(n)
	return float64(r.Examples) * part / (r.Steps[n-1].Seconds - r.Steps[steps-1].Seconds)
}

// choose selects the smallest batch with nearly the highest speed.
func (s *BatchSizeSearch) choose() {
	highest := 0.0
	for _, t := range s.Trials {
		highest = max(highest, t.ExamplesPerSecond)
	}
	for _, t := range s.Trials {
		if t.ExamplesPerSecond >= 0.9*highest {
			s.Size = t.Size
			return
		}
	}
}

// Figure draws the speed of each batch size.
func (s *BatchSizeSearch) Figure() *plots.Figure { return s.speeds().Subtitle(s.String()) }

func (s *BatchSizeSearch) speeds() *plots.Figure {
	var names []string
	var speeds []float64
	for _, t := range s.Trials {
		names, speeds = append(names, strconv.Itoa(t.Size)), append(speeds, t.ExamplesPerSecond)
	}
	return plots.Bar("Examples per second by batch size", names, speeds)
}

// String describes the suggestion.
func (s *BatchSizeSearch) String() string {
	if s.Size == 0 {
		return "no batch size could be measured"
	}
	return fmt.Sprintf("batch size %d; %s", s.Size, s.Stopped)
}

// Report returns the figure and the suggestion.
func (s *BatchSizeSearch) Report() *display.Report {
	r := new(display.Report).Alt(s.String())
	if !s.drawn {
		r.Figure(s.Figure())
	}
	return r
}
