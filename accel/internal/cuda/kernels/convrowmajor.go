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

// tensors returns the result of a kind of convolution, and its factors.
func (o Conv2DRowMajor) tensors(kind ConvKind) (result rowMajorTensor, factors [2]rowMajorTensor) {
	shapes := [][3][]int{ConvForward: {o.Y, o.X, o.W}, ConvInput: {o.X, o.Y, o.W}, ConvWeight: {o.W, o.X, o.Y}}[kind]
	size := o.DType.Size()
	result = rowMajorTensor{shapes[0], ir.Float32.Size()}
	if o.Output16 {
		result.size = size
	}
	return result, [2]rowMajorTensor{{shapes[1], size}, {shapes[2], size}}
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

// own returns the size of the part of the workspace that the kernels between the copies use.
func (o Conv2DRowMajor) own(kind ConvKind) int {
	return ceil(o.Conv2DLast.Workspace(kind), copyAlign) * copyAlign
}

// Workspace returns the size of the workspace of Launches.
func (o Conv2DRowMajor) Workspace(kind ConvKind) int {
	result, factors := o.tensors(kind)
	return o.own(kind) + factors[0].bytes() + factors[1].bytes() + result.bytes()
}

// Launches computes y, or the gradient that the kind names, as Conv2D does.
func (o Conv2DRowMajor) Launches(kind ConvKind, y, a, b, bias, work Pointer, relu bool) (all []Launch, err error) {
	result, factors := o.tensors(kind)
	if ir.Len(result.shape) == 0 {
		return nil, nil
	}
	at, free := [2]Pointer{a, b}, work+Pointer(o.own(kind))
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
	kernels, err := o.Conv2DLast.Launches(kind, to, at[0], at[1], bias, work, relu)
	if err != nil || to == y {
		return append(all, kernels...), err
	}
	copies, err := result.toRowMajor(y, to)
	return slices.Concat(all, kernels, copies), err
}
