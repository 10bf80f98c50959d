//go:build linux && cgo

package cublaslt

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/cuda/library"
	"github.com/quernlab/quern/accel/internal/cuda/library/librarytest"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
	"github.com/quernlab/quern/internal/testenv"
)

// matmuls are some that the back end runs.
var matmuls = map[string]Matmul{
	"float32":    {A: Matrix{tensortype.Float32, 12, 8, 12, 0, 16}, B: Matrix{tensortype.Float32, 8, 5, 8, 0, 32}, D: Matrix{tensortype.Float32, 12, 5, 12, 0, 256}, Batch: 1, Workspace: 4 << 20},
	"transposed": {A: Matrix{tensortype.Float32, 8, 12, 9, 0, 4}, B: Matrix{tensortype.Float32, 5, 8, 6, 0, 4}, D: Matrix{tensortype.Float32, 12, 5, 12, 0, 4}, TransA: true, TransB: true, Batch: 1, Workspace: 1 << 20, TF32: true},
	"bias":       {A: Matrix{tensortype.Float32, 12, 8, 12, 0, 256}, B: Matrix{tensortype.Float32, 8, 5, 8, 0, 256}, D: Matrix{tensortype.Float32, 12, 5, 12, 0, 256}, Batch: 1, Bias: true, ReLU: true, Workspace: 32 << 20},
	"batch":      {A: Matrix{tensortype.Float32, 3, 4, 3, 12, 16}, B: Matrix{tensortype.Float32, 4, 2, 4, 0, 16}, D: Matrix{tensortype.Float32, 3, 2, 3, 6, 8}, Batch: 7, Workspace: 1 << 20},
	"bfloat16":   {A: Matrix{tensortype.BFloat16, 64, 32, 64, 0, 16}, B: Matrix{tensortype.BFloat16, 32, 16, 32, 0, 16}, D: Matrix{tensortype.BFloat16, 64, 16, 64, 0, 16}, Batch: 1, Bias: true, Workspace: 1 << 20},
	"float64":    {A: Matrix{tensortype.Float64, 12, 8, 12, 96, 16}, B: Matrix{tensortype.Float64, 8, 5, 8, 0, 8}, D: Matrix{tensortype.Float64, 12, 5, 12, 60, 256}, Batch: 2, Workspace: 1 << 20},
	"fp8":        {A: Matrix{tensortype.Float8E4M3, 64, 32, 64, 0, 64}, B: Matrix{tensortype.Float8E5M2, 64, 16, 80, 0, 16}, D: Matrix{tensortype.BFloat16, 32, 16, 32, 0, 16}, TransA: true, Batch: 1, Bias: true, Workspace: 1 << 20},
	"float16":    {A: Matrix{tensortype.Float16, 64, 32, 64, 2048, 16}, B: Matrix{tensortype.Float16, 32, 16, 32, 512, 16}, D: Matrix{tensortype.Float32, 64, 16, 64, 1024, 16}, Batch: 3, Workspace: 1 << 20},
	"GELU":       {A: Matrix{tensortype.Float32, 12, 8, 12, 12 * 8, 16}, B: Matrix{tensortype.Float32, 8, 5, 8, 0, 16}, D: Matrix{tensortype.Float32, 12, 5, 12, 12 * 5, 16}, Batch: 2, GELU: ApplyGELU, Workspace: 1 << 20},
	"argument":   {A: Matrix{tensortype.Float32, 16, 8, 16, 0, 16}, B: Matrix{tensortype.Float32, 8, 5, 8, 0, 16}, D: Matrix{tensortype.Float32, 16, 5, 16, 0, 16}, Batch: 1, Bias: true, GELU: KeepArgument, Workspace: 1 << 20},
	"slope":      {A: Matrix{tensortype.Float32, 16, 8, 16, 0, 16}, B: Matrix{tensortype.Float32, 8, 5, 8, 0, 16}, D: Matrix{tensortype.Float32, 16, 5, 16, 0, 16}, Batch: 1, GELU: MultiplySlope, Workspace: 1 << 20},
	"sums of A":  {A: Matrix{tensortype.Float32, 8, 12, 9, 0, 4}, B: Matrix{tensortype.Float32, 8, 5, 8, 0, 4}, D: Matrix{tensortype.Float32, 12, 5, 12, 0, 4}, TransA: true, Batch: 1, Summed: FactorA, Workspace: 1 << 20},
	"sums of B":  {A: Matrix{tensortype.Float32, 12, 8, 12, 0, 4}, B: Matrix{tensortype.Float32, 5, 8, 6, 0, 4}, D: Matrix{tensortype.Float32, 12, 5, 12, 0, 4}, TransB: true, Batch: 1, Summed: FactorB, Workspace: 1 << 20},
	"16 bits":    {A: Matrix{tensortype.BFloat16, 64, 32, 64, 0, 16}, B: Matrix{tensortype.BFloat16, 32, 16, 32, 0, 16}, D: Matrix{tensortype.BFloat16, 64, 16, 64, 0, 16}, Batch: 1, Bias: true, GELU: KeepArgument, Workspace: 1 << 20},
}

// The real library must store each attribute: the test reads them back.
func TestDescriptorsOfTheRealLibrary(t *testing.T) {
	l, err := bind(librarytest.Installed(t, library.CuBLASLt))
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range matmuls {
		d, err := l.describe(p)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := l.understood(d)
		l.forget(d)
		if err != nil || got != p {
			t.Errorf("%s: %v\ngot  %+v\nwant %+v", name, err, got, p)
		}
	}
	// Without a GPU, creating the handle fails with an error.
	if _, err := Open(librarytest.Installed(t, library.CuBLASLt)); err != nil {
		var e *library.CallError
		if !errors.As(err, &e) || e.Status != "CUBLAS_STATUS_NOT_INITIALIZED" || e.Call != "cublasLtCreate" {
			t.Errorf("no GPU: %v", err)
		}
	}
}

// The numbers in shim.c must be those of the real header.
func TestConstantsOfTheRealHeader(t *testing.T) {
	include, _ := librarytest.Include(t, librarytest.Installed(t, library.CuBLASLt), "cublasLt.h")
	runtime := filepath.Join(include, "..", "..", "cuda_runtime", "include") // for older pip packages
	if _, err := os.Stat(filepath.Join(include, "library_types.h")); err != nil {
		if _, err := os.Stat(filepath.Join(runtime, "library_types.h")); err != nil {
			testenv.Optional(t, "the header is not beside the library: %v", err)
		}
	}
	enum, named := librarytest.Enum(t)
	pairs := map[string]string{
		"compute_32f": "CUBLAS_COMPUTE_32F", "compute_32f_fast_tf32": "CUBLAS_COMPUTE_32F_FAST_TF32", "type_32f": "CUDA_R_32F", "compute_64f": "CUBLAS_COMPUTE_64F", "type_64f": "CUDA_R_64F", "desc_scale_a": "CUBLASLT_MATMUL_DESC_A_SCALE_POINTER", "desc_scale_b": "CUBLASLT_MATMUL_DESC_B_SCALE_POINTER",
		"desc_compute": "CUBLASLT_MATMUL_DESC_COMPUTE_TYPE", "desc_trans_a": "CUBLASLT_MATMUL_DESC_TRANSA", "desc_trans_b": "CUBLASLT_MATMUL_DESC_TRANSB",
		"desc_epilogue": "CUBLASLT_MATMUL_DESC_EPILOGUE", "desc_bias_pointer": "CUBLASLT_MATMUL_DESC_BIAS_POINTER", "desc_bias_type": "CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE",
		"operation_none": "CUBLAS_OP_N", "operation_trans": "CUBLAS_OP_T", "epilogue_default": "CUBLASLT_EPILOGUE_DEFAULT", "epilogue_relu": "CUBLASLT_EPILOGUE_RELU",
		"epilogue_gelu": "CUBLASLT_EPILOGUE_GELU", "epilogue_gelu_aux": "CUBLASLT_EPILOGUE_GELU_AUX", "epilogue_dgelu": "CUBLASLT_EPILOGUE_DGELU", "epilogue_bgrad_a": "CUBLASLT_EPILOGUE_BGRADA", "epilogue_bgrad_b": "CUBLASLT_EPILOGUE_BGRADB",
		"(epilogue_gelu | epilogue_bias)": "CUBLASLT_EPILOGUE_GELU_BIAS", "(epilogue_gelu_aux | epilogue_bias)": "CUBLASLT_EPILOGUE_GELU_AUX_BIAS",
		"desc_aux_pointer": "CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER", "desc_aux_lead": "CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD",
		"epilogue_bias": "CUBLASLT_EPILOGUE_BIAS", "(epilogue_relu | epilogue_bias)": "CUBLASLT_EPILOGUE_RELU_BIAS",
		"layout_type": "CUBLASLT_MATRIX_LAYOUT_TYPE", "layout_rows": "CUBLASLT_MATRIX_LAYOUT_ROWS", "layout_cols": "CUBLASLT_MATRIX_LAYOUT_COLS", "layout_lead": "CUBLASLT_MATRIX_LAYOUT_LD",
		"layout_batch": "CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT", "layout_stride": "CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET",
		"preference_workspace": "CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES", "preference_reductions": "CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK",
		"preference_align_a": "CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES", "preference_align_b": "CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES",
		"preference_align_c": "CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES", "preference_align_d": "CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES",
		"reduction_in_place": "CUBLASLT_REDUCTION_SCHEME_INPLACE", "reduction_compute_type": "CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE",
		"0": "CUBLASLT_ORDER_COL", "15": "CUBLAS_STATUS_NOT_SUPPORTED",
		"sizeof(algorithm)": "sizeof(cublasLtMatmulAlgo_t)", "sizeof(heuristic)": "sizeof(cublasLtMatmulHeuristicResult_t)",
		"offsetof(heuristic, workspace)": "offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize)", "offsetof(heuristic, state)": "offsetof(cublasLtMatmulHeuristicResult_t, state)",
	}
	own := len(pairs)
	for t, name := range map[tensortype.DType]string{tensortype.Float32: "32F", tensortype.Float64: "64F", tensortype.Float16: "16F", tensortype.BFloat16: "16BF", tensortype.Float8E4M3: "8F_E4M3", tensortype.Float8E5M2: "8F_E5M2"} {
		pairs[fmt.Sprintf("%d+0", int(dataTypes[t]))] = "CUDA_R_" + name
	}
	if named != own-9 {
		t.Errorf("the shim has %d numbers, %d are compared", named, own-9)
	}
	librarytest.CheckEqual(t, "#include <cublasLt.h>\n#include \"shim.h\"\n"+enum, pairs, "-I", "testdata", "-I", include, "-I", runtime, "-I", ".")
}

// Every call must have the right arguments: the fake rejects wrong ones, and computes the
// result.
func TestCallsArrive(t *testing.T) {
	found := librarytest.Fake(t, library.CuBLASLt, "testdata/libcublasLt.c")
	l, err := Open(found)
	if err != nil {
		t.Fatal(err)
	}
	if l.Version() != "13.4.1" {
		t.Errorf("version %s", l.Version())
	}
	for name, p := range matmuls {
		plans, err := l.Plans(p, 4)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		// The second is not supported, the third needs too much memory.
		if len(plans) != 2 || plans[0].Name() != "cuBLASLt 0" || plans[1].Name() != "cuBLASLt 3" || plans[1].Workspace() != 768 {
			t.Fatalf("%s: plans %v", name, plans)
		}
		if p.D.Type == tensortype.Float32 && p.A.Type == tensortype.Float32 {
			for _, plan := range plans {
				tryPlan(t, name, p, plan)
			}
		}
		closeAll(plans)
		closeAll(plans) // twice is fine
	}
	none := matmuls["float32"]
	none.A.Rows, none.A.Lead = 13, 13
	if plans, err := l.Plans(none, 1); err != nil || len(plans) != 0 {
		t.Errorf("an unsupported matmul: %v, %v", plans, err)
	}
	none.A.Rows, none.A.Lead = 17, 17
	var e *library.CallError
	if _, err := l.Plans(none, 1); !errors.As(err, &e) || e.Code != 7 || err.Error() != "cuBLASLt: cublasLtMatmulAlgoGetHeuristic: CUBLAS_STATUS_INVALID_VALUE" {
		t.Errorf("a rejected matmul: %v", err)
	}
	none.A.Lead = 16
	if _, err := l.Plans(none, 1); !errors.As(err, &e) || e.Call != "cublasLtMatrixLayoutCreate" {
		t.Errorf("a layout that is refused: %v", err)
	}
	// It fails if a descriptor was not released.
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	t.Setenv("FAKE_CUBLASLT_CREATE", "1")
	if _, err := Open(found); !errors.As(err, &e) || e.Code != 1 {
		t.Errorf("a library that does not start: %v", err)
	}
}

// tryPlan compares the result of a plan with that of a plain loop.
func tryPlan(t *testing.T, name string, p Matmul, plan Plan) {
	t.Helper()
	fill := func(n, seed int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32((i*7+seed)%11 - 5)
		}
		return v
	}
	size := func(m Matrix) int { return m.Stride*(p.Batch-1) + m.Lead*m.Cols }
	a, b, d, bias := fill(size(p.A), 1), fill(size(p.B), 2), fill(size(p.D), 3), fill(p.D.Rows, 4)
	work, argument, sums := make([]float32, plan.Workspace()/4+1), fill(size(p.D), 5), make([]float32, max(p.D.Rows, p.D.Cols))
	at := Addresses{D: librarytest.Pointer(d), A: librarytest.Pointer(a), B: librarytest.Pointer(b), Work: librarytest.Pointer(work)}
	if p.Bias {
		at.Bias = librarytest.Pointer(bias)
	}
	if p.GELU.HasArgument() {
		at.Argument = librarytest.Pointer(argument)
	}
	if p.Summed != NoFactor {
		at.Sums = librarytest.Pointer(sums)
	}
	if err := plan.Run(0x57, at); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	element := func(v []float32, m Matrix, turned bool, row, col, n int) float32 {
		if turned {
			row, col = col, row
		}
		return v[n*m.Stride+col*m.Lead+row]
	}
	inner := p.A.Cols
	if p.TransA {
		inner = p.A.Rows
	}
	for n := range p.Batch {
		for col := range p.D.Cols {
			for row := range p.D.Rows {
				var want float32
				if p.Bias {
					want = bias[row]
				}
				for k := range inner {
					want += element(a, p.A, p.TransA, row, k, n) * element(b, p.B, p.TransB, k, col, n)
				}
				switch x := element(argument, p.D, false, row, col, n); {
				case p.ReLU:
					want = max(want, 0)
				case p.GELU == MultiplySlope:
					want *= (gelu(x+1e-3) - gelu(x-1e-3)) / 2e-3
				case p.GELU == KeepArgument && x != want:
					t.Fatalf("%s, %s: the argument of GELU in row %d, column %d is %v, want %v", name, plan.Name(), row, col, x, want)
				case p.GELU != NoGELU:
					want = gelu(want)
				}
				if got := element(d, p.D, false, row, col, n); got != want && (p.GELU == NoGELU || math.Abs(float64(got-want)) > 1e-3*math.Max(1, math.Abs(float64(want)))) {
					t.Fatalf("%s, %s: matrix %d, row %d, column %d: got %v, want %v", name, plan.Name(), n, row, col, got, want)
				}
			}
		}
	}
	for i, got := range sums {
		var want float32
		for k := range inner {
			switch {
			case p.Summed == FactorA && i < p.D.Rows:
				want += element(a, p.A, p.TransA, i, k, 0)
			case p.Summed == FactorB && i < p.D.Cols:
				want += element(b, p.B, p.TransB, k, i, 0)
			}
		}
		if got != want {
			t.Fatalf("%s, %s: sum %d is %v, want %v", name, plan.Name(), i, got, want)
		}
	}
	if err := plan.Run(0x58, at); err == nil {
		t.Errorf("%s: a stream that is not", name)
	}
}

// gelu is GELU in the form with tanh.
func gelu(x float32) float32 {
	v := float64(x)
	return float32(v / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(v+0.044715*v*v*v))))
}

// The scales of 8-bit floats, and float64 accumulation, must be passed correctly too.
func TestCallsOfOtherTypesArrive(t *testing.T) {
	found := librarytest.Fake(t, library.CuBLASLt, "testdata/libcublasLt.c")
	l, err := Open(found)
	if err != nil {
		t.Fatal(err)
	}
	const rows, cols, depth = 16, 2, 16
	a, b, d := make([]byte, rows*depth), make([]byte, cols*depth), make([]float32, rows*cols)
	float64A, float64B, float64D := make([]float64, rows*depth), make([]float64, cols*depth), make([]float64, rows*cols)
	for i := range a {
		a[i] = tensortype.Float8Bits(tensortype.Float8E4M3, float32(i%7)-3)
		float64A[i] = float64(i%7) - 3
	}
	for i := range b {
		b[i] = tensortype.Float8Bits(tensortype.Float8E5M2, float32(i%5)-2)
		float64B[i] = float64(i%5) - 2
	}
	scales := []float32{0.25, 8}
	matmul := func(a, b, d tensortype.DType) Matmul {
		return Matmul{A: Matrix{a, depth, rows, depth, 0, 16}, B: Matrix{b, depth, cols, depth, 0, 16}, D: Matrix{d, rows, cols, rows, 0, 16}, TransA: true, Batch: 1, Workspace: 1 << 20}
	}
	for _, row := range []struct {
		matmul Matmul
		at     Addresses
	}{
		{matmul(tensortype.Float8E4M3, tensortype.Float8E5M2, tensortype.Float32), Addresses{D: librarytest.Pointer(d), A: librarytest.Pointer(a), B: librarytest.Pointer(b), ScaleA: librarytest.Pointer(scales), ScaleB: librarytest.Pointer(scales[1:])}},
		{matmul(tensortype.Float64, tensortype.Float64, tensortype.Float64), Addresses{D: librarytest.Pointer(float64D), A: librarytest.Pointer(float64A), B: librarytest.Pointer(float64B)}},
	} {
		plans, err := l.Plans(row.matmul, 1)
		if err != nil || len(plans) != 1 {
			t.Fatalf("%s: %v, %v", row.matmul.A.Type, plans, err)
		}
		if err := plans[0].Run(0x57, row.at); err != nil {
			t.Error(err)
		}
		closeAll(plans)
	}
	for col := range cols {
		for row := range rows {
			want := 0.
			for k := range depth {
				want += float64A[row*depth+k] * float64B[col*depth+k]
			}
			if fp8, float64Result := float64(d[col*rows+row]), float64D[col*rows+row]; fp8 != 2*want || float64Result != want {
				t.Fatalf("row %d, column %d: %v and %v, want %v and %v", row, col, fp8, float64Result, 2*want, want)
			}
		}
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// Operations that the documentation does not allow are rejected without calling the library.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(p *Matmul){
		"":                     func(*Matmul) {},
		"two operands":         func(p *Matmul) { p.A.Type = tensortype.Float8E5M2 },
		"a bias of float32":    func(p *Matmul) { p.D.Type = tensortype.Float32 },
		"not contiguous":       func(p *Matmul) { p.TransA, p.A.Rows, p.A.Cols = false, 32, 64 },
		"not aligned":          func(p *Matmul) { p.B.Lead = 72 },
		"operands of":          func(p *Matmul) { p.B.Type = tensortype.BFloat16 },
		"a result of float64":  func(p *Matmul) { p.D.Type = tensortype.Float64 },
		"bias or ReLU":         func(p *Matmul) { *p = matmuls["float64"]; p.ReLU = true },
		"from float64":         func(p *Matmul) { *p = matmuls["float64"]; p.D.Type = tensortype.Float32 },
		"TF32 of bfloat16":     func(p *Matmul) { *p = matmuls["bfloat16"]; p.TF32 = true },
		"a result of bfloat16": func(p *Matmul) { *p = matmuls["float16"]; p.D.Type = tensortype.BFloat16 },
		"operands of int32":    func(p *Matmul) { *p = matmuls["float32"]; p.A.Type, p.B.Type = tensortype.Int32, tensortype.Int32 },
		"of 8-bit floats":      func(p *Matmul) { p.Batch = 2 },
		"sums of 8-bit floats": func(p *Matmul) { p.Summed = FactorA },
		"of another type":      func(p *Matmul) { *p = matmuls["float16"]; p.GELU = ApplyGELU },
		"sums of float64":      func(p *Matmul) { *p = matmuls["float64"]; p.Summed = FactorB },
		"than one epilogue":    func(p *Matmul) { *p = matmuls["16 bits"]; p.ReLU = true },
		"more than one":        func(p *Matmul) { *p = matmuls["sums of A"]; p.Bias = true },
		"one epilogue":         func(p *Matmul) { *p = matmuls["slope"]; p.Bias = true },
		"sums of a batch":      func(p *Matmul) { *p = matmuls["sums of A"]; p.Batch = 2 },
		"GELU that is not":     func(p *Matmul) { *p = matmuls["slope"]; p.D.Lead = 20 },
	} {
		p := matmuls["fp8"]
		change(&p)
		if got := p.Unsupported(); (got == "") != (name == "") || !strings.Contains(got, name) {
			t.Errorf("%+v: %q, want %q", p, got, name)
		}
	}
}
