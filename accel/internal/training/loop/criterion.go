package loop

import (
	"fmt"
	"math"

	"github.com/quernlab/quern/accel/history"
)

// Criterion selects the best validation; the zero criterion takes the lowest loss.
type Criterion struct {
	Name  string // of a metric; "" for the loss
	Lower bool   // smaller values are better
}

// check returns an error if a validation has no value for the criterion.
func (c Criterion) check(v history.Validation) error {
	if c.Name == "" {
		return nil
	}
	for _, m := range v.Metrics {
		if m.Name == c.Name {
			return nil
		}
	}
	return fmt.Errorf("accel: BestBy: %s has no single value: use an average such as metrics.Macro", c.Name)
}

// better reports whether a validation is better than another one. Any number is better than NaN.
func (c Criterion) better(v, than history.Validation) bool {
	a, b := v.Loss, than.Loss
	if c.Name != "" {
		a, b = v.Metric(c.Name), than.Metric(c.Name)
		if !c.Lower {
			a, b = -a, -b
		}
	}
	return a < b || math.IsNaN(b) && !math.IsNaN(a)
}

// String describes the best validation.
func (c Criterion) String() string {
	switch {
	case c.Name == "":
		return "the lowest validation loss"
	case c.Lower:
		return "the lowest " + c.Name
	}
	return "the highest " + c.Name
}

// unimproved says which value has not improved.
func (c Criterion) unimproved() string {
	switch {
	case c.Name == "":
		return "the validation loss has not fallen"
	case c.Lower:
		return c.Name + " has not fallen"
	}
	return c.Name + " has not risen"
}

// validated reports whether the model has been validated after the newest step.
func validated(r *history.Run) bool {
	n := len(r.Validations)
	return n > 0 && r.Validations[n-1].Step == len(r.Steps)
}
