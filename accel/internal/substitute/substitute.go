// Package substitute has layers computed by something else for a while, without a
// change of the model: by their quantised forms, or by what looks at their inputs.
//
// A [Table] holds for the goroutine that has opened it and for no other, as
// tensor.NoGrad does. The layers of package nn ask [For] in their Forward, which
// costs one load where no table is open.
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

// For is what computes a layer instead of itself, or nil.
func For(key any) Forward {
	if open.Load() == 0 {
		return nil
	}
	mu.Lock()
	defer mu.Unlock()
	return tables[goroutine.Current()][key]
}

// Open tells whether this goroutine has a table: then layers are as in evaluation.
func Open() bool {
	if open.Load() == 0 {
		return false
	}
	mu.Lock()
	defer mu.Unlock()
	return tables[goroutine.Current()] != nil
}
