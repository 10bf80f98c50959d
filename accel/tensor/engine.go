package tensor

import (
	"sync"
	"sync/atomic"

	"github.com/quernlab/quern/accel/internal/engine/goroutine"
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
)

// engine holds the recorder that all tensors share, and its lock. There is one list of recorded ops
// because there is one current device; the engine lives as long as the process.
//
// The goroutine that holds the lock may lock again: the function of a Recompute records ops while
// the recorder is recording the Recompute.
type engine struct {
	mu       sync.Mutex
	owner    atomic.Uintptr // the goroutine that holds mu, or 0
	depth    int            // how often the owner has locked again
	recorder *ir.Recorder
	limit    int                  // set by SetMemoryLimit; 0 means the default
	devices  map[string]ir.Device // the devices used so far, by name
	tf32     bool                 // set by allowTF32

	scopes  map[goroutine.Identity]scope // the scopes of goroutines that have one
	current scope                        // the owner's
}

// scope holds the settings of one goroutine: those of [NoGrad], [Autocast],
// [WithLengths], [WithPositions], and of package tensors.
type scope struct {
	noGrad int   // nesting depth of NoGrad
	cast   DType // of Autocast; Float32 if off
	fp8    bool  // of AutocastFP8

	tensors.Scope // names of layers, and recorded ops

	lengths   *Tensor // of WithLengths; nil if off
	positions int     // to which the sequences are padded
	packed    *Tensor // of WithPositions; nil if off

	attention *[]recordedAttention // of tensors.RecordAttention; nil if off
}

var shared = sync.OnceValue(newEngine)

var engineMade atomic.Bool

// enter locks the engine for this goroutine and applies its scope.
func (e *engine) enter() {
	me := goroutine.Current()
	if e.owner.Load() == uintptr(me) { // no other goroutine stores this value
		e.depth++
		return
	}
	e.mu.Lock()
	e.owner.Store(uintptr(me))
	e.current = scope{}
	if len(e.scopes) > 0 {
		e.current = e.scopes[me]
	}
	e.recorder.NoGrad(e.current.noGrad)
	e.recorder.SetLayer(e.current.Path, e.current.Kind)
}

// leave unlocks the engine.
func (e *engine) leave() {
	if e.depth > 0 {
		e.depth--
		return
	}
	e.recorder.NoGrad(-e.current.noGrad)
	e.owner.Store(0)
	e.mu.Unlock()
}

// locked runs f with the engine locked; it unlocks if f panics.
func locked(f func(r *ir.Recorder)) {
	e := shared()
	e.enter()
	defer e.leave()
	f(e.recorder)
}

// withScope runs f with a changed scope for this goroutine.
func withScope(change func(*scope), f func()) {
	var before scope
	set := func(s scope) {
		e := shared()
		e.enter()
		defer e.leave()
		e.recorder.NoGrad(s.noGrad - e.current.noGrad)
		e.recorder.SetLayer(s.Path, s.Kind)
		e.current = s
		if me := goroutine.Current(); s == (scope{}) {
			delete(e.scopes, me)
		} else {
			e.scopes[me] = s
		}
	}
	locked(func(*ir.Recorder) { before = shared().current })
	after := before
	change(&after)
	set(after)
	defer set(before)
	f()
}

// record records one op whose inputs are tensors.
func record(op ir.Op, in ...*Tensor) *Tensor {
	e := shared()
	e.enter()
	defer e.leave()
	var buffer [4]*ir.Value
	values := e.prepare(buffer[:0], op, in)
	y := e.recordCast(op, values)
	e.recordOp(op, values, y)
	return wrap(y)
}

// recordCast records an op. It casts 16-bit inputs to float32 and the result back, and likewise integers to float64.
func (e *engine) recordCast(op ir.Op, values []*ir.Value) *ir.Value {
	if y, ok := recordWhole(e.recorder, op, values); ok {
		return y
	}
	if found, back := has16Bit(op, values); found && !ir.Moves(op) {
		return narrow(e.recorder, e.recorder.Record(op, widen(e.recorder, values)...), back)
	}
	return e.recorder.Record(op, values...)
}

// prepare returns the values of an op's inputs, cast as Autocast demands.
func (e *engine) prepare(values []*ir.Value, op named, in []*Tensor) []*ir.Value {
	for _, t := range in {
		values = append(values, t.value(op.Name()))
	}
	e.recorder.Trim()
	if e.current.cast != Float32 {
		return autocast(e.recorder, e.current.cast, op, values)
	}
	return values
}

// named is an op of the package: an ir.Op, or a composite.
type named interface{ Name() string }

// composite is an op of the package that consists of others.
type composite struct {
	name string
	cast ir.Autocast
	of   ir.Op // the op that has most of the FLOPs, or nil
}

func (c composite) Name() string { return c.name }

// Autocast returns the type in which the op computes under Autocast.
func (c composite) Autocast() ir.Autocast { return c.cast }

// compute records the ops that f makes from the tensors' values. It casts 16-bit inputs to float32
// and the result back, and likewise integers to float64.
func compute(op named, f func(r *ir.Recorder, v []*ir.Value) *ir.Value, in ...*Tensor) *Tensor {
	return arrange(op, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		if y, ok := computeWhole(r, op.Name(), f, v); ok {
			return y
		}
		in := v
		found, back := has16Bit(op, v)
		if found {
			in = widen(r, v)
		}
		y := f(r, in)
		if found {
			y = narrow(r, y, back)
		}
		shared().recordOp(op, v, y)
		return y
	}, in...)
}

// arrange is compute for ops that only move elements, which need no casts.
func arrange(op named, f func(r *ir.Recorder, v []*ir.Value) *ir.Value, in ...*Tensor) *Tensor {
	e := shared()
	e.enter()
	defer e.leave()
	var buffer [4]*ir.Value
	values := e.prepare(buffer[:0], op, in)
	defer renameOp(op.Name())
	return wrap(f(e.recorder, values))
}

// renameOp is deferred by a public op that is made of other ops. It renames their errors to the op
// that the user called.
func renameOp(op string) {
	p := recover()
	switch e := p.(type) {
	case nil:
		return
	case *ShapeError:
		e.Op = op
	case *DTypeError:
		e.Op = op
	}
	panic(p)
}

// Flush runs all recorded ops. Item, Data and the optimizers call it; programs rarely need to.
func Flush() {
	if engineMade.Load() { // otherwise nothing was recorded, and no device need be opened
		locked((*ir.Recorder).Flush)
	}
}

// Synchronize runs all recorded ops and waits until the device has finished them; call it before
// reading a clock. It panics with the device's error if an op failed.
func Synchronize() { locked((*ir.Recorder).Wait) }

// NoGrad runs f with gradients disabled for this goroutine; other goroutines, including those that
// f starts, are not affected. Use it for evaluation and for updates of parameters.
func NoGrad(f func()) { withScope(func(s *scope) { s.noGrad++ }, f) }

// recordOp appends an op with the result y to the list of RecordOps.
func (e *engine) recordOp(op named, in []*ir.Value, y *ir.Value) {
	if !e.current.RecordsOps() {
		return
	}
	if o, ok := op.(ir.Op); ok {
		if from, to := ir.TypedBy(op, len(in)); ir.Moves(o) || from == to {
			return
		}
	}
	c := tensors.RecordedOp{Op: op.Name(), DType: Float32, FLOPs: flops(op, in, y)}
	if found, d := narrowest(in); found {
		c.DType = d
	} else if len(in) > 0 && in[0].DType() == Float64 {
		c.DType = Float64
	}
	e.current.RecordOp(c)
}

// flops returns the FLOPs of an op that multiplies matrices, two for each multiply-add.
func flops(op named, in []*ir.Value, y *ir.Value) int {
	if c, ok := op.(composite); ok && c.of != nil {
		op = c.of
	}
	shapes := make([][]int, len(in))
	for i, v := range in {
		shapes[i] = v.Shape()
	}
	return 2 * ir.MultiplyAdds(op, shapes, y.Shape())
}

// Package tensors provides what other packages of accel need of tensors and users do not.
func init() {
	tensors.Provide(tensors.Engine{
		Locked:    locked,
		WithScope: func(change func(*tensors.Scope), f func()) { withScope(func(s *scope) { change(&s.Scope) }, f) },
		Plain:     func(f func()) { NoGrad(func() { Autocast(Float32, f) }) },

		Seed:       seedGenerators,
		SetDevice:  setDevice,
		DeviceLost: deviceLost,
		GPUs:       listGPUs,
		Libraries:  listLibraries,
		AllowTF32:  allowTF32,
		TF32:       isTF32,
	}, &tensors.Access[*Tensor]{
		Value:           (*Tensor).value,
		HoldValue:       (*Tensor).holdValue,
		Holder:          func(t *Tensor) **ir.Value { return &t.v },
		Leaf:            func(t *Tensor) *ir.Leaf { return t.leaf },
		Wrap:            wrap,
		Metadata:        func(t *Tensor) *any { return &t.metadata },
		RecordAttention: attended,
		SyncBatchNorm:   syncBatchNorm,
		Run:             func(r tensors.Recurrence[*Tensor]) (y, h, c *Tensor) { return recurrence(r).run() },
		Record: func(op ir.Op, f func(*ir.Recorder, *ir.Value) *ir.Value, x *Tensor) *Tensor {
			return compute(op, func(r *ir.Recorder, v []*ir.Value) *ir.Value { return f(r, v[0]) }, x)
		},
		Compute: func(name string, f func(*ir.Recorder, []*ir.Value) *ir.Value, in ...*Tensor) *Tensor {
			return compute(composite{name: name}, f, in...)
		},
		RecordKernel: func(name string, f func(*ir.Recorder, []*ir.Value) *ir.Value, in ...*Tensor) *Tensor {
			op := composite{name: name}
			return arrange(op, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
				y := f(r, v)
				shared().recordOp(op, v, y)
				return y
			}, in...)
		},
	})
}
