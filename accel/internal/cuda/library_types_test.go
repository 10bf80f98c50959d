package cuda

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"github.com/quernlab/quern/accel/internal/cuda/fake"
	"github.com/quernlab/quern/accel/internal/cuda/fakelib"
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

// typed builds programs slot by slot.
type typed struct {
	program ir.Program
	inputs  [][]byte // of the external slots, in their order
}

func (b *typed) slot(kind ir.SlotKind, bytes int) int {
	s := ir.Slot{Kind: kind, Bytes: bytes}
	if kind == ir.Arena {
		s.Offset = b.program.Arena
		b.program.Arena += roundUp(bytes)
	}
	b.program.Slots = append(b.program.Slots, s)
	return len(b.program.Slots) - 1
}

// tensor returns an operand whose elements are small multiples of a unit, or that a step
// writes.
func (b *typed) tensor(kind ir.SlotKind, t ir.DType, unit float64, shape ...int) ir.Operand {
	n := ir.Len(shape)
	o := ir.Operand{Slot: b.slot(kind, n*t.Size()), DType: t, Layout: ir.RowMajor(shape)}
	if kind != ir.External {
		return o
	}
	var data []byte
	for i := range n {
		v := unit * float64((i*5+o.Slot*3)%7-3)
		switch t {
		case ir.Float64:
			data = binary.LittleEndian.AppendUint64(data, math.Float64bits(v))
		case ir.BFloat16:
			data = binary.LittleEndian.AppendUint16(data, tensortype.BFloat16Bits(float32(v)))
		default:
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(v)))
		}
	}
	b.inputs = append(b.inputs, data)
	return o
}

func (b *typed) step(s ir.Step) { b.program.Steps = append(b.program.Steps, s) }

// packed returns a float32 matrix as 8-bit floats.
func (b *typed) packed(t ir.DType, unit float64, rows, columns int) ir.Operand {
	x := b.tensor(ir.External, ir.Float32, unit, rows, columns)
	pitch := (columns + 15) / 16 * 16
	o := ir.Operand{Slot: b.slot(ir.Arena, 64+rows*pitch), DType: t, Layout: ir.Layout{Shape: []int{rows, columns}, Stride: []int{pitch, 1}, Offset: 64}}
	b.step(ir.Step{Op: ir.Round8{To: t}, In: []ir.Operand{x}, Out: []ir.Operand{o}})
	return o
}

// results runs a program twice, launched and as a graph, and returns its outputs.
func (b *typed) results(t *testing.T, d *Device) [][]byte {
	t.Helper()
	x, err := d.Compile(&b.program)
	if err != nil {
		t.Fatal(err)
	}
	var bind []ir.Storage
	inputs := b.inputs
	for _, s := range b.program.Slots {
		if s.Kind == ir.Arena {
			bind = append(bind, nil)
			continue
		}
		m, err := d.Alloc(s.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		if s.Kind == ir.External {
			if err := d.Write(m, 0, inputs[0]); err != nil {
				t.Fatal(err)
			}
			inputs = inputs[1:]
		}
		bind = append(bind, m)
	}
	run(t, x, bind)
	run(t, x, bind)
	var out [][]byte
	for i, s := range b.program.Slots {
		if s.Kind != ir.Output {
			continue
		}
		got := make([]byte, s.Bytes)
		if err := d.Read(got, bind[i], 0); err != nil {
			t.Fatal(err)
		}
		out = append(out, got)
	}
	return out
}

// cuBLASLt multiplies 8-bit floats and float64 where it can, with the results of our own
// kernels: here each is exact.
func TestLibraryMultipliesOtherTypes(t *testing.T) {
	fp8 := func(a ir.DType, y ir.DType, n int, bias, relu bool) func(b *typed) {
		return func(b *typed) {
			s := ir.Step{Op: ir.MatMul{}, In: []ir.Operand{b.packed(a, 0.125, 24, 32), b.packed(ir.Float8E4M3, 1<<12, n, 32)}}
			if bias {
				s.Op = ir.Linear{}
				s.In = append(s.In, b.tensor(ir.External, y, 64, n))
			}
			if relu {
				s.Epilogue = ir.ReLU{}
			}
			s.Out = []ir.Operand{b.tensor(ir.Output, y, 0, 24, n)}
			b.step(s)
		}
	}
	double := func(bias, relu bool) func(b *typed) {
		return func(b *typed) {
			s := ir.Step{Op: ir.MatMul{}, In: []ir.Operand{b.tensor(ir.External, ir.Float64, 1./(1<<40), 2, 5, 6), b.tensor(ir.External, ir.Float64, 1, 2, 6, 7)}}
			s.Out = []ir.Operand{b.tensor(ir.Output, ir.Float64, 0, 2, 5, 7)}
			if bias {
				s = ir.Step{Op: ir.Linear{}, In: []ir.Operand{b.tensor(ir.External, ir.Float64, 1./(1<<40), 5, 6), b.tensor(ir.External, ir.Float64, 1, 7, 6), b.tensor(ir.External, ir.Float64, 2, 7)}}
				s.Out = []ir.Operand{b.tensor(ir.Output, ir.Float64, 0, 5, 7)}
			}
			if relu {
				s.Epilogue = ir.ReLU{}
			}
			b.step(s)
		}
	}
	for name, row := range map[string]struct {
		build func(b *typed)
		used  bool
	}{
		"8 bits":                           {fp8(ir.Float8E4M3, ir.Float32, 16, false, false), true},
		"8 bits of a gradient":             {fp8(ir.Float8E5M2, ir.Float32, 32, false, false), true},
		"8 bits, bias and ReLU":            {fp8(ir.Float8E4M3, ir.Float32, 16, true, true), true},
		"8 bits to 16":                     {fp8(ir.Float8E4M3, ir.BFloat16, 16, true, false), true},
		"8 bits to 16, bias and ReLU":      {fp8(ir.Float8E4M3, ir.BFloat16, 48, true, true), true},
		"8 bits that are not aligned":      {fp8(ir.Float8E4M3, ir.Float32, 20, false, false), false},
		"float64, a batch":                 {double(false, false), true},
		"float64, bias and ReLU behind it": {double(true, true), true},
	} {
		t.Run(name, func(t *testing.T) {
			var want [][]byte
			for _, with := range []bool{false, true} {
				l := &fakelib.CuBLASLt{Refuses: map[string]bool{"cublasLtMatmulAlgoGetHeuristic": !with}}
				d := deviceWith(t, l, fake.Options{Seed: 5, Capability: 89}, false)
				b := &typed{}
				row.build(b)
				got := b.results(t, d)
				if (l.Runs > 0) != (with && row.used) {
					t.Errorf("with the library %v: it was asked %d times", with, l.Runs)
				}
				if want == nil {
					want = got
				}
				nonzero := 0
				for i := range got {
					for j := range got[i] {
						if got[i][j] != 0 {
							nonzero++
						}
						if got[i][j] != want[i][j] {
							t.Fatalf("byte %d of output %d is %#x, own kernels make %#x", j, i, got[i][j], want[i][j])
						}
					}
				}
				if nonzero == 0 {
					t.Error("all results are zero")
				}
				if err := d.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// The bias and the ReLU after a convolution of 16-bit floats round to 16 bits too.
func TestLibraryConvolves16Bit(t *testing.T) {
	for _, of := range []ir.DType{ir.Float32, ir.BFloat16} {
		for _, bias := range []bool{false, true} {
			for _, relu := range []bool{false, true} {
				var want [][]byte
				for _, refuses := range []string{"cudnnBackendFinalize", ""} {
					l := &fakelib.CuDNN{Refuses: map[string]bool{refuses: true}}
					d := deviceConvolving(t, l, fake.Options{Seed: 4})
					b := &typed{}
					op := ir.Conv2D{Stride: [2]int{1, 1}, Padding: [2]int{1, 1}, Dilation: [2]int{1, 1}, Groups: 1}
					s := ir.Step{Op: op, In: []ir.Operand{b.tensor(ir.External, of, 1, 2, 3, 5, 4), b.tensor(ir.External, of, 0.25, 4, 3, 3, 3)}}
					if bias {
						s.In = append(s.In, b.tensor(ir.External, of, 0.5, 4))
					}
					if relu {
						s.Epilogue = ir.ReLU{}
					}
					s.Out = []ir.Operand{b.tensor(ir.Output, of, 0, 2, 4, 5, 4)}
					if of.Is16Bit() {
						for _, o := range []*ir.Operand{&s.In[0], &s.In[1], &s.Out[0]} {
							n, c, h, w := o.Shape[0], o.Shape[1], o.Shape[2], o.Shape[3]
							o.Layout = ir.Layout{Shape: []int{n, c, h, w}, Stride: []int{c * h * w, 1, c * w, c}}
						}
					}
					b.step(s)
					got := b.results(t, d)
					if (l.Runs > 0) != (refuses == "") {
						t.Errorf("%s: refuses %q: cuDNN was asked %d times", of, refuses, l.Runs)
					}
					if want == nil {
						want = got
					}
					if !bytes.Equal(got[0], want[0]) {
						t.Errorf("%s, bias %v, ReLU %v: %x, own kernels make %x", of, bias, relu, got[0], want[0])
					}
					if err := d.Close(); err != nil {
						t.Error(err)
					}
				}
			}
		}
	}
}
