package ir

import (
	"encoding/binary"
	"time"

	"github.com/quernlab/quern/accel/internal/trace"
)

// Limits of a recorded list. A list that grows past one of them is run, so a
// loop that never asks for a result stays within bounds.
const (
	maxNodes        = 4096
	maxPendingBytes = 256 << 20
)

// Recorder records ops into a list, and plans and runs it. It is not safe for
// concurrent use; package tensor holds the lock.
type Recorder struct {
	device Device

	nodes     []*Value
	externals []*Value
	assigns   []assignment
	released  []*Value // dropped values that the list still reads
	leaves    []*Leaf  // whose gradients the list computes
	shapes    []int    // where the dimensions of new values go
	key       []byte   // structure of the list, appended to while recording
	words     []uint64 // parameters that are no part of the structure
	pending   int      // bytes of the recorded results
	weighed   int      // pending up to which the list is known to be within its limits
	epoch     uint64   // number of the list

	noGrad      int
	replays     int      // of Recompute ops that run their function again
	underWay    []*Value // values whose gradient is being taken
	completed   []*Leaf  // whose After is called at the end of Backward
	marks       uint64   // number of Backward calls
	plans       *planCache
	bind        []Storage
	made        []*Buffer
	stats       Stats
	before      DeviceCounts // of the device, at ResetStats
	live        *liveBytes
	limit       int // bytes, 0 for none
	meters      []*meter
	temporaries int // bytes of the plan that runs

	watching bool       // every value is kept and looked at
	nan      *NonFinite // first one of the lists since watching began
	infinite *NonFinite // first one, before the first NaN
	phase    string     // op whose gradient is being recorded
	phases   []string   // of the nodes, while watching
	place    place      // where ops are recorded now
	places   map[*Value]place

	tracers []*Tracer // which are told what is recorded

	origin   *trace.Note   // of the node whose gradient is being recorded, while a profile is taken
	backward bool          // Backward is recording
	planning time.Duration // of the plan that was just made, while a profile is taken

	// unfused makes every op its own step, for tests that compare the two.
	unfused bool
}

// assignment is an in-place update: where nobody else sees the old value, the
// new one may be written over it.
type assignment struct {
	holder   **Value // where the new value is held
	old, new *Value
}

// NewRecorder makes an empty recorder for a device.
func NewRecorder(d Device) *Recorder {
	return &Recorder{device: d, epoch: 1, plans: newPlanCache(), live: &liveBytes{}}
}

// Trim runs the list if it has grown past its limits. It is called between
// ops, when every value that is still needed has a holder.
func (r *Recorder) Trim() {
	if len(r.nodes) >= maxNodes {
		r.Flush()
	}
	if r.pending < max(maxPendingBytes, r.weighed) {
		return
	}
	needed := r.needed()
	if needed >= maxPendingBytes {
		r.Flush()
		return
	}
	r.weighed = r.pending + maxPendingBytes - needed
}

// needed is the bytes of those results that will be in memory: the others are
// views, or within fused loops.
func (r *Recorder) needed() int {
	total := 0
	for _, v := range r.nodes {
		class := Whole
		if v.op != nil {
			class = v.op.Class(v.in)
		}
		if class == Whole || class == Elementwise && keeps(v) {
			total += v.Len() * v.dtype.Size()
		}
	}
	return total
}

// Record appends an op to the list. It panics with a *ShapeError, *DTypeError
// or *StateError if the op cannot take the inputs.
func (r *Recorder) Record(op Op, in ...*Value) *Value {
	for _, v := range in {
		v.check(op.Name())
	}
	v := newValue(op, in)
	args := v.in // not in, which would then escape to the heap
	t, err := op.Infer(args)
	if err == nil && !Countable(t.Shape) {
		err = &ShapeError{Hint: "the result would be " + FormatShape(t.Shape) + ", more elements than can be counted"}
	}
	if err != nil {
		panic(describe(err, op, args))
	}
	r.setType(v, t)
	if r.noGrad == 0 && t.DType.IsFloat() {
		if Differentiable(op) {
			for _, x := range args {
				v.requires = v.requires || x.requires
			}
		}
	}
	if v.requires {
		v.tape++
		for _, x := range args {
			x.tape++
		}
	}
	r.appendKey(op, v, args)
	v.epoch, v.index = r.epoch, len(r.nodes)
	r.nodes = append(r.nodes, v)
	if r.watching {
		r.phases = append(r.phases, r.phase)
		r.places[v] = r.place
	}
	r.pending += v.Len() * v.dtype.Size()
	if c := trace.Active(); c != nil {
		r.note(c, v, op, args)
	}
	if d, ok := op.(Dynamic); ok {
		r.words = d.AppendWords(r.words)
	}
	for _, t := range r.tracers {
		t.recorded(v, r.place)
	}
	return v
}

func (noGradient) nondifferentiable() {}

// Position is how far the recording has come.
type Position struct {
	epoch uint64
	nodes int
}

// Position is how far the recording has come now.
func (r *Recorder) Position() Position { return Position{r.epoch, len(r.nodes)} }

// Since tells whether a value was recorded after a position.
func (r *Recorder) Since(v *Value, p Position) bool {
	return v.index >= 0 && (v.epoch > p.epoch || v.epoch == p.epoch && v.index >= p.nodes)
}

// Recorded is the names of the ops in the list, for tests.
func (r *Recorder) Recorded() []string {
	names := make([]string, len(r.nodes))
	for i, v := range r.nodes {
		names[i] = v.op.Name()
	}
	return names
}

// Differentiable tells whether gradients flow through an op.
func Differentiable(op Op) bool {
	_, none := op.(interface{ nondifferentiable() })
	return !none
}

// appendKey writes the node so that equal keys mean equal structure: every
// part has a fixed length or is preceded by it.
func (r *Recorder) appendKey(op Op, v *Value, in []*Value) {
	for _, x := range in {
		r.reference(x)
	}
	k := append(r.key, 'n', byte(len(op.Name())))
	k = append(k, op.Name()...)
	k = op.AppendKey(k)
	k = binary.AppendUvarint(k, uint64(len(in)))
	for _, x := range in {
		k = binary.AppendVarint(k, int64(x.index))
	}
	r.key = appendType(k, v.shape, v.dtype)
}

func appendType(k []byte, shape []int, d DType) []byte {
	k = binary.AppendUvarint(append(k, byte(d)), uint64(len(shape)))
	for _, n := range shape {
		k = binary.AppendUvarint(k, uint64(n))
	}
	return k
}

// reference gives a value from before this list a number in it.
func (r *Recorder) reference(x *Value) {
	if x.epoch == r.epoch {
		return
	}
	x.epoch, x.index = r.epoch, ^len(r.externals)
	r.externals = append(r.externals, x)
	k := appendType(append(r.key, 'x'), x.shape, x.dtype)
	for _, s := range x.layout.Stride {
		k = binary.AppendVarint(k, int64(s))
	}
	r.key = binary.AppendUvarint(k, uint64(x.layout.Offset))
}

// check panics if the value can no longer be read.
func (v *Value) check(op string) {
	if v.gone != "" {
		panic(&StateError{Op: op, Hint: v.gone})
	}
}

func describe(err error, op Op, in []*Value) error {
	switch e := err.(type) { //nolint:errorlint // what a shape rule returns, never wrapped
	case *ShapeError:
		e.Op = op.Name()
		for _, v := range in {
			e.Shapes = append(e.Shapes, append([]int{}, v.shape...))
		}
	case *DTypeError:
		e.Op = op.Name()
		for _, v := range in {
			e.DTypes = append(e.DTypes, v.dtype)
		}
	}
	return err
}

// place is a part of a model.
type place struct{ path, kind string }

// SetPlace says in which part of a model ops are recorded from now on.
func (r *Recorder) SetPlace(path, kind string) { r.place = place{path, kind} }

// NoGrad runs f; values computed inside need no gradient.
func (r *Recorder) NoGrad(delta int) { r.noGrad += delta }

// GradEnabled tells whether gradients are recorded now.
func (r *Recorder) GradEnabled() bool { return r.noGrad == 0 }

// Assign gives a holder, which has a value already, a new one with src's
// content. src is moved when it is a pending result that only its own handle
// holds; moved tells so, and that handle then no longer counts as a holder.
func (r *Recorder) Assign(holder **Value, src *Value, leaf *Leaf) (moved bool) {
	dst := *holder
	src.check("Assign")
	if !sameShape(dst.shape, src.shape) {
		panic(&ShapeError{Op: "Assign", Shapes: [][]int{dst.shape, src.shape}, Hint: "the new value must have the shape of the old one"})
	}
	if dst.dtype != src.dtype {
		panic(&DTypeError{Op: "Assign", DTypes: []DType{dst.dtype, src.dtype}, Hint: "the new value must have the element type of the old one"})
	}
	if dst == src {
		return false
	}
	for _, t := range r.tracers {
		t.assigning(dst, src, r.place)
	}
	next := src
	switch pending := src.epoch == r.epoch && src.index >= 0; {
	case src.requires:
		r.noGrad++
		next = r.Record(Alias{}, src)
		r.noGrad--
		next.Hold()
	case pending && src.handles == 1 && src.leaf == nil:
		moved, src.moved = true, true // the count now stands for dst's holder
	default:
		next = r.Alias(src).Hold()
	}
	next.leaf, next.requires = leaf, leaf != nil
	r.replace(holder, next)
	return moved
}

// replace gives a holder its next value and remembers the pair for the
// planner.
func (r *Recorder) replace(holder **Value, next *Value) {
	old := *holder
	*holder = next
	old.Drop()
	for i := range r.assigns {
		if r.assigns[i].new == old {
			r.assigns[i].new = next
			return
		}
	}
	if old.buf != nil {
		r.reference(old)
		r.assigns = append(r.assigns, assignment{holder, old, next})
	}
}

// Alias is a second value with the same content, with no gradient.
func (r *Recorder) Alias(v *Value) *Value {
	v.check("Detach")
	if v.buf == nil {
		r.noGrad++
		defer func() { r.noGrad-- }()
		return r.Record(Alias{}, v)
	}
	v.buf.shared = true
	a := &Value{layout: v.layout}
	a.look(v.buf)
	r.setType(a, Type{v.shape, v.dtype})
	for _, t := range r.tracers {
		t.aliased(a, v, r.place)
	}
	return a
}

// Release drops one holder, and frees the storage if it was the last that can
// see it.
func (r *Recorder) Release(v *Value) {
	v.Drop()
	if v.handles > 0 || v.tape > 0 || v.buf == nil {
		return
	}
	if v.epoch == r.epoch {
		r.released = append(r.released, v)
		return
	}
	r.free(v, "released")
}

func (r *Recorder) free(v *Value, why string) {
	if v.buf == nil || v.handles > 0 || v.tape > 0 {
		return
	}
	b := v.buf
	if v.leave(why); b.users == 0 {
		r.recycle(b)
	}
}

// Leaf makes a value the current one of a parameter, or no longer one if leaf
// is nil, and returns the value to use in its place.
func (r *Recorder) Leaf(v *Value, leaf *Leaf) *Value {
	v.check("SetRequiresGrad")
	if v.requires && v.leaf == nil {
		panic(&StateError{Op: "SetRequiresGrad", Hint: "the tensor is the result of ops with a gradient; Detach it first"})
	}
	if leaf != nil && !v.dtype.IsFloat() {
		panic(&DTypeError{Op: "SetRequiresGrad", DTypes: []DType{v.dtype}, Hint: "only floating-point tensors have gradients"})
	}
	if v.handles > 1 {
		a := r.Alias(v).Hold()
		v.Drop()
		v = a
	}
	v.leaf, v.requires = leaf, leaf != nil
	return v
}

// ZeroGrad forgets the gradient.
func (r *Recorder) ZeroGrad(l *Leaf) {
	if l.Grad != nil {
		r.Release(l.Grad)
		l.Grad = nil
	}
}

// Unfused makes every op its own step from now on; plans are made anew. It is
// for tests that compare the two.
func (r *Recorder) Unfused(on bool) {
	r.Flush()
	r.unfused = on
	r.plans = newPlanCache()
}
