package cuda

import (
	"slices"

	"github.com/quernlab/quern/accel/internal/cuda/cublaslt"
	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/kernels"
	"github.com/quernlab/quern/accel/internal/engine/ir"
)

func init() {
	registerLibrary[ir.MatMul](matMulCandidates)
	registerLibrary[ir.Linear](linearCandidates)
}

// maxCalls is the maximum number of calls for a batch that no single stride describes.
const maxCalls = 16

// gemm describes a step to cuBLASLt, which may need several calls with the same sizes.
type gemm struct {
	cublaslt.Matmul
	outer []batchDim // dimensions over which the calls run
	calls int
}

// batchDim is a dimension of a batch, with strides in elements.
type batchDim struct{ size, a, b, y int }

// mergeBatch returns the dimensions of a batch, innermost first. Dimensions that one
// stride describes in both factors and the result are merged.
func mergeBatch(shape, a, b []int) []batchDim {
	y := 1
	var out []batchDim // innermost first
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

// columnMajor describes a row-major factor [rows, columns] to cuBLASLt, which is column
// major: as its transpose, or transposed back. ok is false if neither dimension is
// contiguous.
func columnMajor(t ir.DType, rows, columns, rowStride, columnStride int) (m cublaslt.Matrix, transposed, ok bool) {
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

// matmulTensors are those of y [batch…, M, N] = a [batch…, M, K] · b [batch…, K, N].
type matmulTensors struct {
	a, b, y ir.Operand   // the factors with the leading dimensions of y
	bias    []ir.Operand // one or none
	end     ending
	sums    []ir.Operand // the factor that is summed, and the sums; nil for none
	factor  int          // which one that is, 1 for a

	argument, summed []ir.Operand // of GELU, and the sums, if a plan reads or writes them; one or none
}

// gemm describes a matrix multiplication to cuBLASLt; ok is false if it cannot compute
// it. The library is column major, so it computes yᵀ = bᵀ·aᵀ: b is its first factor.
func (d *Device) gemm(f matmulTensors, alignA, alignB, alignY int) (p gemm, ok bool) {
	r := len(f.y.Shape) - 2
	m, n, k := f.y.Shape[r], f.y.Shape[r+1], f.a.Shape[r+1]
	ta, ty := f.a.DType, f.y.DType
	if m == 0 || n == 0 || k == 0 || !f.y.Contiguous() {
		return p, false
	}
	dims := mergeBatch(f.y.Shape[:r], f.a.Stride[:r], f.b.Stride[:r])
	for i := range dims {
		dims[i].y *= m * n
	}
	rowStride := f.a.Stride[r]
	// A batch with one right-hand side is a single multiplication with more rows.
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
	p.Batch, p.TF32, p.Bias, p.ReLU = 1, ta == ir.Float32 && d.tf32, len(f.bias) > 0, f.end.op == ir.ReLU{}
	p.Workspace = cublaslt.WorkspaceBytes(d.ctx.Info().Capability())
	if p.A, p.TransA, ok = columnMajor(f.b.DType, k, n, f.b.Stride[r], f.b.Stride[r+1]); !ok {
		return p, false
	}
	if p.B, p.TransB, ok = columnMajor(ta, m, k, rowStride, f.a.Stride[r+1]); !ok {
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
		alignA, alignB, alignY = commonAlignment(alignA, o.a*ta.Size()), commonAlignment(alignB, o.b*ta.Size()), commonAlignment(alignY, o.y*ty.Size())
	}
	p.A.Align, p.B.Align, p.D.Align = alignB, alignA, alignY
	return p, p.calls <= maxCalls && p.Unsupported() == ""
}

// matmulCuBLASLt is a step by a plan of cuBLASLt.
type matmulCuBLASLt struct {
	libraryStep
	matmulTensors
	gemm gemm
	plan cublaslt.Plan
}

func matMulCandidates(p *program, s ir.Step, label string) (key any, algorithms []candidate) {
	if s.In[0].DType.IsFP8() {
		return linearCandidates(p, s, label)
	}
	lead := s.Out[0].Shape[:len(s.Out[0].Shape)-2]
	f := matmulTensors{a: broadcast(s.In[0], lead), b: broadcast(s.In[1], lead), sums: sumsOf(s), factor: s.Summed}
	f.y, f.end = productOf(s)
	return p.matmulCandidates(f, label)
}

// productOf returns where a step stores its product, and what it computes of it.
func productOf(s ir.Step) (y ir.Operand, end ending) {
	y, end = s.Out[0], endOf(s)
	if s.Keeps {
		y, end.to = s.Out[1], s.Out[:1]
	}
	return y, end
}

// sumsOf returns the factor of a step that is summed, with its depth first, and the sums; nil for none.
func sumsOf(s ir.Step) []ir.Operand {
	switch s.Summed {
	case 1:
		return []ir.Operand{kernels.Transpose(s.In[0]), s.Out[len(s.Out)-1]}
	case 2:
		return []ir.Operand{s.In[1], s.Out[len(s.Out)-1]}
	}
	return nil
}

// linearCandidates returns the plans for a [M, K] · bᵀ [K, N], with a bias if there are
// three inputs.
//
// The library multiplies both scales of 8-bit floats as float32; our own kernels apply
// them one after the other. So the library's sums may be 0 for factors that are all below
// 1e-19, and infinite for factors with elements above 1e19.
func linearCandidates(p *program, s ir.Step, label string) (key any, algorithms []candidate) {
	f := matmulTensors{a: s.In[0], b: kernels.Transpose(s.In[1]), bias: s.In[2:]}
	f.y, f.end = productOf(s)
	return p.matmulCandidates(f, label)
}

// matmulCandidates returns cuBLASLt's plans for a step, none if it cannot compute it.
func (p *program) matmulCandidates(f matmulTensors, op string) (key any, algorithms []candidate) {
	d, inside, bias := p.device, f, f.bias
	if t := f.a.DType; t == ir.Float64 || t.IsFP8() { // the library has no ReLU for them, and only for 16-bit results of FP8 a bias
		inside.end = ending{}
		if t == ir.Float64 || !f.y.DType.Is16Bit() {
			inside.bias = nil
		}
	}
	alignY := p.alignment(f.y)
	for _, b := range inside.bias {
		if !b.Contiguous() || b.DType != f.y.DType {
			return nil, nil
		}
		alignY, bias = min(alignY, p.alignment(b)), nil
	}
	asked, ok := d.gemm(inside, p.alignment(f.a), p.alignment(f.b), alignY)
	if !ok {
		return nil, nil
	}
	// A plan computes what is asked for, and kernels the rest after it.
	add := func(asked gemm, with matmulTensors, end ending, sums []ir.Operand) {
		plans, after := plansFor(p, &d.libraries.blas, asked.Matmul, op, f.y, bias, end)
		if len(sums) > 0 && len(plans) > 0 {
			sum, err := p.newOpStep(ir.Step{Op: ir.Sum{From: 0, To: 1}, In: sums[:1], Out: sums[1:]})
			if err != nil {
				d.libraries.logRejected(d.libraries.blas.name, err)
				return
			}
			after = append(after, sum)
		}
		for _, plan := range plans {
			algorithms = append(algorithms, &matmulCuBLASLt{libraryStep{plan, after, op}, with, asked, plan})
		}
	}
	plain := asked
	plain.ReLU = false
	switch {
	case asked.ReLU: // if that of the plans drops NaN, they are rejected
		add(asked, inside, ending{}, f.sums)
	case len(bias) == 0: // the end is of the plan's result
		if fused, with, ok := p.withGELU(plain, inside); ok {
			add(fused, with, ending{}, f.sums)
		}
	}
	if fused, with, ok := p.withSums(plain, inside); ok {
		add(fused, with, f.end, nil)
	}
	add(plain, inside, f.end, f.sums)
	return matmulKey{plain.Matmul, plain.calls, len(f.bias) > 0, len(f.sums) > 0, f.end.name(), d.libraries.blas.version()}, algorithms
}

// withGELU lets a plan compute the end of a step, of sums that are not rounded yet; the library has the form with tanh.
func (p *program) withGELU(asked gemm, f matmulTensors) (gemm, matmulTensors, bool) {
	switch f.end.op.(type) {
	case ir.GELUTanh:
		asked.GELU = cublaslt.ApplyGELU
		if len(f.end.to) > 0 {
			asked.GELU, f.argument, f.y = cublaslt.KeepArgument, []ir.Operand{f.y}, f.end.to[0]
		}
	case ir.GELUTanhGradient:
		asked.GELU, f.argument = cublaslt.MultiplySlope, f.end.with
	default:
		return asked, f, false
	}
	return asked, f, p.beside(&asked, append(slices.Clip(f.argument), f.y)...)
}

// withSums lets a plan sum a factor. Its first factor is b.
func (p *program) withSums(asked gemm, f matmulTensors) (gemm, matmulTensors, bool) {
	if len(f.sums) == 0 {
		return asked, f, false
	}
	asked.Summed, f.summed = cublaslt.FactorB, f.sums[1:]
	if f.factor == 2 {
		asked.Summed = cublaslt.FactorA
	}
	return asked, f, p.beside(&asked, f.summed...)
}

// beside reports whether a plan can read or write operands beside the factors, which it requires to have the type and the
// alignment of the result.
func (p *program) beside(asked *gemm, operands ...ir.Operand) bool {
	for _, o := range operands {
		if o.DType != asked.D.Type || !o.Contiguous() {
			return false
		}
		asked.D.Align = min(asked.D.Align, p.alignment(o))
	}
	// Several calls advance the addresses of the factors and of the result only.
	return (asked.calls == 1 || asked.GELU == cublaslt.ApplyGELU) && asked.Unsupported() == ""
}

// matmulKey has the properties on which the time of a matrix multiplication depends.
type matmulKey struct {
	cublaslt.Matmul
	calls   int
	bias    bool   // computed by the plan or after it
	sums    bool   // computed after it
	end     string // likewise
	version string // of cuBLASLt
}

func (w *matmulCuBLASLt) launches(p *program) ([]launch, error) {
	a, b, y := p.address(w.a), p.address(w.b), p.address(w.y)
	var bias driver.Pointer
	for _, o := range w.bias {
		bias = p.address(o)
	}
	at := cublaslt.Addresses{Bias: bias, Work: p.work()}
	for _, o := range w.argument {
		at.Argument = p.address(o)
	}
	for _, o := range w.summed {
		at.Sums = p.address(o)
	}
	for _, m := range []alignedPointer{{a, w.gemm.B.Align}, {b, w.gemm.A.Align}, {y, w.gemm.D.Align}, {bias, w.gemm.D.Align}, {at.Argument, w.gemm.D.Align}, {at.Sums, w.gemm.D.Align}} {
		if !m.aligned() {
			return nil, &misalignedError{w.op, m.at}
		}
	}
	if w.a.DType.IsFP8() {
		at.ScaleA, at.ScaleB = p.scale(w.b), p.scale(w.a)
	}
	index := make([]int, len(w.gemm.outer))
	var out []launch
	for {
		atA, atB, atY := a, b, y
		for i, o := range w.gemm.outer {
			atA += driver.Pointer(index[i] * o.a * w.a.DType.Size())
			atB += driver.Pointer(index[i] * o.b * w.b.DType.Size())
			atY += driver.Pointer(index[i] * o.y * w.y.DType.Size())
		}
		at.D, at.A, at.B = atY, atB, atA
		places := at
		out = append(out, w.call([]driver.Pointer{at.D, at.A, at.B, at.Bias, at.Work, at.ScaleA, at.ScaleB, at.Argument, at.Sums},
			func(s driver.Stream) error { return w.plan.Run(s, places) }))
		if !advance(index, w.gemm.outer) {
			break
		}
	}
	return w.then(p, out)
}

// advance increments a multidimensional index; it returns false after the last.
func advance(index []int, dims []batchDim) bool {
	for i := range index {
		if index[i]++; index[i] < dims[i].size {
			return true
		}
		index[i] = 0
	}
	return false
}

// broadcast adds leading dimensions to an operand.
func broadcast(o ir.Operand, lead []int) ir.Operand {
	r := len(o.Shape) - 2
	o.Layout = o.BroadcastTo(append(slices.Clone(lead), o.Shape[r:]...))
	return o
}

// scaleAt is the offset in an operand's header of 2⁻ᵉ, the scale that libraries multiply
// with.
const scaleAt = 4

// scale returns the address of a packed operand's scale.
func (p *program) scale(o ir.Operand) driver.Pointer { return p.at[o.Slot] + scaleAt }
