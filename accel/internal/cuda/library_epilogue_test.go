package cuda

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/quernlab/quern/accel/internal/cuda/cublaslt"
	"github.com/quernlab/quern/accel/internal/cuda/fake"
	"github.com/quernlab/quern/accel/internal/cuda/fakelib"
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

// A plan of cuBLASLt computes GELU, its slope and the sums of a factor itself where the library can, with the results of
// our own kernels, except that it does not round before GELU.
func TestLibraryComputesMoreThanProducts(t *testing.T) {
	const rows, depth = 24, 32
	type build func(b *typed, d ir.DType)
	linear := func(columns int, bias, keeps bool, activation ir.Op) build {
		return func(b *typed, d ir.DType) {
			s := ir.Step{Op: ir.Linear{}, In: []ir.Operand{b.tensor(ir.External, d, 0.125, rows, depth), b.tensor(ir.External, d, 0.25, columns, depth)}, Epilogue: activation, Keeps: keeps}
			if bias {
				s.In = append(s.In, b.tensor(ir.External, d, 0.5, columns))
			}
			for range map[bool]int{false: 1, true: 2}[keeps] {
				s.Out = append(s.Out, b.tensor(ir.Output, d, 0, rows, columns))
			}
			b.step(s)
		}
	}
	product := func(columns int, s ir.Step, lead ...int) build {
		return func(b *typed, d ir.DType) {
			shape := func(m, n int) []int { return append(append([]int{}, lead...), m, n) }
			x, y := b.tensor(ir.External, d, 0.125, shape(depth, rows)...), b.tensor(ir.External, d, 0.25, shape(depth, columns)...)
			x.Layout.Shape, x.Layout.Stride = shape(rows, depth), append(append([]int{}, x.Stride[:len(lead)]...), 1, rows)
			s := s
			s.Op, s.In, s.Out = ir.MatMul{}, []ir.Operand{x, y}, []ir.Operand{b.tensor(ir.Output, d, 0, shape(rows, columns)...)}
			if _, ok := s.Epilogue.(ir.GELUTanhGradient); ok {
				s.In = append(s.In, b.tensor(ir.External, d, 0.5, shape(rows, columns)...))
			}
			if s.Summed > 0 {
				s.Out = append(s.Out, b.tensor(ir.Output, d, 0, map[int]int{1: rows, 2: columns}[s.Summed]))
			}
			b.step(s)
		}
	}
	for name, row := range map[string]struct {
		build    build
		launches int // by plans and kernels
		gelu     cublaslt.GELU
		summed   cublaslt.Factor
	}{
		"GELU":                             {linear(16, false, false, ir.GELUTanh{}), 1, cublaslt.ApplyGELU, 0},
		"GELU with a bias":                 {linear(16, true, false, ir.GELUTanh{}), 1, cublaslt.ApplyGELU, 0},
		"GELU and its argument":            {linear(16, true, true, ir.GELUTanh{}), 1, cublaslt.KeepArgument, 0},
		"GELU and its argument, unaligned": {linear(20, true, true, ir.GELUTanh{}), 2, 0, 0},
		"the other GELU":                   {linear(16, true, true, ir.GELU{}), 2, 0, 0},
		"GELU of a batch":                  {product(16, ir.Step{Epilogue: ir.GELUTanh{}}, 2, 3), 1, cublaslt.ApplyGELU, 0},
		"a slope":                          {product(16, ir.Step{Epilogue: ir.GELUTanhGradient{}}), 1, cublaslt.MultiplySlope, 0},
		"a slope of a batch":               {product(16, ir.Step{Epilogue: ir.GELUTanhGradient{}}, 2), 2, 0, 0},
		"sums of the first factor":         {product(16, ir.Step{Summed: 1}), 1, 0, cublaslt.FactorB},
		"sums of the second factor":        {product(20, ir.Step{Summed: 2}), 1, 0, cublaslt.FactorA},
	} {
		for _, of := range []ir.DType{ir.Float32, ir.BFloat16} {
			t.Run(name+" of "+of.String(), func(t *testing.T) {
				var want [][]byte
				for _, with := range []bool{false, true} {
					l := &fakelib.CuBLASLt{Refuses: map[string]bool{"cublasLtMatmulAlgoGetHeuristic": !with}}
					d := deviceWith(t, l, fake.Options{Seed: 5, Capability: 90}, false)
					b := &typed{}
					row.build(b, of)
					got := b.results(t, d)
					if want == nil {
						want = got
					}
					for i := range got {
						for j, w := range decoded(of, want[i]) {
							if g := decoded(of, got[i])[j]; math.Abs(g-w) > map[ir.DType]float64{ir.Float32: 1e-5, ir.BFloat16: 1. / 64}[of]*max(1, math.Abs(w)) {
								t.Errorf("element %d of output %d is %v, own kernels make %v", j, i, g, w)
							}
						}
					}
					if with {
						x, err := d.Compile(&b.program)
						if err != nil {
							t.Fatal(err)
						}
						launches, err := x.(*program).allLaunches()
						if err != nil {
							t.Fatal(err)
						}
						c := x.(*program).steps[0].(*selection)
						plan := c.candidates[c.selected].(*matmulCuBLASLt)
						if len(launches) != row.launches || plan.gemm.GELU != row.gelu || plan.gemm.Summed != row.summed {
							t.Errorf("%d launches, plan %+v", len(launches), plan.gemm.Matmul)
						}
					}
					if err := d.Close(); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
}

// decoded returns the elements of a result.
func decoded(d ir.DType, b []byte) (v []float64) {
	for ; len(b) > 0; b = b[d.Size():] {
		if d == ir.BFloat16 {
			v = append(v, float64(tensortype.BFloat16Value(binary.LittleEndian.Uint16(b))))
		} else {
			v = append(v, float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
		}
	}
	return v
}
