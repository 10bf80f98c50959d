package played

import (
	"fmt"
	"math"
	"time"

	"github.com/quernlab/quern/accel/internal/cuda/cublaslt"
	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/fake"
	"github.com/quernlab/quern/accel/internal/cuda/library"
	"github.com/quernlab/quern/accel/internal/ptxsim"
)

// CuBLASLt plays cuBLASLt. The fields may be changed until it is used.
type CuBLASLt struct {
	Context fake.Performer
	// Refuses makes the calls of a function fail, cublasLtMatmul for instance.
	Refuses map[string]bool
	// DropsNaN has ReLU give 0 for NaN, as a maximum does.
	DropsNaN bool
	// Takes is how long a plan's kernel takes; nil for no time.
	Takes func(p cublaslt.Product, number int) time.Duration

	// Runs counts the products that were asked for.
	Runs  int
	plans int // not closed
}

var _ cublaslt.Library = (*CuBLASLt)(nil)

// OpenCuBLASLt plays the library on a context of package fake.
func OpenCuBLASLt(ctx driver.Context) (cublaslt.Library, error) {
	return &CuBLASLt{Context: ctx.(fake.Performer)}, nil
}

// Version is one that is used.
func (l *CuBLASLt) Version() string { return "13.0.0" }

// Close is refused while there are plans.
func (l *CuBLASLt) Close() error {
	if l.plans != 0 {
		return l.refused("cublasLtDestroy", "%d plans are left", l.plans)
	}
	return nil
}

func (l *CuBLASLt) refused(call, format string, args ...any) error {
	return &library.CallError{Library: library.CuBLASLt, Call: call, Code: 7, Status: "CUBLAS_STATUS_INVALID_VALUE", Words: fmt.Sprintf(format, args...)}
}

// check finds what cuBLASLt's documentation does not allow.
func (l *CuBLASLt) check(p cublaslt.Product) error {
	m, n := p.D.Rows, p.D.Cols
	am, ak := p.A.Rows, p.A.Cols
	if p.TurnA {
		am, ak = ak, am
	}
	bk, bn := p.B.Rows, p.B.Cols
	if p.TurnB {
		bk, bn = bn, bk
	}
	switch {
	case am != m || bn != n || ak != bk:
		return l.refused("cublasLtMatmulAlgoGetHeuristic", "%d×%d by %d×%d gives %d×%d", am, ak, bk, bn, m, n)
	case p.A.Type != p.B.Type || p.D.Type != p.A.Type && p.D.Type != cublaslt.Float32:
		return l.refused("cublasLtMatmulAlgoGetHeuristic", "%s by %s gives %s", p.A.Type, p.B.Type, p.D.Type)
	case p.TF32 && p.A.Type != cublaslt.Float32:
		return l.refused("cublasLtMatmulDescCreate", "TF32 of %s", p.A.Type)
	case p.Batch < 1:
		return l.refused("cublasLtMatrixLayoutSetAttribute", "a batch of %d", p.Batch)
	}
	for _, x := range []cublaslt.Matrix{p.A, p.B, p.D} {
		if x.Rows < 1 || x.Cols < 1 || x.Lead < x.Rows || x.Stride < 0 || max(x.Rows, x.Cols) >= 1<<31 {
			return l.refused("cublasLtMatrixLayoutCreate", "%+v", x)
		}
		if x.Align < x.Type.Bytes() || x.Align&(x.Align-1) != 0 || x.Align > 256 {
			return l.refused("cublasLtMatmulPreferenceSetAttribute", "an alignment of %d", x.Align)
		}
		if step := x.Stride * x.Type.Bytes(); p.Batch > 1 && step%x.Type.Bytes() != 0 {
			return l.refused("cublasLtMatrixLayoutSetAttribute", "a stride of %d bytes", step)
		}
	}
	if p.Batch > 1 && p.D.Stride < p.D.Lead*(p.D.Cols-1)+p.D.Rows {
		return l.refused("cublasLtMatrixLayoutSetAttribute", "results that overlap: %+v", p.D)
	}
	return nil
}

// playedPlans is how many ways there are to do a product.
const playedPlans = 3

// Plans gives some, of which the second wants memory.
func (l *CuBLASLt) Plans(p cublaslt.Product, n int) ([]cublaslt.Plan, error) {
	if l.Refuses["cublasLtMatmulAlgoGetHeuristic"] {
		return nil, l.refused("cublasLtMatmulAlgoGetHeuristic", "as the test wants")
	}
	if err := l.check(p); err != nil {
		return nil, err
	}
	var plans []cublaslt.Plan
	for i := range min(n, playedPlans) {
		room := i % 2 * (8 << 10)
		if room > p.Workspace {
			continue
		}
		l.plans++
		plans = append(plans, &productPlan{library: l, product: p, number: i, room: room})
	}
	return plans, nil
}

type productPlan struct {
	library *CuBLASLt
	product cublaslt.Product
	number  int
	room    int
	closed  bool
}

func (p *productPlan) Name() string { return fmt.Sprintf("cuBLASLt %d", p.number) }

func (p *productPlan) Workspace() int { return p.room }

func (p *productPlan) Close() {
	if !p.closed {
		p.closed = true
		p.library.plans--
	}
}

func (p *productPlan) Run(s driver.Stream, d, a, b, bias, work driver.Pointer) error {
	l := p.library
	switch {
	case p.closed:
		return l.refused("cublasLtMatmul", "the plan is closed")
	case l.Refuses["cublasLtMatmul"]:
		return l.refused("cublasLtMatmul", "as the test wants")
	case (bias != 0) != p.product.Bias:
		return l.refused("cublasLtMatmul", "a bias at %#x", bias)
	case p.room > 0 && work%256 != 0:
		return l.refused("cublasLtMatmul", "a workspace at %#x", work)
	}
	for _, at := range []struct {
		p     driver.Pointer
		align int
	}{{a, p.product.A.Align}, {b, p.product.B.Align}, {d, p.product.D.Align}, {bias, p.product.D.Type.Bytes()}} {
		if at.p%driver.Pointer(at.align) != 0 {
			return l.refused("cublasLtMatmul", "the address %#x is no multiple of %d", at.p, at.align)
		}
	}
	l.Runs++
	var takes time.Duration
	if l.Takes != nil {
		takes = l.Takes(p.product, p.number)
	}
	return l.Context.Perform(s, p.Name(), takes, func(m *ptxsim.Memory) error {
		if p.room > 0 { // the true one leaves anything there
			if err := m.Write(uint64(work), make([]byte, p.room)); err != nil {
				return err
			}
		}
		return multiply(m, p.product, l.DropsNaN, d, a, b, bias)
	})
}

// multiply computes a product.
func multiply(m *ptxsim.Memory, p cublaslt.Product, dropsNaN bool, d, a, b, bias driver.Pointer) error {
	added := make([]float64, p.D.Rows)
	if p.Bias {
		read, err := numbers(m, bias, elementType(p.D.Type), p.D.Rows)
		if err != nil {
			return err
		}
		added = read
	}
	k := p.A.Cols
	if p.TurnA {
		k = p.A.Rows
	}
	for i := range p.Batch {
		x, err := matrixAt(m, p.A, a, i, p.TF32)
		if err != nil {
			return err
		}
		y, err := matrixAt(m, p.B, b, i, p.TF32)
		if err != nil {
			return err
		}
		for col := range p.D.Cols {
			column := make([]float64, p.D.Rows)
			for row := range column {
				sum := 0.0
				for j := range k {
					sum += x.at(row, j, p.TurnA) * y.at(j, col, p.TurnB)
				}
				sum += added[row]
				if p.ReLU && (sum < 0 || dropsNaN && math.IsNaN(sum)) {
					sum = 0
				}
				column[row] = sum
			}
			at := d + driver.Pointer((i*p.D.Stride+col*p.D.Lead)*p.D.Type.Bytes())
			if err := m.Write(uint64(at), elementType(p.D.Type).encode(column)); err != nil {
				return err
			}
		}
	}
	return nil
}

// matrix holds the elements of one, column by column.
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
		at := base + driver.Pointer((number*l.Stride+col*l.Lead)*l.Type.Bytes())
		column, err := numbers(m, at, elementType(l.Type), l.Rows)
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

// elementType is what a type is called here.
func elementType(t cublaslt.Type) element {
	switch t {
	case cublaslt.Float16:
		return half
	case cublaslt.BFloat16:
		return brain
	}
	return single
}
