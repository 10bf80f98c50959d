package tensors

import (
	"bytes"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// Engine is what package tensor provides of the engine that records and runs ops.
type Engine struct {
	// Locked runs f with the engine locked.
	Locked func(f func(r *ir.Recorder))
	// WithScope runs f with a changed scope for this goroutine.
	WithScope func(change func(s *Scope), f func())
	// Plain runs f without gradients and without Autocast.
	Plain func(f func())

	Seed       func(seed uint64)
	SetDevice  func(name string) error
	DeviceLost func() error
	GPUs       func() ([]GPU, error)
	Libraries  func() []Library
	AllowTF32  func(on bool) (before bool)
	TF32       func() bool
}

// Access is what package tensor provides of tensors: T is *tensor.Tensor. op is the name of the called function in an error.
type Access[T any] struct {
	// Value returns the value of t; the caller has locked the engine, as for all functions but the last ones.
	Value func(t T, op string) *ir.Value
	// HoldValue is Value after making sure that t holds a reference to it.
	HoldValue func(t T, op string) *ir.Value
	// Holder returns where t holds its value.
	Holder func(t T) **ir.Value
	// Leaf returns the gradient and its hooks of a parameter, nil if t is none.
	Leaf func(t T) *ir.Leaf
	// Wrap makes a tensor that holds a value.
	Wrap func(v *ir.Value) T
	// Metadata returns where the metadata of t are.
	Metadata func(t T) *any

	RecordAttention func(f func()) []RecordedAttention[T]
	SyncBatchNorm   func(SyncBatch[T]) T
	Run             func(Recurrence[T]) (y, h, c T)
	// Record records an op as the ops of package tensor are recorded: with the casts of Autocast and of 16-bit floats.
	Record func(op ir.Op, f func(r *ir.Recorder, v *ir.Value) *ir.Value, x T) T
	// Compute records what f returns as one op with a name, with the casts of 16-bit floats.
	Compute func(name string, f func(r *ir.Recorder, v []*ir.Value) *ir.Value, in ...T) T
	// RecordKernel records what f returns as one op with a name; f converts the element types.
	RecordKernel func(name string, f func(r *ir.Recorder, v []*ir.Value) *ir.Value, in ...T) T
}

var (
	engine Engine
	access any // *Access[*tensor.Tensor]
)

// Provide is called by package tensor when it is initialized.
func Provide[T any](e Engine, a *Access[T]) { engine, access = e, a }

// of returns the access to tensors of type T.
func of[T any]() *Access[T] { return access.(*Access[T]) }

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
