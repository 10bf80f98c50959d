package rt

import "sync/atomic"

// AtomicStore is v.Store(x).
func (r *Registry) AtomicStore(v *atomic.Value, x any) {
	r.sameKindOfValue(v.Load(), x, "sync/atomic: store of inconsistently typed value into Value")
	v.Store(x)
}

// AtomicSwap is v.Swap(x).
func (r *Registry) AtomicSwap(v *atomic.Value, x any) any {
	r.sameKindOfValue(v.Load(), x, "sync/atomic: swap of inconsistently typed value into Value")
	return v.Swap(x)
}

// AtomicCompareAndSwap is v.CompareAndSwap(old, x).
func (r *Registry) AtomicCompareAndSwap(v *atomic.Value, old, x any) bool {
	r.sameKindOfValue(old, x, "sync/atomic: compare and swap of inconsistently typed values")
	r.sameKindOfValue(v.Load(), x, "sync/atomic: compare and swap of inconsistently typed value into Value")
	if old != nil && v.Load() != nil {
		r.Equal(old, old) // which panics on an uncomparable type, as the method does
	}
	return v.CompareAndSwap(old, x)
}

// sameKindOfValue panics with the text if both are boxed, so that an atomic.Value takes
// them for values of one type, and differ in their types.
func (r *Registry) sameKindOfValue(a, b any, text string) {
	x, ok := r.unbox(a)
	y, both := r.unbox(b)
	if ok && both && x.T != y.T {
		panic(text)
	}
}
