package tensor

import "github.com/quernlab/quern/accel/internal/ir"

// SetMetadata attaches a value to the tensor object, which does not take part in computations; nil
// removes it. Results of ops on t do not have it. Package accel attaches to parameters the settings
// that they were trained with.
func (t *Tensor) SetMetadata(v any) {
	locked(func(*ir.Recorder) {
		t.metadata = nil
		if v != nil {
			t.metadata = &v
		}
	})
}

// Metadata returns the value that [Tensor.SetMetadata] has attached, or nil.
func (t *Tensor) Metadata() (v any) {
	locked(func(*ir.Recorder) {
		if t.metadata != nil {
			v = *t.metadata
		}
	})
	return v
}
