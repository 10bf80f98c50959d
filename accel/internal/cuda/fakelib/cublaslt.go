package fakelib

import (
	"fmt"
	"math"
	"time"

	"github.com/quernlab/quern/accel/internal/cuda/cublaslt"
	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/fake"
	"github.com/quernlab/quern/accel/internal/cuda/library"
	"github.com/quernlab/quern/accel/internal/cuda/ptxsim"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

// CuBLASLt is a fake of cuBLASLt. The fields may be changed until it is used.
type CuBLASLt struct {
	Context fake.FuncLauncher
	// Refuses names functions whose calls fail, cublasLtMatmul for instance.
	Refuses map[string]bool
	// DropsNaN lists plans whose ReLU of NaN is 0, as a maximum instruction returns; nil for none.
	DropsNaN func(number int) bool
	// Takes is how long a plan's kernel takes; nil for no time.
	Takes func(p cublaslt.Matmul, number int) time.Duration

	// Runs counts the multiplications.
	Runs  int
	plans int // not closed
}

var _ cublaslt.Library = (*CuBLASLt)(nil)

// OpenCuBLASLt opens the fake for a context of package fake.
func OpenCuBLASLt(ctx driver.Context) (cublaslt.Library, error) {
	return &CuBLASLt{Context: ctx.(fake.FuncLauncher)}, nil
}

// Version returns a version that the back end supports.
func (l *CuBLASLt) Version() string { return "13.0.0" }

// Close fails while plans are open.
func (l *CuBLASLt) Close() error {
	if l.plans != 0 {
		return l.refused("cublasLtDestroy", "%d plans are left", l.plans)
	}
	return nil
}

func (l *CuBLASLt) refused(call, format string, args ...any) error {
	return &library.CallError{Library: library.CuBLASLt, Call: call, Code: 7, Status: "CUBLAS_STATUS_INVALID_VALUE", Words: fmt.Sprintf(format, args...)}
}

// check returns what cuBLASLt's documentation does not allow.
func (l *CuBLASLt) check(p cublaslt.Matmul) error {
	m, n := p.D.Rows, p.D.Cols
	am, ak := p.A.Rows, p.A.Cols
	if p.TransA {
		am, ak = ak, am
	}
	bk, bn := p.B.Rows, p.B.Cols
	if p.TransB {
		bk, bn = bn, bk
	}
	switch {
	case am != m || bn != n || ak != bk:
		return l.refused("cublasLtMatmulAlgoGetHeuristic", "%d×%d by %d×%d gives %d×%d", am, ak, bk, bn, m, n)
	case p.Unsupported() != "":
		return l.refused("cublasLtMatmulAlgoGetHeuristic", "%s", p.Unsupported())
	case p.Batch < 1:
		return l.refused("cublasLtMatrixLayoutSetAttribute", "a batch of %d", p.Batch)
	}
	for _, x := range []cublaslt.Matrix{p.A, p.B, p.D} {
		if x.Rows < 1 || x.Cols < 1 || x.Lead < x.Rows || x.Stride < 0 || max(x.Rows, x.Cols) >= 1<<31 {
			return l.refused("cublasLtMatrixLayoutCreate", "%+v", x)
		}
		if x.Align < x.Type.Size() || x.Align&(x.Align-1) != 0 || x.Align > 256 {
			return l.refused("cublasLtMatmulPreferenceSetAttribute", "an alignment of %d", x.Align)
		}
		if step := x.Stride * x.Type.Size(); p.Batch > 1 && step%x.Type.Size() != 0 {
			return l.refused("cublasLtMatrixLayoutSetAttribute", "a stride of %d bytes", step)
		}
	}
	if p.Batch > 1 && p.D.Stride < p.D.Lead*(p.D.Cols-1)+p.D.Rows {
		return l.refused("cublasLtMatrixLayoutSetAttribute", "results that overlap: %+v", p.D)
	}
	return nil
}

// maxPlans is how many plans there are for an operation.
const maxPlans = 3

// Plans returns some plans; the second needs a workspace.
func (l *CuBLASLt) Plans(p cublaslt.Matmul, n int) ([]cublaslt.Plan, error) {
	if l.Refuses["cublasLtMatmulAlgoGetHeuristic"] {
		return nil, l.refused("cublasLtMatmulAlgoGetHeuristic", "as the test wants")
	}
	if err := l.check(p); err != nil {
		return nil, err
	}
	var plans []cublaslt.Plan
	for i := range min(n, maxPlans) {
		workspace := i % 2 * (8 << 10)
		if workspace > p.Workspace {
			continue
		}
		l.plans++
		plans = append(plans, &matmulPlan{library: l, matmul: p, number: i, workspace: workspace})
	}
	return plans, nil
}

type matmulPlan struct {
	library   *CuBLASLt
	matmul    cublaslt.Matmul
	number    int
	workspace int
	closed    bool
}

func (p *matmulPlan) Name() string { return fmt.Sprintf("cuBLASLt %d", p.number) }

func (p *matmulPlan) Workspace() int { return p.workspace }

func (p *matmulPlan) Close() {
	if !p.closed {
		p.closed = true
		p.library.plans--
	}
}

func (p *matmulPlan) Run(s driver.Stream, at cublaslt.Addresses) error {
	l, fp8 := p.library, p.matmul.A.Type.IsFP8()
	switch {
	case p.closed:
		return l.refused("cublasLtMatmul", "the plan is closed")
	case l.Refuses["cublasLtMatmul"]:
		return l.refused("cublasLtMatmul", "as the test wants")
	case (at.Bias != 0) != p.matmul.Bias:
		return l.refused("cublasLtMatmul", "a bias at %#x", at.Bias)
	case (at.Argument != 0) != p.matmul.GELU.HasArgument() || (at.Sums != 0) != (p.matmul.Summed != cublaslt.NoFactor):
		return l.refused("cublasLtMatmul", "an argument of GELU at %#x, sums at %#x", at.Argument, at.Sums)
	case (at.ScaleA != 0) != fp8 || (at.ScaleB != 0) != fp8:
		return l.refused("cublasLtMatmul", "scales at %#x and %#x", at.ScaleA, at.ScaleB)
	case p.workspace > 0 && at.Work%256 != 0:
		return l.refused("cublasLtMatmul", "a workspace at %#x", at.Work)
	}
	for _, one := range []struct {
		p     driver.Pointer
		align int
	}{{at.A, p.matmul.A.Align}, {at.B, p.matmul.B.Align}, {at.D, p.matmul.D.Align}, {at.Bias, p.matmul.D.Align}, {at.Argument, p.matmul.D.Align}, {at.Sums, p.matmul.D.Align}, {at.ScaleA, 4}, {at.ScaleB, 4}} {
		if one.p%driver.Pointer(one.align) != 0 {
			return l.refused("cublasLtMatmul", "the address %#x is not a multiple of %d", one.p, one.align)
		}
	}
	l.Runs++
	var takes time.Duration
	if l.Takes != nil {
		takes = l.Takes(p.matmul, p.number)
	}
	return l.Context.LaunchFunc(s, p.Name(), takes, func(m *ptxsim.Memory) error {
		if p.workspace > 0 { // the real library leaves arbitrary data there
			if err := m.Write(uint64(at.Work), make([]byte, p.workspace)); err != nil {
				return err
			}
		}
		return multiply(m, p.matmul, l.DropsNaN != nil && l.DropsNaN(p.number), at)
	})
}

// multiply computes a matrix multiplication.
func multiply(m *ptxsim.Memory, p cublaslt.Matmul, dropsNaN bool, at cublaslt.Addresses) error {
	scale := 1.0
	for _, one := range []driver.Pointer{at.ScaleA, at.ScaleB} {
		if one != 0 {
			read, err := numbers(m, one, tensortype.Float32, 1)
			if err != nil {
				return err
			}
			scale *= read[0]
		}
	}
	added := make([]float64, p.D.Rows)
	if p.Bias {
		read, err := numbers(m, at.Bias, p.D.Type, p.D.Rows)
		if err != nil {
			return err
		}
		added = read
	}
	k := p.A.Cols
	if p.TransA {
		k = p.A.Rows
	}
	for i := range p.Batch {
		x, err := matrixAt(m, p.A, at.A, i, p.TF32)
		if err != nil {
			return err
		}
		y, err := matrixAt(m, p.B, at.B, i, p.TF32)
		if err != nil {
			return err
		}
		if p.Summed != cublaslt.NoFactor {
			if err := m.Write(uint64(at.Sums), encode(p.D.Type, sumsOf(p, x, y, k))); err != nil {
				return err
			}
		}
		for col := range p.D.Cols {
			column := make([]float64, p.D.Rows)
			for row := range column {
				sum := 0.0
				for j := range k {
					sum += x.at(row, j, p.TransA) * y.at(j, col, p.TransB)
				}
				sum = sum*scale + added[row]
				if p.ReLU && (sum < 0 || dropsNaN && math.IsNaN(sum)) {
					sum = 0
				}
				column[row] = sum
			}
			offset := driver.Pointer((i*p.D.Stride + col*p.D.Lead) * p.D.Type.Size())
			if err := applyGELU(m, p, column, at.Argument+offset); err != nil {
				return err
			}
			to := at.D + offset
			if err := m.Write(uint64(to), encode(p.D.Type, column)); err != nil {
				return err
			}
		}
	}
	return nil
}

// sumsOf returns the sums of a factor along the depth k.
func sumsOf(p cublaslt.Matmul, a, b matrix, k int) []float64 {
	n := p.D.Rows
	if p.Summed == cublaslt.FactorB {
		n = p.D.Cols
	}
	sums := make([]float64, n)
	for i := range sums {
		for j := range k {
			if p.Summed == cublaslt.FactorA {
				sums[i] += a.at(i, j, p.TransA)
			} else {
				sums[i] += b.at(j, i, p.TransB)
			}
		}
	}
	return sums
}

// applyGELU computes what a multiplication does with GELU in a column of sums, whose arguments are at an address.
func applyGELU(m *ptxsim.Memory, p cublaslt.Matmul, column []float64, argument driver.Pointer) error {
	switch p.GELU {
	case cublaslt.KeepArgument:
		if err := m.Write(uint64(argument), encode(p.D.Type, column)); err != nil {
			return err
		}
	case cublaslt.MultiplySlope:
		x, err := numbers(m, argument, p.D.Type, len(column))
		if err != nil {
			return err
		}
		for i, v := range x {
			t := geluTanh(v)
			column[i] *= (1+t)/2 + v/2*(1-t*t)*math.Sqrt(2/math.Pi)*(1+3*0.044715*v*v)
		}
		return nil
	case cublaslt.NoGELU:
		return nil
	}
	for i, v := range column {
		column[i] = v / 2 * (1 + geluTanh(v))
	}
	return nil
}

// geluTanh is the tanh in GELU.
func geluTanh(x float64) float64 { return math.Tanh(math.Sqrt(2/math.Pi) * (x + 0.044715*x*x*x)) }

// matrix holds the elements of a matrix, column-major.
type matrix struct {
	rows  int
	value []float64
}

func (x matrix) at(row, col int, turned bool) float64 {
	if turned {
		row, col = col, row
	}
	return x.value[col*x.rows+row]
}

func matrixAt(m *ptxsim.Memory, l cublaslt.Matrix, base driver.Pointer, number int, tf32 bool) (x matrix, err error) {
	x.rows = l.Rows
	for col := range l.Cols {
		at := base + driver.Pointer((number*l.Stride+col*l.Lead)*l.Type.Size())
		column, err := numbers(m, at, l.Type, l.Rows)
		if err != nil {
			return x, err
		}
		if tf32 {
			for i, v := range column {
				column[i] = roundTF32(v)
			}
		}
		x.value = append(x.value, column...)
	}
	return x, nil
}
