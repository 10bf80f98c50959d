package rt

import "sync/atomic"

// AtomicStore is v.Store(x).
func (r *representations) AtomicStore(v *atomic.Value, x any) {
	r.checkSameDynamicType(v.Load(), x, "sync/atomic: store of inconsistently typed value into Value")
	v.Store(x)
}

// AtomicSwap is v.Swap(x).
func (r *representations) AtomicSwap(v *atomic.Value, x any) any {
	r.checkSameDynamicType(v.Load(), x, "sync/atomic: swap of inconsistently typed value into Value")
	return v.Swap(x)
}

// AtomicCompareAndSwap is v.CompareAndSwap(old, x).
func (r *representations) AtomicCompareAndSwap(v *atomic.Value, old, x any) bool {
	r.checkSameDynamicType(old, x, "sync/atomic: compare and swap of inconsistently typed values")
	r.checkSameDynamicType(v.Load(), x, "sync/atomic: compare and swap of inconsistently typed value into Value")
	if old != nil && v.Load() != nil {
		r.Equal(old, old) // which panics on an uncomparable type, as the method does
	}
	return v.CompareAndSwap(old, x)
}

// checkSameDynamicType panics with text if a and b are boxed values of different types. An
// atomic.Value cannot tell them apart, because both are boxes to it.
func (r *representations) checkSameDynamicType(a, b any, text string) {
	x, ok := r.unbox(a)
	y, both := r.unbox(b)
	if ok && both && x.T != y.T {
		panic(text)
	}
}
