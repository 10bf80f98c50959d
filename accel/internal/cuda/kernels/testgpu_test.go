package kernels

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/quernlab/quern/accel/internal/cpu"
	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/ptx"
	"github.com/quernlab/quern/accel/internal/cuda/ptxsim"
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

// machine is a simulated GPU that stops at accesses out of bounds, at reads of
// uninitialized memory, at races within and between blocks, and at divergent barriers. Kernels wait first
// for those before, see ptx.Waiting, and it stops at accesses before.
type testGPU struct {
	t      testing.TB
	memory *ptxsim.Memory
	loaded map[string]*ptxsim.Loaded
	faults []Pointer
	steps  int64 // instructions that simulated warps executed

	gpu *gpuMemory // used instead of the simulator; nil without deviceVariable
}

func newTestGPU(t testing.TB) *testGPU {
	c, err := device()
	if err != nil {
		t.Fatal(err)
	}
	if c != nil {
		return &testGPU{t: t, gpu: newGPUMemory(t, c)}
	}
	return &testGPU{t: t, memory: ptxsim.NewMemory(1 << 30), loaded: map[string]*ptxsim.Loaded{}}
}

// parsed caches modules for all tests.
var parsed sync.Map

func module(t testing.TB, name string) *ptxsim.Module {
	if m, ok := parsed.Load(name); ok {
		return m.(*ptxsim.Module)
	}
	text, err := PTX(name)
	if err == nil {
		text, err = ptx.Waiting(text)
	}
	if err != nil {
		t.Fatal(err)
	}
	m, err := ptxsim.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	parsed.Store(name, m)
	return m
}

// alloc allocates uninitialized memory.
func (m *testGPU) alloc(bytes int) Pointer {
	if m.gpu != nil {
		return m.gpu.alloc(max(bytes, 1))
	}
	p, err := m.memory.Alloc(max(bytes, 1))
	if err != nil {
		m.t.Fatal(err)
	}
	return Pointer(p)
}

func (m *testGPU) write(b []byte) Pointer {
	p := m.alloc(len(b))
	m.overwrite(p, b)
	return p
}

// overwrite writes to allocated memory.
func (m *testGPU) overwrite(p Pointer, b []byte) {
	if m.gpu != nil {
		m.gpu.write(p, b)
	} else if err := m.memory.Write(uint64(p), b); err != nil {
		m.t.Fatal(err)
	}
}

func (m *testGPU) put(a array) Pointer { return m.write(a.bytes()) }

// fault allocates a fault that nothing was reported to.
func (m *testGPU) fault() Pointer {
	p := m.noFault()
	m.faults = append(m.faults, p)
	return p
}

// noFault allocates a fault, and what some ops write behind it.
func (m *testGPU) noFault() Pointer {
	return m.write(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, NoFault), NoFault))
}

func (m *testGPU) read(p Pointer, bytes int) []byte {
	b := make([]byte, bytes)
	if m.gpu != nil {
		m.gpu.read(p, b)
		return b
	}
	if whole, err := m.memory.Written(uint64(p), bytes); err != nil || !whole {
		m.t.Fatalf("not all of %d bytes were written: %v", bytes, err)
	}
	if err := m.memory.Read(b, uint64(p)); err != nil {
		m.t.Fatal(err)
	}
	return b
}

func (m *testGPU) get(p Pointer, d ir.DType, shape []int) array {
	a := newArray(d, shape...)
	a.set(m.read(p, len(a.data)*d.Size()))
	return a
}

// compute runs the kernels of an op on row-major tensors and returns its result, of a type and a shape.
func (m *testGPU) compute(op ir.Op, to ir.DType, shape []int, in ...array) array {
	m.t.Helper()
	y, launches := m.plan(op, to, shape, m.fault(), in...)
	m.run(launches)
	return m.get(y, to, shape)
}

// plan returns the kernels that compute calls, and the address of the result.
func (m *testGPU) plan(op ir.Op, to ir.DType, shape []int, fault Pointer, in ...array) (y Pointer, launches []Launch) {
	m.t.Helper()
	y = m.alloc(ir.Len(shape) * to.Size())
	s := ir.Step{Op: op, Out: []ir.Operand{{DType: to, Layout: ir.RowMajor(shape)}}}
	a, p := Addresses{Out: []Pointer{y}, Fault: fault}, needs{}
	for _, x := range in {
		s.In, a.In = append(s.In, ir.Operand{DType: x.dtype, Layout: ir.RowMajor(x.shape)}), append(a.In, m.put(x))
	}
	launch := Plan(&p, s)
	a.Work = m.alloc(p.workspace)
	launches, err := launch(a)
	if err != nil {
		m.t.Fatal(err)
	}
	return y, launches
}

// needs is a Planner.
type needs struct{ workspace int }

func (p *needs) NeedWorkspace(bytes int) { p.workspace = max(p.workspace, bytes) }
func (p *needs) Check(Explain)           {}
func (p *needs) TF32() bool              { return false }
func (p *needs) Wgmma() bool             { return false }

// run launches kernels and checks that no fault was reported.
func (m *testGPU) run(launches []Launch) {
	m.t.Helper()
	if err := m.try(launches); err != nil {
		m.t.Fatal(err)
	}
	for _, p := range m.faults {
		if element, what, ok := Fault(binary.LittleEndian.Uint64(m.read(p, 8))); ok {
			m.t.Fatalf("a fault was reported: element %d is %d", element, what)
		}
	}
}

func (m *testGPU) try(launches []Launch) error {
	for _, l := range launches {
		if m.gpu != nil {
			if err := m.gpu.launch(l); err != nil {
				return err
			}
			continue
		}
		loaded := m.loaded[l.Module]
		if loaded == nil {
			var err error
			if loaded, err = m.memory.Load(module(m.t, l.Module)); err != nil {
				m.t.Fatal(err)
			}
			m.loaded[l.Module] = loaded
		}
		for _, x := range l.Maps {
			t := x.Tensor
			encoded, err := (&ptxsim.TensorMap{Element: mapElement[t.Type], Address: uint64(t.Address), Shape: t.Shape, Strides: t.Strides, Box: t.Box, Swizzle: 128}).Encode()
			if err != nil {
				return fmt.Errorf("%s: %w", l.Entry, err)
			}
			copy(l.Params[x.Offset:], encoded[:])
		}
		k := loaded.Kernel(l.Entry)
		if k == nil {
			m.t.Fatalf("there is no %s", l.Entry)
		}
		stats, err := k.Run(m.t.Context(), ptxsim.Launch{Grid: ptxsim.Dim(l.Grid), Block: ptxsim.Dim(l.Block), Shared: l.Shared, Params: l.Params, Races: true, Coarse: true, Early: true})
		if err != nil {
			return fmt.Errorf("%s of %v blocks: %w", l.Entry, l.Grid, err)
		}
		m.steps += stats.Steps
	}
	return nil
}

// array is a row-major tensor. Its elements are exact values of the type.
type array struct {
	dtype ir.DType
	shape []int
	data  []float64
}

func newArray(d ir.DType, shape ...int) array {
	return array{d, shape, make([]float64, ir.Len(shape))}
}

// random returns standard normal values of a type.
func random(r *rand.Rand, d ir.DType, shape ...int) array {
	a := newArray(d, shape...)
	for i := range a.data {
		a.data[i] = number64(d, r.NormFloat64())
	}
	return a
}

// below returns random int32 values in [0, n).
func below(r *rand.Rand, n int, shape ...int) array {
	a := newArray(ir.Int32, shape...)
	for i := range a.data {
		a.data[i] = float64(r.IntN(n))
	}
	return a
}

// number64 rounds to the nearest value of a type.
func number64(d ir.DType, v float64) float64 {
	switch d {
	case ir.Float32:
		return float64(float32(v))
	case ir.Float16:
		return float64(tensortype.Float16Value(tensortype.Float16Bits(float32(v))))
	case ir.BFloat16:
		return float64(tensortype.BFloat16Value(tensortype.BFloat16Bits(float32(v))))
	}
	return v
}

func (a array) as(d ir.DType) array {
	return array{d, a.shape, a.data}
}

func (a array) bytes() []byte {
	var b []byte
	for _, v := range a.data {
		switch a.dtype {
		case ir.Float32:
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
		case ir.Float64:
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		case ir.Int32:
			b = binary.LittleEndian.AppendUint32(b, uint32(int32(v)))
		case ir.Int64:
			b = binary.LittleEndian.AppendUint64(b, uint64(int64(v)))
		case ir.Float16:
			b = binary.LittleEndian.AppendUint16(b, tensortype.Float16Bits(float32(v)))
		case ir.BFloat16:
			b = binary.LittleEndian.AppendUint16(b, tensortype.BFloat16Bits(float32(v)))
		default:
			b = append(b, uint8(v))
		}
	}
	return b
}

func (a array) set(b []byte) {
	for i := range a.data {
		switch e := b[i*a.dtype.Size():]; a.dtype {
		case ir.Float32:
			a.data[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(e)))
		case ir.Float64:
			a.data[i] = math.Float64frombits(binary.LittleEndian.Uint64(e))
		case ir.Int32:
			a.data[i] = float64(int32(binary.LittleEndian.Uint32(e)))
		case ir.Int64:
			a.data[i] = float64(int64(binary.LittleEndian.Uint64(e)))
		case ir.Float16:
			a.data[i] = float64(tensortype.Float16Value(binary.LittleEndian.Uint16(e)))
		case ir.BFloat16:
			a.data[i] = float64(tensortype.BFloat16Value(binary.LittleEndian.Uint16(e)))
		default:
			a.data[i] = float64(e[0])
		}
	}
}

// reference runs one step on the CPU, or the composition of an op that has no kernel there. Floats are computed in float64,
// which is also the reference of the CPU's own tests.
func reference(t testing.TB, op, epilogue ir.Op, in []array, layouts []ir.Layout, out array) array {
	t.Helper()
	device := cpu.New(1)
	defer device.Close()
	p := &ir.Program{}
	var bind []ir.Storage
	step := ir.Step{Op: op, Epilogue: epilogue}
	slot := func(kind ir.SlotKind, d ir.DType, l ir.Layout, b []byte) ir.Operand {
		s, err := device.Alloc(len(b))
		if err != nil {
			t.Fatal(err)
		}
		if err := device.Write(s, 0, b); err != nil {
			t.Fatal(err)
		}
		p.Slots = append(p.Slots, ir.Slot{Kind: kind, Bytes: len(b)})
		bind = append(bind, s)
		return ir.Operand{Slot: len(p.Slots) - 1, DType: d, Layout: l}
	}
	in = slices.Clone(in)
	for i, a := range in {
		if a.dtype == ir.Float32 && out.dtype == ir.Float64 {
			in[i] = a.as(ir.Float64)
		}
	}
	if len(in) > 0 && !device.HasKernel(op, in[0].dtype) {
		r := ir.NewRecorder(device)
		r.NoGrad(1)
		var values []*ir.Value
		for _, a := range in {
			values = append(values, r.Upload(ir.Type{Shape: a.shape, DType: a.dtype}, a.bytes()))
		}
		got := newArray(out.dtype, out.shape...)
		got.set(r.Download(op.Name(), r.Record(op, values...).Hold()))
		return got
	}
	for i, a := range in {
		l := ir.RowMajor(a.shape)
		if i < len(layouts) && layouts[i].Shape != nil {
			l = layouts[i]
		}
		step.In = append(step.In, slot(ir.External, a.dtype, l, a.bytes()))
	}
	step.Out = []ir.Operand{slot(ir.Output, out.dtype, ir.RowMajor(out.shape), out.bytes())}
	p.Steps = []ir.Step{step}
	x, err := device.Compile(p)
	if err != nil {
		t.Fatal(err)
	}
	var words []uint64
	if d, ok := op.(ir.Dynamic); ok {
		words = d.AppendWords(nil)
	}
	if _, err := x.Run(bind, words); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, len(out.data)*out.dtype.Size())
	if err := device.Read(b, bind[len(bind)-1], 0); err != nil {
		t.Fatal(err)
	}
	got := newArray(out.dtype, out.shape...)
	got.set(b)
	return got
}

// compareArrays checks that elements differ by at most tolerance, relative for values above
// 1.
func compareArrays(t testing.TB, got, want array, tolerance float64) {
	t.Helper()
	wrong := 0
	for i, w := range want.data {
		g := got.data[i]
		same := g == w || math.IsNaN(g) && math.IsNaN(w)
		if !same && !(math.Abs(g-w) <= tolerance*math.Max(1, math.Abs(w))) {
			if wrong++; wrong <= 5 {
				t.Errorf("element %d of %v is %v, want %v", i, want.shape, g, w)
			}
		}
	}
	if wrong > 5 {
		t.Errorf("… and %d of %d more", wrong-5, len(want.data))
	}
}

// eachReal runs a test for float32 and float64; tolerance returns its argument for float32.
func eachReal(t *testing.T, f func(t *testing.T, d ir.DType, tolerance func(float64) float64)) {
	for _, d := range []ir.DType{ir.Float32, ir.Float64} {
		if underRace && d == ir.Float64 {
			continue
		}
		t.Run(d.String(), func(t *testing.T) {
			f(t, d, func(single float64) float64 {
				if d == ir.Float64 {
					return 1e-12
				}
				return single
			})
		})
	}
}

// some returns all cases, or a few of them under the race detector.
func some[T any](cases []T) []T {
	if underRace {
		return cases[:min(3, len(cases))]
	}
	return cases
}

func generator(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 7)) }

var mapElement = map[driver.TensorType]int{driver.TensorUint8: 1, driver.TensorFloat16: 2, driver.TensorBFloat16: 2}
