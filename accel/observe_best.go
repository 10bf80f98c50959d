package accel

import (
	"errors"
	"fmt"

	"github.com/quernlab/quern/accel/history"
	"github.com/quernlab/quern/accel/metrics"
	"github.com/quernlab/quern/accel/nn"
)

// BestBy selects the best validation by a metric instead of the loss, for Run.Best,
// [EarlyStopping] and [SaveBest]: the highest value, or the lowest for a metric such as an error.
// It measures the metric with each validation, as [Metrics] does. The metric needs one value, so
// per class is not possible.
func BestBy(metric metrics.Metric) Option {
	text := fmt.Sprintf("BestBy(%v)", metric)
	return fitOption(text, func(c *options) error {
		if c.criterion.name != "" {
			return fmt.Errorf("accel: BestBy(%s) and %s: a training has one criterion", c.criterion.name, text)
		}
		if err := metric.Valid(); err != nil {
			return fmt.Errorf("accel: %s: %w", text, err)
		}
		c.criterion = criterion{name: metric.Name(), lower: metric.LowerIsBetter()}
		c.bestBy = &metric
		return nil
	})
}

// SaveBest writes the model to a safetensors file, as nn.Save does, after each validation that is
// the best so far: with the lowest validation loss, or see [BestBy]. With [EMA] it is the average that
// was validated. The file is replaced atomically. nn.Load reads it.
func SaveBest(path string) Option {
	text := fmt.Sprintf("SaveBest(%q)", path)
	return fitOption(text, func(c *options) error {
		if path == "" {
			return fmt.Errorf("accel: %s: the path is empty", text)
		}
		c.saveBest = path
		return nil
	}).output()
}

// addCriterion adds the metric of [BestBy] to those that are measured, and checks that there is a
// validation.
func (c *options) addCriterion() error {
	switch {
	case c.bestBy != nil && c.validate == nil:
		return fmt.Errorf("accel: BestBy(%v) needs validations: add Validate(set)", c.bestBy)
	case c.saveBest != "" && c.validate == nil:
		return fmt.Errorf("accel: SaveBest(%q) needs validations: add Validate(set)", c.saveBest)
	case c.bestBy == nil:
		return nil
	}
	c.criterion.name = c.bestBy.WithClasses(classNames(c.validate)...).Name()
	for _, m := range c.metrics {
		if m.Name() == c.bestBy.Name() {
			return nil
		}
	}
	if err := c.addMetric(*c.bestBy); err != nil {
		return fmt.Errorf("accel: BestBy(%v): %w", c.bestBy, err)
	}
	return nil
}

// bestFile writes the file of [SaveBest].
type bestFile struct {
	ownObserver
	path string
	judged
}

// Validation writes the file after the best validation so far.
func (b *bestFile) Validation(t *history.Training, _ history.Validation) error {
	if t.Run.Best != len(t.Run.Validations)-1 {
		return nil
	}
	tensors := b.state(t.Model)
	if len(tensors) == 0 {
		return errors.New("accel: SaveBest: the model has no parameters")
	}
	record := &trainingRecord{schema: t.Dataset.Schema()}
	if err := nn.SaveTensors(b.path, tensors, record.FileNotes()); err != nil {
		return fmt.Errorf("accel: SaveBest: %w", err)
	}
	return nil
}
