package tensor

import "github.com/quernlab/quern/accel/internal/ir"

// Remember attaches a value to a tensor: package accel notes so of parameters what they
// were trained with. It changes nothing in what is computed; nil forgets. Tensors that are
// made of this one do not have it.
func (t *Tensor) Remember(v any) {
	locked(func(*ir.Recorder) {
		t.memo = nil
		if v != nil {
			t.memo = &v
		}
	})
}

// Remembered returns what [Tensor.Remember] has attached, or nil.
func (t *Tensor) Remembered() (v any) {
	locked(func(*ir.Recorder) {
		if t.memo != nil {
			v = *t.memo
		}
	})
	return v
}
