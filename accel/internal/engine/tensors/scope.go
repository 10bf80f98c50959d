package tensors

import (
	"sync/atomic"

	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
	"github.com/quernlab/quern/accel/internal/engine/trace"
)

// Scope holds the settings of one goroutine that this package changes: those of [NameScope] and [RecordOps].
type Scope struct {
	Path, Kind string // of NameScope, while names are recorded

	flush    bool          // NameScope ends when the recorded ops have run; see FlushScopes
	recorded *[]RecordedOp // of RecordOps; nil if off
}

// nameUsers counts the running functions that need the names of NameScope.
var nameUsers atomic.Int32

// KeepNames makes [NameScope] name ops until done is called.
func KeepNames() (done func()) {
	nameUsers.Add(1)
	return func() { nameUsers.Add(-1) }
}

// NameScope runs f, a part of a model such as a layer, and names its ops for tensor.FindNonFinite and
// [Trace]: path is the part's name, which is appended to that of the enclosing scope, and kind what
// it is. name is called only while a name is needed.
func NameScope(name func() (path, kind string), f func()) {
	if nameUsers.Load() == 0 {
		f()
		return
	}
	path, kind := name()
	flush := false
	engine.WithScope(func(s *Scope) {
		if s.Path != "" {
			path = s.Path + "." + path
		}
		s.Path, s.Kind, flush = path, kind, s.flush
	}, func() {
		if f(); flush {
			engine.Locked((*ir.Recorder).Wait) // a device reports its errors at the end
		}
	})
}

// FlushScopes runs f, and waits for the ops of each [NameScope] at its end, so that a panic that only
// the values of tensors cause, such as an *tensor.IndexError, occurs in the scope of its op.
func FlushScopes(f func()) {
	defer KeepNames()()
	engine.WithScope(func(s *Scope) { s.flush = true }, f)
}

// FlushesScopes reports whether this goroutine runs a function of [FlushScopes].
func FlushesScopes() (flushes bool) {
	engine.WithScope(func(s *Scope) { flushes = s.flush }, func() {})
	return flushes
}

// SetName sets the parameter's name in profiles, such as "up.weight"; optimizers name the
// parameters of their model. It does nothing if no profile is running or t is not a parameter.
func SetName[T any](t T, name string) {
	if c := trace.Active(); c != nil {
		if leaf := of[T]().Leaf(t); leaf != nil {
			c.SetName(leaf, name)
		}
	}
}

// RecordedOp describes an op recorded by [RecordOps].
type RecordedOp struct {
	Op string // name, such as "MatMul"
	// DType is the type that the op computes in, as in tensor.Autocast: that of its inputs, or the wider
	// of two. It is an 8-bit float, which no tensor has, in tensor.AutocastFP8.
	DType tensortype.DType
	// FLOPs is the number of multiplications and additions of a MatMul, Linear, Int8Linear, Conv2D,
	// ConvTranspose2D or Attention, 0 for other ops.
	FLOPs int
}

// RecordOps runs f and returns the ops that this goroutine calls in it, in order, with the types that
// they compute in. Ops that only move or compare elements are left out.
func RecordOps(f func()) []RecordedOp {
	var all []RecordedOp
	engine.WithScope(func(s *Scope) { s.recorded = &all }, f)
	return all
}

// RecordsOps reports whether a RecordOps runs in the scope.
func (s *Scope) RecordsOps() bool { return s.recorded != nil }

// RecordOp appends an op to the list of RecordOps, if one runs.
func (s *Scope) RecordOp(o RecordedOp) {
	if s.recorded != nil {
		*s.recorded = append(*s.recorded, o)
	}
}
