// Package divisor passes on by what a loss has divided. The mean loss of several batches is the mean
// over all examples only if each batch counts as much as the sum that its loss was divided by, such as
// the sum of the weights of its classes.
package divisor

import (
	"sync"

	"github.com/quernlab/quern/accel/internal/engine/goroutine"
	"github.com/quernlab/quern/accel/tensor"
)

// calls are the calls of Of that run, by goroutine.
var calls sync.Map // goroutine.Identity → *call

type call struct {
	sums  []*tensor.Tensor
	outer any
}

// Of computes a loss. sum is what the loss has divided by, a tensor of one element; nil if it has not
// reported a sum, or reported several, and so is a mean over its examples. It panics with a *tensor.StateError if the loss is nil.
func Of(compute func() *tensor.Tensor) (loss, sum *tensor.Tensor) {
	me, c := goroutine.Current(), &call{}
	c.outer, _ = calls.Swap(me, c)
	defer func() {
		if c.outer == nil {
			calls.Delete(me)
		} else {
			calls.Store(me, c.outer)
		}
	}()
	if loss = compute(); loss == nil {
		panic(&tensor.StateError{Op: "Loss", Hint: "the loss has returned nil: it must return the loss of the batch, a tensor of one element"})
	}
	if len(c.sums) == 1 {
		sum = c.sums[0]
	}
	return loss, sum
}

// Report is called by a loss that divides by something else than the number of its examples.
func Report(sum *tensor.Tensor) {
	if c, ok := calls.Load(goroutine.Current()); ok {
		c := c.(*call)
		c.sums = append(c.sums, sum)
	}
}
