package ir

import (
	"runtime"

	"github.com/quernlab/quern/accel/internal/engine/trace"
)

// Buffer is storage and the state that in-place updates depend on.
type Buffer struct {
	Storage Storage
	device  Device // the device that allocated it
	// shared is set when a second value uses the storage, and is never cleared: it prevents
	// in-place updates.
	shared bool
	// exposed is set when the program has got the memory, which it may write to.
	exposed bool
	// users is the number of values that use the storage. It is recycled when the last of
	// them is freed, and left to the garbage collector if one is only dropped.
	users int

	tracked tracked
	cleanup runtime.Cleanup
}

// Leaf holds the gradient of a parameter. It outlives the parameter's values, which
// in-place updates replace.
type Leaf struct {
	Grad *Value // nil until the first Backward
	// Used says that an update has used Grad, Stale that Backward has then added to it.
	Used, Stale bool
	// Lost says that ZeroGrad has dropped a Grad that no update had used, and that there is none since.
	Lost bool
	// After is called during each Backward when the gradient is complete; may be nil. It
	// may record and run lists.
	After func()
	// Part says that other processes have the rest of the parameter, or other parameters of its model.
	Part bool
}

// Value is the result of one op, or data from the host. It never changes: an in-place
// update gives a handle a new value, which may reuse the old one's storage if no other
// value can see it.
type Value struct {
	op     Op
	in     []*Value // nil if neither the list nor a tape needs them
	shape  []int
	layout Layout
	buf    *Buffer // nil until computed

	// A step of a small model takes as long as some thousand allocations, so small fields share words.
	dtype    DType
	requires bool  // a gradient flows into this value
	consumed bool  // Backward has processed this value
	moved    bool  // Assign moved it from a handle that may still read it
	handles  int32 // external holders: public tensors, kept gradients
	tape     int32 // ops whose pending gradient may read the value

	leaf    *Leaf    // holds the gradients that end here
	rounded *rounded // of a parameter, also a frozen one: its rounding
	grad    *Value   // gradient during Backward
	mark    uint64   // last Backward that visited the value

	epoch uint64 // list in which index is valid
	index int    // index among the nodes, or ^index among the externals
	gone  string // why the value is no longer available

	note *trace.Note // its origin, while profiling

	args [3]*Value
}

// Shape returns the shape of the value. It must not be changed.
func (v *Value) Shape() []int { return v.shape }

// DType returns the element type.
func (v *Value) DType() DType { return v.dtype }

// Len returns the number of elements.
func (v *Value) Len() int { return Len(v.shape) }

// Computation returns the op that computes the value and its operands, nil for parameters, for data of
// the host, and if neither the list nor a tape needs them any more.
func (v *Value) Computation() (Op, []*Value) {
	if v.leaf != nil || len(v.in) == 0 {
		return nil, nil
	}
	return v.op, v.in
}

// RequiresGrad reports whether gradients flow into the value.
func (v *Value) RequiresGrad() bool { return v.requires }

// look makes b the buffer of the value.
func (v *Value) look(b *Buffer) {
	v.buf = b
	b.users++
}

// leave removes the value's buffer, for a reason.
func (v *Value) leave(why string) {
	v.buf.users--
	v.buf, v.gone = nil, why
}

// Hold adds an external holder of the value.
func (v *Value) Hold() *Value { v.handles++; return v }

// Drop removes a holder.
func (v *Value) Drop() { v.handles-- }

// newValue returns a value whose type is set later. It stores a few inputs in itself, so
// that recording an op allocates little else.
func newValue(op Op, in []*Value) *Value {
	v := &Value{op: op}
	v.in = append(v.args[:0], in...)
	return v
}

// setType sets the type of v. The dimensions are stored with those of other values, not in
// v: plans keep shapes, and would keep v and its storage with them.
func (r *Recorder) setType(v *Value, t Type) {
	if r.shapes == nil || len(t.Shape) > cap(r.shapes)-len(r.shapes) {
		r.shapes = make([]int, 0, max(256, len(t.Shape)))
	}
	begin := len(r.shapes)
	r.shapes = append(r.shapes, t.Shape...)
	v.shape = r.shapes[begin:len(r.shapes):len(r.shapes)]
	v.dtype = t.DType
}

// StorageOf returns the storage of a value, nil while it is pending.
func StorageOf(v *Value) Storage {
	if v.buf == nil {
		return nil
	}
	return v.buf.Storage
}

// SameMemory reports whether two values share their elements, not only equal ones.
func SameMemory(a, b *Value) bool {
	return a == b || a.buf != nil && a.buf == b.buf && a.dtype == b.dtype && sameShape(a.shape, b.shape) &&
		a.layout.Offset == b.layout.Offset && sameShape(a.layout.Stride, b.layout.Stride)
}
