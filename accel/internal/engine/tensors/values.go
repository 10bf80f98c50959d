package tensors

import (
	"bytes"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// Memory returns the memory of t's elements on the CPU in row-major order, without a copy: writing
// to it changes t. It returns nil if the elements are on a GPU or shared with another tensor. It
// runs the recorded ops. Ranks exchange elements with it: do not use t meanwhile, nor the memory
// after t is released.
func Memory[T any](t T) (b []byte) {
	engine.Locked(func(r *ir.Recorder) { b = r.InPlace(of[T]().HoldValue(t, "Memory")) })
	return b
}

// SetMetadata attaches a value to the tensor object, which does not take part in computations; nil
// removes it. Results of ops on t do not have it. Package accel attaches to parameters the settings
// that they were trained with.
func SetMetadata[T any](t T, v any) {
	engine.Locked(func(*ir.Recorder) { *of[T]().Metadata(t) = v })
}

// Metadata returns the value that [SetMetadata] has attached, or nil.
func Metadata[T any](t T) (v any) {
	engine.Locked(func(*ir.Recorder) { v = *of[T]().Metadata(t) })
	return v
}

// Snapshot holds the elements that a tensor had when it was taken. It takes memory only after the
// tensor gets other elements.
type Snapshot[T any] struct{ v *ir.Value }

// NewSnapshot takes a snapshot of the tensor.
func NewSnapshot[T any](t T) *Snapshot[T] {
	var s Snapshot[T]
	engine.Locked(func(*ir.Recorder) { s.v = of[T]().Value(t, "NewSnapshot").Hold() })
	return &s
}

// Same reports whether t has the elements of the snapshot. It costs next to nothing unless t got a
// new value since; then the elements are compared.
func (s *Snapshot[T]) Same(t T) (same bool) {
	engine.Locked(func(r *ir.Recorder) {
		v := of[T]().Value(t, "Same")
		if same = v == s.v; same {
			return
		}
		same = v.DType() == s.v.DType() && v.Len() == s.v.Len() && bytes.Equal(r.Download("Same", v), r.Download("Same", s.v))
		if same { // the next call need not compare
			old := s.v
			s.v = v.Hold()
			r.Release(old)
		}
	})
	return same
}
