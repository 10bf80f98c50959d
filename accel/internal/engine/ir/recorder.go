package ir

import (
	"encoding/binary"
	"time"

	"github.com/quernlab/quern/accel/internal/engine/tensortype"
	"github.com/quernlab/quern/accel/internal/engine/trace"
)

// Recorder records ops into a list, and plans and runs it. It is not safe for
// concurrent use; package tensor holds the lock.
type Recorder struct {
	device Device

	nodes          []*Value
	externals      []*Value
	assigns        []assignment
	released       []*Value // dropped values that the list still reads
	leaves         []*Leaf  // leaves whose gradients the list computes
	shapes         []int    // storage for the dimensions of new values
	key            []byte   // structure of the list, appended to while recording
	words          []uint64 // parameters that are not part of the structure
	pending        int      // bytes of the recorded results
	checkedPending int      // value of pending up to which the list is within its limits
	gradients      bool     // gradients flow into a value of the list
	epoch          uint64   // counts lists

	noGrad      int
	replays     int      // number of Recompute ops that are running their function again
	inProgress  []*Value // values whose gradient is being computed
	completed   []*Leaf  // leaves whose After is called at the end of Backward
	marks       uint64   // number of Backward calls
	plans       *planCache
	bind        []Storage
	made        []*Buffer
	stats       Stats
	before      DeviceCounts // counts of the device at ResetStats
	live        *liveBytes
	limit       int // bytes, 0 for none
	meters      []*meter
	temporaries int // bytes of temporaries of the plan that runs

	watching bool       // every value is kept and checked
	nan      *NonFinite // first NaN since watching began
	infinite *NonFinite // first infinity, before the first NaN
	phase    string     // op whose gradient is being recorded
	phases   []string   // of the nodes, while watching
	layer    layer      // layer in which ops are recorded
	layers   map[*Value]layer

	tracers []*Tracer // notified of recorded ops

	origin   *trace.Note   // of the node whose gradient is being recorded, while profiling
	backward bool          // Backward is recording
	planning time.Duration // time of the last planning, while profiling

	lacks func(op Op, in []*Value) bool // ops that are composed where they are recorded; nil for none

	// unfused makes every op its own step, for tests that compare the two.
	unfused bool
	// composed makes every op that states a composition run as it, for tests.
	composed bool
	// halved makes Flush divide every list into single ops, for tests.
	halved bool
	// recast makes Round cast parameters each time, for tests.
	recast bool
}

// assignment is an in-place update: if no other value sees the old value, the new one may
// overwrite it.
type assignment struct {
	holder   **Value // holder of the new value
	old, new *Value
}

// NewRecorder returns an empty recorder for a device.
func NewRecorder(d Device) *Recorder {
	return &Recorder{device: d, epoch: 1, plans: newPlanCache(), live: &liveBytes{}}
}

// Record appends an op to the list. It panics with a *ShapeError, *DTypeError
// or *StateError if the op cannot take the inputs.
func (r *Recorder) Record(op Op, in ...*Value) *Value {
	for _, v := range in {
		v.check(op.Name())
	}
	if r.lacks != nil {
		if args := append([]*Value{}, in...); r.lacks(op, args) { // a copy, so that in does not escape to the heap
			return op.(Composer).Compose(r, args)
		}
	}
	v := newValue(op, in)
	args := v.in // not in, which would then escape to the heap
	t, err := op.Infer(args)
	if err == nil && !Countable(t.Shape) {
		err = &ShapeError{Hint: "the result would be " + FormatShape(t.Shape) + ", whose number of elements overflows an int"}
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
		r.gradients = true
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
		r.layers[v] = r.layer
	}
	r.pending += v.Len() * v.dtype.Size()
	if c := trace.Active(); c != nil {
		r.note(c, v, op, args)
	}
	if d, ok := op.(Dynamic); ok {
		r.words = d.AppendWords(r.words)
	}
	for _, t := range r.tracers {
		t.recorded(v, r.layer)
	}
	return v
}

func (noGradient) nondifferentiable() {}

// Position is a position in the recording.
type Position struct {
	epoch uint64
	nodes int
}

// Position returns the current position.
func (r *Recorder) Position() Position { return Position{r.epoch, len(r.nodes)} }

// Since reports whether a value was recorded after a position.
func (r *Recorder) Since(v *Value, p Position) bool {
	return v.index >= 0 && (v.epoch > p.epoch || v.epoch == p.epoch && v.index >= p.nodes)
}

// Recorded returns the names of the ops in the list, for tests.
func (r *Recorder) Recorded() []string {
	names := make([]string, len(r.nodes))
	for i, v := range r.nodes {
		names[i] = v.op.Name()
	}
	return names
}

// Differentiable reports whether gradients flow through an op.
func Differentiable(op Op) bool {
	_, none := op.(interface{ nondifferentiable() })
	return !none
}

// appendKey writes the node so that equal keys mean equal structure: every part has a fixed
// length or is preceded by its length.
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

// reference assigns an index to a value from before this list.
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

// layer is a layer of a model.
type layer struct{ path, kind string }

// SetLayer sets the layer in which later ops are recorded.
func (r *Recorder) SetLayer(path, kind string) { r.layer = layer{path, kind} }

// NoGrad changes the depth of sections that record no gradients by delta.
func (r *Recorder) NoGrad(delta int) { r.noGrad += delta }

// WithoutGrad returns f(), whose ops record no gradients; they do again if f panics.
func (r *Recorder) WithoutGrad(f func() *Value) *Value {
	r.noGrad++
	defer func() { r.noGrad-- }()
	return f()
}

// GradEnabled reports whether gradients are recorded.
func (r *Recorder) GradEnabled() bool { return r.noGrad == 0 }

// Assign replaces the value of a holder by one with src's content. src is moved if it is a
// pending result that only its own handle holds; moved reports that, and the handle then no
// longer counts as a holder.
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
		t.assigning(dst, src, r.layer)
	}
	next := src
	switch pending := src.epoch == r.epoch && src.index >= 0; {
	case src.requires:
		next = r.WithoutGrad(func() *Value { return r.Record(Alias{}, src) }).Hold()
	case pending && src.handles == 1 && src.leaf == nil && src.rounded == nil:
		moved, src.moved = true, true // the count now stands for dst's holder
	default:
		next = r.Alias(src).Hold()
	}
	next.leaf, next.requires, next.rounded = leaf, leaf != nil, dst.rounded
	r.replace(holder, next)
	if next.rounded != nil {
		r.roundNext(dst, next)
	}
	return moved
}

// replace sets the next value of a holder and records the pair for the planner.
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

// Alias returns a second value with the same content and no gradient.
func (r *Recorder) Alias(v *Value) *Value {
	v.check("Detach")
	if v.buf == nil {
		return r.WithoutGrad(func() *Value { return r.Record(Alias{}, v) })
	}
	v.buf.shared = true
	a := &Value{layout: v.layout}
	a.look(v.buf)
	r.setType(a, Type{v.shape, v.dtype})
	for _, t := range r.tracers {
		t.aliased(a, v, r.layer)
	}
	return a
}

// Release removes one holder, and frees the storage if no other value can see it.
func (r *Recorder) Release(v *Value) {
	v.Drop()
	if !r.backward {
		r.prune(v)
	}
	if v.handles == 0 && v.rounded != nil && v.rounded.of == v {
		r.forgetRounded(v)
	}
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

// Leaf makes a value the current one of a parameter, or no longer one if leaf is nil, and
// returns the value to use instead.
func (r *Recorder) Leaf(v *Value, leaf *Leaf) *Value {
	v.check("SetRequiresGrad")
	if v.requires && v.leaf == nil {
		panic(&StateError{Op: "SetRequiresGrad", Hint: "the tensor is the result of ops with a gradient; Detach it first"})
	}
	if leaf != nil && !v.dtype.IsFloat() {
		panic(&DTypeError{Op: "SetRequiresGrad", DTypes: []DType{v.dtype}, Hint: "only floating-point tensors have gradients"})
	}
	if v.handles > 1 {
		r.forgetRounded(v)
		a := r.Alias(v).Hold()
		a.rounded, v.rounded = v.rounded, nil
		v.Drop()
		v = a
	}
	if v.leaf, v.requires = leaf, leaf != nil; leaf != nil && v.rounded == nil {
		v.rounded = &rounded{}
	}
	return v
}

// ZeroGrad drops the gradient.
func (r *Recorder) ZeroGrad(l *Leaf) {
	if l.Grad != nil {
		l.Lost = !l.Used
		r.Release(l.Grad)
		l.Grad = nil
	}
	l.Used, l.Stale = false, false
}

// Unfused makes every op its own step from now on, for tests that compare the two. It drops
// the plans.
func (r *Recorder) Unfused(on bool) {
	r.Flush()
	r.unfused = on
	r.plans = newPlanCache()
}

// Halved makes Flush run every list in parts from now on, as if it did not fit into memory, for
// tests.
func (r *Recorder) Halved(on bool) {
	r.Flush()
	r.halved = on
}

// Recast makes Round cast parameters each time from now on, for tests.
func (r *Recorder) Recast(on bool) { r.recast = on }

// Switch runs the list and makes later ones run on another device. Values move when a list
// reads them; others stay where they are. The caller keeps the old device open while such
// values exist.
func (r *Recorder) Switch(d Device) {
	r.Flush()
	r.device = d
	r.before = r.deviceCounts()
	r.plans = newPlanCache()
	r.stats.PlanBytes = 0
}

// failed gives a device error its type.
func (r *Recorder) failed(err error) error { return tensortype.OfDevice(r.device.Name(), err) }

// Device returns the device that lists run on.
func (r *Recorder) Device() Device { return r.device }

// bring moves the values that the list reads to the device that it runs on, in whole
// buffers, so that all views of a buffer stay valid. It panics with the device's error.
func (r *Recorder) bring() {
	var room []byte
	for _, x := range r.externals {
		b := x.buf
		if b.device == r.device {
			continue
		}
		n := b.Storage.Size()
		if cap(room) < n {
			room = make([]byte, n)
		}
		if err := b.device.Read(room[:n], b.Storage, 0); err != nil {
			panic(tensortype.OfDevice(b.device.Name(), err))
		}
		s, err := r.device.Alloc(n)
		if err != nil {
			panic(r.failed(err))
		}
		if err := r.device.Write(s, 0, room[:n]); err != nil {
			panic(r.failed(err))
		}
		b.device.Free(b.Storage)
		b.Storage, b.device, b.exposed = s, r.device, false
	}
}
