package tensors

import "github.com/quernlab/quern/accel/internal/engine/ir"

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
