package ir

import (
	"runtime"

	"github.com/quernlab/quern/accel/internal/trace"
)

// Buffer is storage with the one fact that in-place updates need to know.
type Buffer struct {
	Storage Storage
	device  Device // which made it
	// shared is set once a second value looks at the storage, and is never cleared:
	// no update is made in place then.
	shared bool
	// users is how many values look at the storage. It is recycled when the last of
	// them is freed, and left to the garbage collector where one is only forgotten.
	users int

	tracked tracked
	cleanup runtime.Cleanup
}

// Leaf keeps the gradient of a parameter. It outlives the parameter's values,
// which in-place updates replace.
type Leaf struct {
	Grad *Value // nil until the first Backward
	// After is called within each Backward when the gradient is complete; nil for
	// nothing. It may record and run lists.
	After func()
}

// Value is the result of one op, or data from the host. It never changes:
// an in-place update gives a handle a new value, and may give that value the
// old one's storage when nobody else can see it.
type Value struct {
	op     Op
	in     []*Value // nil when neither the list nor a tape needs them
	shape  []int
	dtype  DType
	layout Layout
	buf    *Buffer // nil until computed

	requires bool   // a gradient flows into this value
	consumed bool   // Backward went through this value
	leaf     *Leaf  // where gradients that end here are kept
	grad     *Value // gradient during Backward
	mark     uint64 // last Backward that visited the value

	moved   bool // Assign took it from a handle that may still read it
	handles int  // holders outside: public tensors, kept gradients
	tape    int  // ops whose gradient is still to be taken and that may read the value

	epoch uint64 // list in which index is valid
	index int    // position among the nodes, or ^position among the externals
	gone  string // why the value cannot be had any more

	note *trace.Note // where it came from, while a profile is taken

	args [3]*Value
}

// Shape of the value; not to be changed.
func (v *Value) Shape() []int { return v.shape }

// DType of the elements.
func (v *Value) DType() DType { return v.dtype }

// Len is the number of elements.
func (v *Value) Len() int { return Len(v.shape) }

// Computed tells whether the value lies in memory already.
func (v *Value) Computed() bool { return v.buf != nil }

// RequiresGrad tells whether gradients flow into the value.
func (v *Value) RequiresGrad() bool { return v.requires }

// look has the value lie in b.
func (v *Value) look(b *Buffer) {
	v.buf = b
	b.users++
}

// leave has the value lie nowhere, for a reason.
func (v *Value) leave(why string) {
	v.buf.users--
	v.buf, v.gone = nil, why
}

// Hold says that one more holder outside the engine can read the value.
func (v *Value) Hold() *Value { v.handles++; return v }

// Drop takes one holder away.
func (v *Value) Drop() { v.handles-- }

// newValue is a value whose type is set later. It keeps inputs in itself if they
// are few, so that recording an op allocates little else.
func newValue(op Op, in []*Value) *Value {
	v := &Value{op: op}
	v.in = append(v.args[:0], in...)
	return v
}

// setType gives v the type t. The dimensions lie with those of other values, and
// not in v: plans keep shapes, and would keep v and its storage with them.
func (r *Recorder) setType(v *Value, t Type) {
	if r.shapes == nil || len(t.Shape) > cap(r.shapes)-len(r.shapes) {
		r.shapes = make([]int, 0, max(256, len(t.Shape)))
	}
	begin := len(r.shapes)
	r.shapes = append(r.shapes, t.Shape...)
	v.shape = r.shapes[begin:len(r.shapes):len(r.shapes)]
	v.dtype = t.DType
}

// StorageOf is where a value lies, nil while it is pending.
func StorageOf(v *Value) Storage {
	if v.buf == nil {
		return nil
	}
	return v.buf.Storage
}

// SameMemory tells whether two values are the same elements, and not only equal.
func SameMemory(a, b *Value) bool {
	return a == b || a.buf != nil && a.buf == b.buf && a.dtype == b.dtype && sameShape(a.shape, b.shape) &&
		a.layout.Offset == b.layout.Offset && sameShape(a.layout.Stride, b.layout.Stride)
}
