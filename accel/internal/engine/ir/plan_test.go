package ir

import (
	"errors"
	"runtime"
	"strings"
	"testing"
)

// nullDevice compiles everything and computes nothing.
type nullDevice struct {
	programs []*Program
	runs     int
	fail     error // of the next run
	at       int   // step at which it fails
	allocs   int
}

type nullStorage int

func (s nullStorage) Size() int { return int(s) }

func (d *nullDevice) Name() string                     { return "null" }
func (d *nullDevice) Alloc(bytes int) (Storage, error) { d.allocs++; return nullStorage(bytes), nil }
func (d *nullDevice) Free(Storage)                     {}
func (d *nullDevice) Write(Storage, int, []byte) error { return nil }
func (d *nullDevice) Read([]byte, Storage, int) error  { return nil }
func (d *nullDevice) Compile(p *Program) (Executable, error) {
	d.programs = append(d.programs, p)
	return &nullProgram{d, p}, nil
}

type nullProgram struct {
	device *nullDevice
	p      *Program
}

func (e *nullProgram) Run(bind []Storage, words []uint64) (int, error) {
	e.device.runs++
	if err := e.device.fail; err != nil {
		e.device.fail = nil
		return e.device.at, err
	}
	return len(e.p.Steps), nil
}

func input(r *Recorder, d DType, shape ...int) *Value {
	return r.Upload(Type{shape, d}, make([]byte, Len(shape)*d.Size())).Hold()
}

func parameter(r *Recorder, shape ...int) (*Value, *Leaf) {
	l := &Leaf{}
	return r.Leaf(input(r, Float32, shape...), l), l
}

// planRows are recorded lists and the programs that they must become.
var planRows = []struct {
	name   string
	record func(r *Recorder)
	want   string
}{
	{"a chain is one loop", func(r *Recorder) {
		x := input(r, Float32, 4)
		r.Record(Tanh{}, r.Record(Exp{}, r.Record(Neg{}, x))).Hold()
	}, `0 loop[4] x0[4] -> o1[4]: Neg(0) Exp(1) Tanh(2)=0
arena 0 bytes
`},
	{"what nobody reads is left out", func(r *Recorder) {
		x := input(r, Float32, 4)
		r.Record(Exp{}, x)
		r.Record(Neg{}, x).Hold()
	}, `0 loop[4] x0[4] -> o1[4]: Neg(0)=0
arena 0 bytes
`},
	{"a held value inside of a chain is stored", func(r *Recorder) {
		x := input(r, Float32, 4)
		r.Record(Tanh{}, r.Record(Neg{}, x).Hold()).Hold()
	}, `0 loop[4] x0[4] -> o1[4] o2[4]: Neg(0)=0 Tanh(1)=1
arena 0 bytes
`},
	{"an activation moves into the product", func(r *Recorder) {
		x, w, b := input(r, Float32, 4, 3), input(r, Float32, 8, 3), input(r, Float32, 8)
		r.Record(Exp{}, r.Record(ReLU{}, r.Record(Linear{}, x, w, b))).Hold()
	}, `0 Linear+ReLU x0[4 3] x1[8 3] x2[8] -> t3[4 8]
1 loop[4 8] t3[4 8] -> o4[4 8]: Exp(0)=0
arena 128 bytes
`},
	{"also through a reshape", func(r *Recorder) {
		x, w, b := input(r, Float32, 4, 3), input(r, Float32, 8, 3), input(r, Float32, 8)
		r.Record(ReLU{}, r.Reshape(r.Record(Linear{}, x, w, b), []int{2, 2, 8})).Hold()
	}, `0 Linear+ReLU x0[4 3] x1[8 3] x2[8] -> o3[4 8]
arena 0 bytes
`},
	{"not through another order or a part", func(r *Recorder) {
		x, w := input(r, Float32, 4, 3), input(r, Float32, 3, 8)
		r.Record(ReLU{}, r.swapLast(r.Record(MatMul{}, x, w))).Hold()
		r.Record(ReLU{}, r.Record(Slice{Axis: 0, From: 1, To: 3}, r.Record(MatMul{}, x, w))).Hold()
	}, `0 MatMul x0[4 3] x1[3 8] -> t2[4 8]
1 loop[8 4] t2[8 4]/[1 8] -> o3[8 4]: ReLU(0)=0
2 MatMul x0[4 3] x1[3 8] -> t4[4 8]
3 loop[2 8] t4[2 8]+8 -> o5[2 8]: ReLU(0)=0
arena 128 bytes
`},
	{"not if the product itself is held", func(r *Recorder) {
		x, w := input(r, Float32, 4, 3), input(r, Float32, 3, 8)
		r.Record(ReLU{}, r.Record(MatMul{}, x, w).Hold()).Hold()
	}, `0 MatMul x0[4 3] x1[3 8] -> o2[4 8]
1 loop[4 8] o2[4 8] -> o3[4 8]: ReLU(0)=0
arena 0 bytes
`},
	{"a transpose is a layout", func(r *Recorder) {
		x, y := input(r, Float32, 4, 3), input(r, Float32, 4, 5)
		r.Record(MatMul{}, r.swapLast(x), y).Hold()
	}, `0 MatMul x0[3 4]/[1 3] x1[4 5] -> o2[3 5]
arena 0 bytes
`},
	{"a reshape of a transpose is a copy", func(r *Recorder) {
		x := input(r, Float32, 4, 3)
		r.Reshape(r.swapLast(x), []int{12}).Hold()
	}, `0 Reshape x0[3 4]/[1 3] -> o1[12]
arena 0 bytes
`},
	{"a sum of a transpose gets a copy", func(r *Recorder) {
		x := input(r, Float32, 4, 3)
		r.Record(Sum{From: 0, To: 1}, r.swapLast(x)).Hold()
	}, `0 Copy x0[3 4]/[1 3] -> t1[3 4]
1 Sum t1[3 4] -> o2[4]
arena 64 bytes
`},
	{"no loop around a sum of itself", func(r *Recorder) {
		x := input(r, Float32, 4)
		e := r.Record(Exp{}, x)
		r.Record(Div{}, e, r.Record(Sum{From: 0, To: 1}, e)).Hold()
	}, `0 loop[4] x0[4] -> t1[4]: Exp(0)=0
1 Sum t1[4] -> t2[]
2 loop[4] t1[4] t2[4]/[0] -> o3[4]: Div(0 1)=0
arena 128 bytes
`},
	{"no loop around a transpose of itself", func(r *Recorder) {
		x := input(r, Float32, 3, 3)
		e := r.Record(Exp{}, x)
		r.Add(e, r.swapLast(e)).Hold()
	}, `0 loop[3 3] x0[3 3] -> t1[3 3]: Exp(0)=0
1 loop[3 3] t1[3 3] t1[3 3]/[1 3] -> o2[3 3]: Add(0 1)=0
arena 64 bytes
`},
	{"temporaries share the arena", func(r *Recorder) {
		x := input(r, Float32, 64, 64)
		for range 4 {
			x = r.Record(MatMul{}, x, x)
		}
		x.Hold()
	}, `0 MatMul x0[64 64] x0[64 64] -> t1[64 64]
1 MatMul t1[64 64] t1[64 64] -> t2[64 64]
2 MatMul t2[64 64] t2[64 64] -> t3[64 64]
3 MatMul t3[64 64] t3[64 64] -> o4[64 64]
arena 32768 bytes
`},
	{"integers are compared in a step of their own", func(r *Recorder) {
		x := input(r, Int32, 4)
		r.Record(Neg{}, r.Record(Eq{}, x, x)).Hold()
	}, `0 Eq x0[4]:int32 x0[4]:int32 -> t1[4]
1 loop[4] t1[4] -> o2[4]: Neg(0)=0
arena 64 bytes
`},
	{"a cast to float32 is a load", func(r *Recorder) {
		x := input(r, Uint8, 4)
		r.MulScalar(r.Record(Cast{To: Float32}, x), 1./255).Hold()
	}, `0 loop[4] x0[4]:uint8 -> o1[4]: Cast(0) MulScalar(1)=0
arena 0 bytes
`},
	{"gradients join the list", func(r *Recorder) {
		p, l := parameter(r, 4)
		r.Backward(r.Record(Sum{From: 0, To: 1}, r.Record(Square{}, p)))
		l.Grad.Hold()
	}, `0 loop[] -> t1[]: Fill()=0
1 loop[4] t1[4]/[0] x0[4] -> o2[4]: MulScalar(0) Mul(2 1)=0
arena 64 bytes
`},
}

func TestPlans(t *testing.T) {
	for _, row := range planRows {
		t.Run(row.name, func(t *testing.T) {
			d := &nullDevice{}
			r := NewRecorder(d)
			row.record(r)
			r.Flush()
			if got := d.programs[0].String(); got != row.want {
				t.Errorf("got\n%swant\n%s", got, row.want)
			}
		})
	}
}

func TestPlansAreFoundByStructure(t *testing.T) {
	d := &nullDevice{}
	r := NewRecorder(d)
	x, y, toFloat32 := input(r, Float32, 4), input(r, Float32, 4), input(r, Float32, 2, 2)
	lists := []struct {
		name   string
		record func()
		plans  int // made so far
	}{
		{"the first", func() { r.Add(x, y).Hold() }, 1},
		{"the same", func() { r.Add(x, y).Hold() }, 1},
		{"other inputs", func() { r.Add(y, x).Hold() }, 1},
		{"one input twice", func() { r.Add(x, x).Hold() }, 2},
		{"another op", func() { r.Mul(x, y).Hold() }, 3},
		{"another shape", func() { r.Add(toFloat32, toFloat32).Hold() }, 4},
		{"another scalar", func() { r.MulScalar(x, 1).Hold() }, 5},
		{"another scalar again", func() { r.MulScalar(x, 2).Hold() }, 5},
		{"a held value", func() { r.Record(Neg{}, r.Record(Exp{}, x)).Hold() }, 6},
		{"two held values", func() { r.Record(Neg{}, r.Record(Exp{}, x).Hold()).Hold() }, 7},
		{"an axis", func() { r.Record(Sum{From: 0, To: 1}, toFloat32).Hold() }, 8},
		{"another axis", func() { r.Record(Sum{From: 1, To: 2}, toFloat32).Hold() }, 9},
		{"a layout", func() { v := r.swapLast(toFloat32); v.Hold(); r.Flush(); r.Record(Exp{}, v).Hold() }, 11},
	}
	for _, l := range lists {
		l.record()
		r.Flush()
		if got := r.Stats().PlansMade; got != l.plans {
			t.Errorf("%s: %d plans, want %d", l.name, got, l.plans)
		}
	}
}

func TestPlanCacheIsBounded(t *testing.T) {
	r := NewRecorder(&nullDevice{})
	for n := range 3 * maxPlans {
		r.Record(Neg{}, input(r, Float32, n+1)).Hold()
		r.Flush()
	}
	if got := r.plans.used.Len(); got != maxPlans || len(r.plans.byKey) != maxPlans {
		t.Errorf("%d plans in order and %d by key, want %d", got, len(r.plans.byKey), maxPlans)
	}
	r.Record(Neg{}, input(r, Float32, 3*maxPlans)).Hold()
	made := r.Stats().PlansMade
	r.Flush()
	if r.Stats().PlansMade != made {
		t.Error("the most recently used plan was evicted")
	}
}

// TestInPlaceUpdate looks at the storage that an update gets.
func TestInPlaceUpdate(t *testing.T) {
	for _, row := range []struct {
		name    string
		update  func(r *Recorder, p *Value) *Value
		inPlace bool
	}{
		{"elementwise", func(r *Recorder, p *Value) *Value { return r.MulScalar(p, 2) }, true},
		{"a chain", func(r *Recorder, p *Value) *Value { return r.Add(r.Record(Exp{}, p), p) }, true},
		{"read before", func(r *Recorder, p *Value) *Value {
			return r.Add(p, r.Record(Sum{From: 0, To: 1}, p))
		}, true},
		{"read afterwards", func(r *Recorder, p *Value) *Value {
			next := r.MulScalar(p, 2)
			r.Record(MatMul{}, p, r.Record(MatMul{}, next, p)).Hold()
			return next
		}, false},
		{"not elementwise", func(r *Recorder, p *Value) *Value { return r.Record(MatMul{}, p, p) }, false},
		{"transposed", func(r *Recorder, p *Value) *Value { return r.Add(p, r.swapLast(p)) }, false},
		{"a view is held", func(r *Recorder, p *Value) *Value { r.swapLast(p).Hold(); return r.MulScalar(p, 2) }, false},
		{"another holder", func(r *Recorder, p *Value) *Value { p.Hold(); return r.MulScalar(p, 2) }, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := &nullDevice{}
			r := NewRecorder(d)
			p := input(r, Float32, 3, 3)
			before, old := p.buf, p
			r.Assign(&p, row.update(r, p).Hold(), nil)
			r.Flush()
			if got := p.buf == before; got != row.inPlace {
				t.Errorf("in place: %v, want %v\n%v", got, row.inPlace, d.programs[0])
			}
			if row.inPlace && old.gone == "" {
				t.Error("the old value can still be read")
			}
		})
	}
}

func TestFailedRun(t *testing.T) {
	broken := errors.New("broken")
	for _, row := range []struct {
		name string
		at   int
		kept bool
	}{{"before the update", 0, true}, {"in the update", 1, false}} {
		t.Run(row.name, func(t *testing.T) {
			d := &nullDevice{}
			r := NewRecorder(d)
			p, old := (*Value)(nil), input(r, Float32, 3)
			p = old
			s := r.Record(Sum{From: 0, To: 1}, p)
			r.Assign(&p, r.Add(p, s).Hold(), nil)
			d.fail, d.at = broken, row.at
			func() {
				defer func() {
					got, _ := recover().(error)
					var failed *DeviceError
					if !errors.Is(got, broken) || !errors.As(got, &failed) || failed.Device != d.Name() {
						t.Errorf("panic %v", got)
					}
				}()
				r.Flush()
			}()
			if kept := p == old && p.buf != nil; kept != row.kept {
				t.Errorf("the old value can be read: %v, want %v", kept, row.kept)
			}
			if !row.kept && p.gone == "" {
				t.Error("a partially written value can be read")
			}
			r.Record(Neg{}, input(r, Float32, 1)).Hold()
			r.Flush()
		})
	}
}

func TestVerifyRefuses(t *testing.T) {
	op := func(slot int, shape ...int) Operand { return Operand{Slot: slot, Layout: RowMajor(shape)} }
	for _, row := range []struct {
		name string
		p    Program
		want string
	}{
		{"an input that is not written", Program{Slots: []Slot{{Kind: Output, Bytes: 16}, {Kind: Output, Bytes: 16}},
			Steps: []Step{{Op: Copy{}, In: []Operand{op(0, 4)}, Out: []Operand{op(1, 4)}}}}, "before it is written"},
		{"a read after the end", Program{Slots: []Slot{{Kind: External, Bytes: 12}, {Kind: Output, Bytes: 16}},
			Steps: []Step{{Op: Copy{}, In: []Operand{op(0, 4)}, Out: []Operand{op(1, 4)}}}}, "after the end of its slot"},
		{"a later result", Program{Slots: []Slot{{Kind: External, Bytes: 16}, {Kind: Output, Bytes: 16}},
			Steps: []Step{{Loop: []Instr{{Op: Neg{}, Args: []int{1}}}, In: []Operand{op(0, 4)}, Out: []Operand{op(1, 4)}}}}, "reads a later result"},
		{"an overwritten temporary", Program{Slots: []Slot{{Kind: External, Bytes: 16}, {Kind: Arena, Bytes: 16}, {Kind: Arena, Bytes: 16}, {Kind: Output, Bytes: 16}}, Arena: 16,
			Steps: []Step{
				{Op: Copy{}, In: []Operand{op(0, 4)}, Out: []Operand{op(1, 4)}},
				{Op: Copy{}, In: []Operand{op(0, 4)}, Out: []Operand{op(2, 4)}},
				{Op: Copy{}, In: []Operand{op(1, 4)}, Out: []Operand{op(3, 4)}},
			}}, "step 1 writes slot 2 over slot 1, which step 2 uses"},
		{"an input under an output", Program{Slots: []Slot{{Kind: External, Bytes: 16}, {Kind: Arena, Bytes: 16}, {Kind: Arena, Bytes: 16}}, Arena: 16,
			Steps: []Step{
				{Op: Copy{}, In: []Operand{op(0, 4)}, Out: []Operand{op(1, 4)}},
				{Op: Copy{}, In: []Operand{op(1, 4)}, Out: []Operand{op(2, 4)}},
			}}, "step 1 writes slot 2 over slot 1, which step 1 uses"},
		{"a small arena", Program{Slots: []Slot{{Kind: Arena, Bytes: 16, Offset: 64}}, Arena: 64}, "after the end of the arena"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if err := Verify(&row.p); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want %q", err, row.want)
			}
		})
	}
}

func TestRecordingAllocates(t *testing.T) {
	r := NewRecorder(&nullDevice{})
	x := input(r, Float32, 4)
	list := func() {
		v := x
		for range 10 {
			v = r.Add(v, x)
		}
		v.Hold()
		r.Flush()
	}
	list()
	// A value for each op; storage, its buffer and its clean-up for the result.
	if n := testing.AllocsPerRun(50, list); n > 10+8 {
		t.Errorf("a list of 10 ops that was planned before allocates %v objects", n)
	}
}

// TestPlansKeepNoValues runs lists of all kinds of steps and drops the results. The plans are
// kept, but the storage must be freed.
func TestPlansKeepNoValues(t *testing.T) {
	r := NewRecorder(&nullDevice{})
	x := input(r, Float32, 8, 8)
	before := r.Stats().LiveBytes
	for _, record := range []func() *Value{
		func() *Value { return r.Add(x, x) },
		func() *Value { return r.Record(MatMul{}, r.Mul(x, x), x) },
		func() *Value { return r.Record(Sum{From: 1, To: 2}, r.Record(Exp{}, x)) },
		func() *Value { return r.Add(r.Reshape(r.swapLast(x), []int{4, 16}), r.Reshape(x, []int{4, 16})) },
	} {
		record().Hold()
		r.Flush()
	}
	Collect()
	if s := r.Stats(); s.PlansMade != 4 || s.LiveBytes != before {
		t.Errorf("%d bytes live, after %d plans %d", before, s.PlansMade, s.LiveBytes)
	}
	runtime.KeepAlive(x)
}

func TestTrimBoundsTheList(t *testing.T) {
	for _, row := range []struct {
		name  string
		shape int
		keep  bool
		ops   int // after which the list is run
	}{{"by ops", 1, true, maxWithoutGradients}, {"by bytes", 1 << 20, true, unknownMemory / heldShare >> 22}, {"dropped", 1 << 20, false, maxWithoutGradients}} {
		d := &nullDevice{}
		r := NewRecorder(d)
		v := input(r, Float32, 1)
		toFloat32 := r.Record(Expand{Shape: []int{row.shape}}, v).Hold()
		r.Flush()
		d.runs = 0
		ops := 0
		for d.runs == 0 && ops <= 2*row.ops {
			r.Trim()
			if v := r.Record(Neg{}, toFloat32).Hold(); !row.keep {
				r.Release(v)
			}
			ops++
		}
		if ops != row.ops+1 {
			t.Errorf("%s: the list ran before op %d, want %d", row.name, ops, row.ops+1)
		}
	}
}
