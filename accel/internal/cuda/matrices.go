package cuda

import (
	"slices"

	"github.com/quernlab/quern/accel/internal/cuda/cublaslt"
	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/ir"
)

// mostCalls is into how many products a batch is cut that no single stride walks.
const mostCalls = 16

// product is what cuBLASLt computes of a step, which may take several products of one
// kind.
type product struct {
	cublaslt.Product
	outer []batchDim // of the products
	calls int
}

// batchDim is a dimension of a batch, with strides in elements.
type batchDim struct{ size, a, b, y int }

// batches are the dimensions of a batch, those joined that one stride walks in both
// factors and the result.
func batches(shape, a, b []int) []batchDim {
	y := 1
	var out []batchDim // from the innermost on
	for i := len(shape) - 1; i >= 0; i-- {
		next := batchDim{shape[i], a[i], b[i], y}
		y *= shape[i]
		if next.size == 1 {
			continue
		}
		if n := len(out); n > 0 {
			in := &out[n-1]
			if next.a == in.size*in.a && next.b == in.size*in.b {
				in.size *= next.size
				continue
			}
		}
		out = append(out, next)
	}
	return out
}

// side is a factor [rows, columns] as cuBLASLt sees it, column by column: as it is,
// which is transposed, or turned back. ok is false where neither dimension is
// contiguous.
func side(t ir.DType, rows, columns, rowStride, columnStride int) (m cublaslt.Matrix, turned, ok bool) {
	switch {
	case (columnStride == 1 || columns == 1) && (rowStride >= columns || rows == 1):
		lead := rowStride
		if rows == 1 {
			lead = columns
		}
		return cublaslt.Matrix{Type: t, Rows: columns, Cols: rows, Lead: lead}, false, true
	case (rowStride == 1 || rows == 1) && (columnStride >= rows || columns == 1):
		lead := columnStride
		if columns == 1 {
			lead = rows
		}
		return cublaslt.Matrix{Type: t, Rows: rows, Cols: columns, Lead: lead}, true, true
	}
	return m, false, false
}

// factors are those of a product y [batch…, M, N] = a [batch…, M, K]·b [batch…, K, N].
type factors struct {
	a, b, y    ir.Operand // the factors with the leading dimensions of y
	bias, relu bool
}

// product is what cuBLASLt is asked, where it can do it. Its result lies column by
// column, so that it computes the transposed product, b being its first factor.
func (d *Device) product(f factors, alignA, alignB, alignY int) (p product, ok bool) {
	r := len(f.y.Shape) - 2
	m, n, k := f.y.Shape[r], f.y.Shape[r+1], f.a.Shape[r+1]
	ta, ty := f.a.DType, f.y.DType
	if m == 0 || n == 0 || k == 0 || !f.y.Contiguous() {
		return p, false
	}
	dims := batches(f.y.Shape[:r], f.a.Stride[:r], f.b.Stride[:r])
	for i := range dims {
		dims[i].y *= m * n
	}
	rowStride := f.a.Stride[r]
	// A batch of products with one right-hand side is one product.
	if len(dims) > 0 && dims[0].b == 0 && dims[0].a != 0 && (m == 1 || dims[0].a == m*rowStride) {
		if m == 1 {
			rowStride = dims[0].a
		}
		m *= dims[0].size
		dims = dims[1:]
	}
	if max(m, n, k) >= 1<<31 {
		return p, false
	}
	p.Batch, p.TF32, p.Bias, p.ReLU = 1, ta == ir.Float32 && d.tf32, f.bias, f.relu
	p.Workspace = cublaslt.WorkspaceBytes(d.ctx.Info().Capability())
	if p.A, p.TurnA, ok = side(f.b.DType, k, n, f.b.Stride[r], f.b.Stride[r+1]); !ok {
		return p, false
	}
	if p.B, p.TurnB, ok = side(ta, m, k, rowStride, f.a.Stride[r+1]); !ok {
		return p, false
	}
	p.D = cublaslt.Matrix{Type: ty, Rows: n, Cols: m, Lead: n}
	if len(dims) > 0 {
		p.Batch, p.A.Stride, p.B.Stride, p.D.Stride = dims[0].size, dims[0].b, dims[0].a, dims[0].y
		dims = dims[1:]
	}
	p.outer = dims
	p.calls = 1
	for _, o := range dims {
		p.calls *= o.size
		alignA, alignB, alignY = common(alignA, o.a*ta.Size()), common(alignB, o.b*ta.Size()), common(alignY, o.y*ty.Size())
	}
	p.A.Align, p.B.Align, p.D.Align = alignB, alignA, alignY
	return p, p.calls <= mostCalls && p.Refusal() == ""
}

// common is the largest power of two, that align is, of which an offset is a
// multiple as well.
func common(align, offset int) int {
	if offset == 0 {
		return align
	}
	return min(align, offset&-offset)
}

// alignment is what the address of an operand is a multiple of.
func (p *program) alignment(o ir.Operand) int {
	align := addressAlign
	if s := p.slots[o.Slot]; s.Kind == ir.Arena {
		align = common(align, s.Offset)
	}
	return common(align, o.Offset*o.DType.Size())
}

// multiplication is a way to compute a product: a plan of cuBLASLt, and a loop behind
// it for what that does not do.
type multiplication struct {
	factors
	product product
	biasAt  ir.Operand
	after   *loop // nil for none
	plan    cublaslt.Plan
	op      string
}

// multiplications are the ways in which cuBLASLt computes a step; none where it does
// not.
func (p *program) multiplications(f factors, bias ir.Operand, op string) (kind any, ways []step) {
	d := p.device
	inside := f
	alignY := p.alignment(f.y)
	switch {
	case f.a.DType == ir.Float64: // of which it has sums alone
		inside.bias, inside.relu = false, false
	case f.a.DType.Eight():
		inside.bias, inside.relu = f.bias && f.y.DType.Half(), false
	}
	if inside.bias {
		if !bias.Contiguous() || bias.DType != f.y.DType {
			return nil, nil
		}
		alignY = min(alignY, p.alignment(bias))
	}
	asked, ok := d.product(inside, p.alignment(f.a), p.alignment(f.b), alignY)
	if !ok {
		return nil, nil
	}
	plans := d.blas.ways(d, asked.Product, op)
	if len(plans) == 0 {
		return nil, nil
	}
	var biases []ir.Operand
	if f.bias && !inside.bias {
		bias.Layout = ir.Layout{Shape: f.y.Shape, Stride: []int{0, bias.Stride[0]}, Offset: bias.Offset}
		biases = append(biases, bias)
	}
	after, err := p.addition(f.y, biases, f.relu && !inside.relu)
	if err != nil {
		unused(d, d.blas.name, err)
		return nil, nil
	}
	for _, plan := range plans {
		ways = append(ways, &multiplication{factors: inside, product: asked, biasAt: bias, after: after, plan: plan, op: op})
	}
	return multiplicationKind{asked.Product, asked.calls, f.bias, f.relu, d.blas.it.Version()}, ways
}

// multiplicationKind is what the time of a product depends on.
type multiplicationKind struct {
	cublaslt.Product
	calls      int
	bias, relu bool   // inside the product or behind it
	version    string // of cuBLASLt
}

func (w *multiplication) name() string { return w.plan.Name() }

func (w *multiplication) room() int { return w.plan.Workspace() }

func (w *multiplication) launches(p *program) ([]launch, error) {
	a, b, y := p.address(w.a), p.address(w.b), p.address(w.y)
	var bias driver.Pointer
	if w.bias {
		bias = p.address(w.biasAt)
	}
	for _, m := range []placed{{a, w.product.B.Align}, {b, w.product.A.Align}, {y, w.product.D.Align}, {bias, w.product.D.Align}} {
		if !m.fits() {
			return nil, &misplacedError{w.op, m.at}
		}
	}
	at := cublaslt.Places{Bias: bias, Work: p.work()}
	if w.a.DType.Eight() {
		at.ScaleA, at.ScaleB = p.scale(w.b), p.scale(w.a)
	}
	index := make([]int, len(w.product.outer))
	var out []launch
	for {
		atA, atB, atY := a, b, y
		for i, o := range w.product.outer {
			atA += driver.Pointer(index[i] * o.a * w.a.DType.Size())
			atB += driver.Pointer(index[i] * o.b * w.b.DType.Size())
			atY += driver.Pointer(index[i] * o.y * w.y.DType.Size())
		}
		at.D, at.A, at.B = atY, atB, atA
		places := at
		out = append(out, launch{call: &call{name: w.plan.Name(), op: w.op, plan: w.plan,
			at:  []driver.Pointer{at.D, at.A, at.B, at.Bias, at.Work, at.ScaleA, at.ScaleB},
			run: func(s driver.Stream) error { return w.plan.Run(s, places) }}})
		if !advance(index, w.product.outer) {
			break
		}
	}
	if w.after == nil {
		return out, nil
	}
	after, err := w.after.launches(p)
	return append(out, after...), err
}

// advance counts up; false after the last.
func advance(index []int, dims []batchDim) bool {
	for i := range index {
		if index[i]++; index[i] < dims[i].size {
			return true
		}
		index[i] = 0
	}
	return false
}

// broadcast is an operand with leading dimensions.
func broadcast(o ir.Operand, lead []int) ir.Operand {
	r := len(o.Shape) - 2
	o.Layout = o.BroadcastTo(append(slices.Clone(lead), o.Shape[r:]...))
	return o
}
