package kernels

import (
	"fmt"
	"math/bits"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// divisor divides numbers below 2³¹ by a number that is known before the launch.
type divisor struct{ By, Factor, Shift uint32 }

func newDivisor(by int) divisor {
	if by <= 1 {
		return divisor{By: 1}
	}
	// With 2^shift < by ≤ 2^(shift+1) the factor fits 32 bits, and its excess over
	// 2^(32+shift)/by is too small to matter for numbers below 2³¹.
	shift := uint32(bits.Len32(uint32(by-1)) - 1)
	factor := (uint64(1)<<(32+shift) + uint64(by) - 1) / uint64(by)
	return divisor{uint32(by), uint32(factor), shift}
}

// batch is the leading dimensions of a batch of matrix multiplications.
type batch struct {
	Rank   uint32
	Shape  [4]uint32
	Unused uint32
	A, B   [4]int64
}

// newBatch merges the leading dimensions of both operands where one stride covers them in
// both.
func newBatch(a, b ir.Layout) (batch, int, error) {
	var out batch
	count, n := 1, 0
	for i, size := range a.Shape {
		count *= size
		if size == 1 {
			continue
		}
		sa, sb := int64(a.Stride[i]), int64(b.Stride[i])
		if k := n - 1; k >= 0 && out.A[k] == int64(size)*sa && out.B[k] == int64(size)*sb {
			out.Shape[k] *= uint32(size)
			out.A[k], out.B[k] = sa, sb
			continue
		}
		if n == len(out.Shape) {
			return out, 0, fmt.Errorf("a batch of matrix multiplications over %d dimensions that cannot be merged: make the operands contiguous", len(a.Shape))
		}
		out.Shape[n], out.A[n], out.B[n] = uint32(size), sa, sb
		n++
	}
	out.Rank = uint32(n)
	return out, count, nil
}

// result describes where and how a matrix multiplication writes its result; see matmul.h.
type result struct {
	Bias                     Pointer
	Row, Outer, Batch        int64
	Work, Beside             Pointer
	Sums, OfParts            Pointer
	Inner                    divisor
	BiasRows, ReLU, Output16 uint32
	Parts, End, Summed       uint32
	Sums16                   uint32
}

// endOf returns the number that the kernels have for what ends a product, 0 for nothing.
func endOf(op ir.Op) uint32 {
	switch op.(type) {
	case ir.GELU:
		return 4
	case ir.GELUTanh:
		return 5
	}
	return SlopeOf(op)
}

// Activates reports whether the kernels of products apply an activation and can store its argument, too.
func Activates(activation ir.Op) bool { return endOf(activation) > 0 && SlopeOf(activation) == 0 }

// SlopeOf returns the number that the kernels have for the gradient of an activation, 0 for none.
func SlopeOf(gradient ir.Op) uint32 {
	switch gradient.(type) {
	case ir.ReLUGradient:
		return 1
	case ir.GELUGradient:
		return 2
	case ir.GELUTanhGradient:
		return 3
	}
	return 0
}

// maxSide is the maximum of rows, columns and depth of one matrix multiplication. It leaves
// room for incomplete tiles at the edges.
const maxSide = 1<<31 - 1<<10

// checkSizes returns an error for sizes beyond the kernels' counters.
func checkSizes(what string, sizes ...int) error {
	for _, n := range sizes {
		if n > maxSide {
			return fmt.Errorf("a kernel that %s a matrix with a side of %d: the maximum is %d", what, n, maxSide)
		}
	}
	return nil
}

// The number of blocks that an H100 runs at the same time.
const (
	largeAtOnce = 132             // those with most of an SM's shared memory
	atOnce      = 2 * largeAtOnce // of 256 threads with 128 registers
)

// splitK returns the number of parts to split the depth into, for a matrix multiplication
// whose tiles alone do not fill the GPU: the fewest with which it is busy for three quarters of the
// time, given how many blocks it runs at once.
func splitK(blocks, atOnce, depth int) int {
	if blocks == 0 || blocks >= 264 || depth < 512 {
		return 1
	}
	busy := func(parts int) float64 {
		n := blocks * parts
		return float64(n) / float64(ceil(n, atOnce)*atOnce)
	}
	best := 1
	for parts := 1; parts <= min(depth/256, 64, maxMeetings/blocks) && busy(best) < 0.75; parts++ {
		if busy(parts) > busy(best) {
			best = parts
		}
	}
	each := ceil(ceil(depth, 32), best) // in units of the largest step of any kernel
	return ceil(ceil(depth, 32), each)
}

// partBytes returns the size of the workspace of a split matrix multiplication, in which its blocks
// leave the sums of their tiles.
func partBytes(parts, blocks, tile, size int) int {
	if parts <= 1 {
		return 0
	}
	return parts * blocks * tile * size
}
