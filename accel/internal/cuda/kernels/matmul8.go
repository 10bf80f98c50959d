package kernels

import (
	"fmt"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

type matmul8Params struct {
	Y       Pointer
	Problem struct {
		A, B            operand8
		M, N, K, Unused uint32
	}
	Result result
}

type operand8 struct {
	At, Head Pointer
	Pitch    int64
}

type wgmma8Params struct {
	Y       Pointer
	_       [56]byte // tensor maps start at multiples of 64 bytes
	A, B    [128]byte
	Problem struct {
		AHead, BHead    Pointer
		M, N, K, Unused uint32
	}
	Result result
}

var (
	wgmma8 = declare[wgmma8Params]("wgmma8", "wgmma8", []string{"e4m3_sm90", "e5m2_sm90"}, 384)
)

func init() { add(matmul8(128).entry(), matmul8(64).entry()) }

func matmul8(tile int) kernel[matmul8Params] {
	return kernel[matmul8Params]{"matmul8", fmt.Sprintf("matmul8_%d", tile), fp8Types, 2 * tile}
}

// The side of a block's tile in wgmma8, and the size of its panels in shared memory.
const (
	wgmma8Tile   = 128
	wgmma8Shared = 4 * 2 * wgmma8Tile * 128
)

// MatMul8 computes y [M, N] = a·bᵀ for packed FP8 matrices a [M, K] and b [N, K], plus a
// bias [N]. a has type A, b is Float8E4M3. y and the bias are float32, or with Output16
// bfloat16. It needs compute capability 8.9; with Hopper it uses kernels for 9.0 only.
type MatMul8 struct {
	A          tensortype.DType
	M, N, K    int
	Bias, ReLU bool
	Output16   bool
	Hopper     bool
}

// plan returns the side of a block's tile, and the number of parts that K is split into.
func (o MatMul8) plan() (tile, parts int) {
	tile = 64
	if o.Hopper || o.blocks(128) >= 132 {
		tile = 128
	}
	n := atOnce
	if o.Hopper {
		n = largeAtOnce
	}
	return tile, splitK(o.blocks(tile), n, o.K)
}

func (o MatMul8) blocks(tile int) int { return ceil(o.M, tile) * ceil(o.N, tile) }

// Workspace returns the size of the workspace, which holds the partial results of a split-K
// matrix multiplication.
func (o MatMul8) Workspace() int {
	tile, parts := o.plan()
	return partBytes(parts, o.blocks(tile), tile*tile, 4)
}

// Launches computes y; bias is only read if Bias. It returns an error for sizes that the
// kernels do not support.
func (o MatMul8) Launches(y Pointer, a, b Packed8, bias, work Pointer) ([]Launch, error) {
	if o.M == 0 || o.N == 0 {
		return nil, nil
	}
	if err := checkSizes("multiplies", o.M, o.N, o.K); err != nil {
		return nil, err
	}
	if !o.Bias {
		bias = 0
	}
	tile, parts := o.plan()
	r := result{Bias: bias, Row: int64(o.N), Inner: newDivisor(o.N), ReLU: flag(o.ReLU), Output16: flag(o.Output16), Work: work, Parts: uint32(parts)}
	grid := driver.Dim{X: uint32(o.blocks(tile)), Y: uint32(parts), Z: 1}
	return []Launch{o.launch8(tile, grid, y, a, b, r)}, nil
}

func (o MatMul8) launch8(tile int, grid driver.Dim, y Pointer, a, b Packed8, r result) Launch {
	if !o.Hopper {
		p := matmul8Params{Y: y, Result: r}
		p.Problem.A, p.Problem.B = operand8(a), operand8(b)
		p.Problem.M, p.Problem.N, p.Problem.K = uint32(o.M), uint32(o.N), uint32(o.K)
		return matmul8(tile).grid(fp8Type(o.A)+"_sm89", grid, panelShared(tile), p)
	}
	p := wgmma8Params{Y: y, Result: r}
	p.Problem.AHead, p.Problem.BHead = a.Head, b.Head
	p.Problem.M, p.Problem.N, p.Problem.K = uint32(o.M), uint32(o.N), uint32(o.K)
	l := wgmma8.grid(fp8Type(o.A)+"_sm90", grid, wgmma8Shared, p)
	l.Maps = []Map{{mapA, map8(a, o.M, o.K)}, {mapB, map8(b, o.N, o.K)}}
	return l
}

// map8 returns the tensor map of a packed matrix: panels of 128 elements along K by the
// tile's rows.
func map8(p Packed8, rows, k int) driver.TensorMap {
	return driver.TensorMap{Type: driver.TensorUint8, Address: p.At, Swizzle: driver.Swizzle128,
		Shape: []uint64{uint64(k), uint64(rows), 1}, Strides: []uint64{uint64(p.Pitch), uint64(p.Pitch)}, Box: []uint32{128, wgmma8Tile, 1}}
}
