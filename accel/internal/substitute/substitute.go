// Package substitute replaces the computation of layers temporarily, without changing the
// model: by their quantized forms, or by functions that observe their inputs.
//
// A [Table] applies only to the goroutine that runs [Within], as tensor.NoGrad does. The
// Forward methods of package nn call [For], which costs one atomic load if no table is in
// use.
package substitute

import (
	"sync"
	"sync/atomic"

	"github.com/quernlab/quern/accel/internal/goroutine"
	"github.com/quernlab/quern/accel/tensor"
)

// Forward computes a layer.
type Forward func(x *tensor.Tensor) *tensor.Tensor

// Table maps layers to the functions that replace them. The key of a layer with
// parameters is the address of its weight field, which exists before the weight itself; the
// key of any other layer is the layer.
type Table map[any]Forward

var (
	open   atomic.Int32
	mu     sync.Mutex
	tables = map[goroutine.Identity]Table{}
)

// Within runs f, in which the table replaces the layers of this goroutine.
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

// Open reports whether this goroutine has a table. Layers then behave as in evaluation
// mode.
func Open() bool {
	if open.Load() == 0 {
		return false
	}
	mu.Lock()
	defer mu.Unlock()
	return tables[goroutine.Current()] != nil
}
