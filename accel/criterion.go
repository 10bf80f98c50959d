package accel

import (
	"fmt"
	"math"

	"github.com/quernlab/quern/accel/history"
)

// criterion selects the best validation; the zero criterion takes the lowest loss.
type criterion struct {
	name  string // of a metric; "" for the loss
	lower bool   // smaller values are better
}

// check returns an error if a validation has no value for the criterion.
func (c criterion) check(v history.Validation) error {
	if c.name == "" {
		return nil
	}
	for _, m := range v.Metrics {
		if m.Name == c.name {
			return nil
		}
	}
	return fmt.Errorf("accel: BestBy: %s has no single value: use an average such as metrics.Macro", c.name)
}

// better reports whether a validation is better than another one. Any number is better than NaN.
func (c criterion) better(v, than history.Validation) bool {
	a, b := v.Loss, than.Loss
	if c.name != "" {
		a, b = v.Metric(c.name), than.Metric(c.name)
		if !c.lower {
			a, b = -a, -b
		}
	}
	return a < b || math.IsNaN(b) && !math.IsNaN(a)
}

// String describes the best validation.
func (c criterion) String() string {
	switch {
	case c.name == "":
		return "the lowest validation loss"
	case c.lower:
		return "the lowest " + c.name
	}
	return "the highest " + c.name
}

// unimproved says which value has not improved.
func (c criterion) unimproved() string {
	switch {
	case c.name == "":
		return "the validation loss has not fallen"
	case c.lower:
		return c.name + " has not fallen"
	}
	return c.name + " has not risen"
}
