// Package substitute replaces the computation of layers temporarily, without a change of
// the model: by their quantized forms, or by functions that observe their inputs.
//
// A [Table] holds for the goroutine that has opened it and for no other, as tensor.NoGrad
// does. The layers of package nn ask [For] in their Forward, which costs one load where no
// table is open.
package substitute

import (
	"sync"
	"sync/atomic"

	"github.com/quernlab/quern/accel/internal/goroutine"
	"github.com/quernlab/quern/accel/tensor"
)

// Forward computes a layer.
type Forward func(x *tensor.Tensor) *tensor.Tensor

// Table is what layers are computed by. Those with parameters go by the place of
// their weight, since it is there before the weight is; all others by themselves.
type Table map[any]Forward

var (
	open   atomic.Int32
	mu     sync.Mutex
	tables = map[goroutine.Identity]Table{}
)

// Within runs f with a table.
func Within(t Table, f func()) {
	me := goroutine.Current()
	set := func(t Table) (before Table) {
		mu.Lock()
		defer mu.Unlock()
		before = tables[me]
		if t == nil {
			delete(tables, me)
		} else {
			tables[me] = t
		}
		return before
	}
	open.Add(1)
	defer open.Add(-1)
	before := set(t)
	defer func() { set(before) }()
	f()
}

// For returns the function that replaces a layer's computation, or nil.
func For(key any) Forward {
	if open.Load() == 0 {
		return nil
	}
	mu.Lock()
	defer mu.Unlock()
	return tables[goroutine.Current()][key]
}

// Open reports whether this goroutine has a table: layers then behave as in evaluation.
func Open() bool {
	if open.Load() == 0 {
		return false
	}
	mu.Lock()
	defer mu.Unlock()
	return tables[goroutine.Current()] != nil
}
