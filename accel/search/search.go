// Package search contains what the searches of package accel find: [LRSearch] of accel.FindLR, [BatchSizeSearch] of
// accel.FindBatchSize, [Advice] of accel.Advise, and [CheckResult] of accel.Check. Each search trains a model for a few steps,
// several times with changes, and restores it.
package search

import (
	"context"
	"errors"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/history"
	"github.com/quernlab/quern/accel/internal/training/loop"
	"github.com/quernlab/quern/accel/nn"
)

// Training is the training that a search repeats with changes. Package accel makes it of the options of accel.Fit.
type Training struct {
	Model   nn.Module     // that is trained, and restored afterwards
	Dataset *data.Dataset // the training set
	// Settings returns the settings of the options with a change, nil for none, or the error of an option.
	Settings func(change func(*loop.Settings)) (*loop.Settings, error)
}

// fit trains on a data set, quietly and without what only validates, shows or saves a run. The change gives the number
// of steps. The run is not nil.
func (t Training) fit(ctx context.Context, set *data.Dataset, change func(*loop.Settings)) (*history.Run, error) {
	settings, err := t.Settings(func(s *loop.Settings) {
		s.Measured = len(s.Metrics) > 0
		s.TrainOnly()
		s.Quiet, s.Epochs = true, 0
		change(s)
	})
	if err != nil {
		return &history.Run{Best: -1}, err
	}
	return loop.Fit(ctx, t.Model, set, settings)
}

// unlessDiverged returns the error of a training; nil if its loss diverged, which changes what a search found, but does not
// end it.
func unlessDiverged(err error) error {
	if _, ok := errors.AsType[*history.DivergedError](err); ok {
		return nil
	}
	return err
}
