package kernels

import (
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// Conv2DRowMajor is Conv2DLast of images and weights in row-major order, of shapes X, W and Y. It copies the
// factors to the workspace and the result from it.
type Conv2DRowMajor struct {
	Conv2DLast
	X, W, Y []int
}

// copiedToLast reports whether images or weights are in row-major order and do not have the channels last.
func copiedToLast(o ir.Operand) bool { return o.Contiguous() && (rowMajorTensor{o.Shape, 0}).copied() }

// rowMajorTensor is a tensor of a convolution.
type rowMajorTensor struct {
	shape []int
	size  int // bytes of an element
}

func (o Conv2DRowMajor) factor(shape []int) rowMajorTensor {
	return rowMajorTensor{shape, o.DType.Size()}
}

func (o Conv2DRowMajor) result(shape []int) rowMajorTensor {
	if o.Output16 {
		return o.factor(shape)
	}
	return rowMajorTensor{shape, ir.Float32.Size()}
}

// copied reports whether both orders differ.
func (t rowMajorTensor) copied() bool { return t.shape[1] > 1 && ir.Len(t.shape[2:]) > 1 }

// bytes returns the size of a copy, and what aligns the next one.
func (t rowMajorTensor) bytes() int {
	if !t.copied() {
		return 0
	}
	return ceil(t.size*ir.Len(t.shape), copyAlign) * copyAlign
}

// copyAlign is the alignment of copies in bytes.
const copyAlign = 256

// toLast copies x to y with the channels last, and toRowMajor copies back.
func (t rowMajorTensor) toLast(y, x Pointer) ([]Launch, error) {
	return t.swap(y, x, t.shape[1], ir.Len(t.shape[2:]))
}

func (t rowMajorTensor) toRowMajor(y, x Pointer) ([]Launch, error) {
	return t.swap(y, x, ir.Len(t.shape[2:]), t.shape[1])
}

// swap copies matrices, transposed.
func (t rowMajorTensor) swap(y, x Pointer, rows, columns int) ([]Launch, error) {
	return Copy{t.size, ir.Layout{Shape: []int{t.shape[0], columns, rows}, Stride: []int{rows * columns, 1, columns}}}.Launches(y, x)
}

// workspace returns the size of the workspace of kernels that need some bytes of it themselves, and of copies.
func (o Conv2DRowMajor) workspace(own int, tensors ...rowMajorTensor) int {
	own = ceil(own, copyAlign) * copyAlign
	for _, t := range tensors {
		own += t.bytes()
	}
	return own
}

// around returns the kernels between copies of the factors and of the result. They are launched for the addresses of the
// result and the factors, and use the first bytes of the workspace themselves.
func (o Conv2DRowMajor) around(work Pointer, own int, result rowMajorTensor, y Pointer, factors [2]rowMajorTensor, at [2]Pointer, launches func(y, a, b Pointer) ([]Launch, error)) (all []Launch, err error) {
	if ir.Len(result.shape) == 0 {
		return nil, nil
	}
	free := work + Pointer(o.workspace(own))
	for i, t := range factors {
		if !t.copied() {
			continue
		}
		copies, err := t.toLast(free, at[i])
		if err != nil {
			return nil, err
		}
		all, at[i] = append(all, copies...), free
		free += Pointer(t.bytes())
	}
	to := y
	if result.copied() {
		to = free
	}
	kernels, err := launches(to, at[0], at[1])
	if err != nil || to == y {
		return append(all, kernels...), err
	}
	copies, err := result.toRowMajor(y, to)
	return slices.Concat(all, kernels, copies), err
}

// Workspace returns the size of the workspace of Launches.
func (o Conv2DRowMajor) Workspace() int {
	return o.workspace(o.Conv2DLast.Workspace(), o.factor(o.X), o.factor(o.W), o.result(o.Y))
}

// InputWorkspace returns the size of the workspace of InputGradient.
func (o Conv2DRowMajor) InputWorkspace() int {
	return o.workspace(o.Conv2DLast.InputWorkspace(), o.factor(o.Y), o.factor(o.W), o.result(o.X))
}

// WeightWorkspace returns the size of the workspace of WeightGradient.
func (o Conv2DRowMajor) WeightWorkspace() int {
	return o.workspace(o.Conv2DLast.WeightWorkspace(), o.factor(o.X), o.factor(o.Y), o.result(o.W))
}

// Launches computes y. bias [O] is 0 for none. It returns an error for sizes beyond the
// kernels' counters.
func (o Conv2DRowMajor) Launches(y, x, w, bias, work Pointer, relu bool) ([]Launch, error) {
	return o.around(work, o.Conv2DLast.Workspace(), o.result(o.Y), y, [2]rowMajorTensor{o.factor(o.X), o.factor(o.W)}, [2]Pointer{x, w},
		func(y, x, w Pointer) ([]Launch, error) { return o.Conv2DLast.Launches(y, x, w, bias, work, relu) })
}

// InputGradient computes dx from dy and w.
func (o Conv2DRowMajor) InputGradient(dx, dy, w, work Pointer) ([]Launch, error) {
	return o.around(work, o.Conv2DLast.InputWorkspace(), o.result(o.X), dx, [2]rowMajorTensor{o.factor(o.Y), o.factor(o.W)}, [2]Pointer{dy, w},
		func(dx, dy, w Pointer) ([]Launch, error) { return o.Conv2DLast.InputGradient(dx, dy, w, work) })
}

// WeightGradient computes dw from x and dy.
func (o Conv2DRowMajor) WeightGradient(dw, x, dy, work Pointer) ([]Launch, error) {
	return o.around(work, o.Conv2DLast.WeightWorkspace(), o.result(o.W), dw, [2]rowMajorTensor{o.factor(o.X), o.factor(o.Y)}, [2]Pointer{x, dy},
		func(dw, x, dy Pointer) ([]Launch, error) { return o.Conv2DLast.WeightGradient(dw, x, dy, work) })
}
