package layer

import (
	"sync"
	"sync/atomic"

	"github.com/quernlab/quern/accel/internal/engine/goroutine"
	"github.com/quernlab/quern/accel/tensor"
)

// Forward computes a layer.
type Forward func(x *tensor.Tensor) *tensor.Tensor

// Substitutes maps layers to the functions that replace them. The key of a layer with
// parameters is the address of its weight field, which exists before the weight itself; the
// key of any other layer is the layer.
type Substitutes map[any]Forward

var (
	open   atomic.Int32
	mu     sync.Mutex
	tables = map[goroutine.Identity]Substitutes{}
)

// Substitute runs f, in which the table replaces the layers of this goroutine.
func Substitute(t Substitutes, f func()) {
	me := goroutine.Current()
	set := func(t Substitutes) (before Substitutes) {
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

// Substituted returns the function that replaces a layer's computation, or nil.
func Substituted(key any) Forward {
	if open.Load() == 0 {
		return nil
	}
	mu.Lock()
	defer mu.Unlock()
	return tables[goroutine.Current()][key]
}

// Substituting reports whether this goroutine has a table. Layers then behave as in evaluation
// mode.
func Substituting() bool {
	if open.Load() == 0 {
		return false
	}
	mu.Lock()
	defer mu.Unlock()
	return tables[goroutine.Current()] != nil
}
