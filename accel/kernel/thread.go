package kernel

// This file declares what kernels call. Compile reads it, too: it checks the types of a kernel against it.

// WarpSize is the number of threads of a warp.
const WarpSize = 32

// Thread is the thread that executes a kernel: the first parameter of each. Its methods have a meaning only in kernels; anywhere
// else they panic.
//
// Positions are along x, y and z, as in CUDA:
//
//	i := t.BlockX()*t.BlockDimX() + t.ThreadX() // t.Global()
type Thread struct{ _ int }

// Global returns the position of the thread among those of all blocks along x.
func (t Thread) Global() int { return outside() }

// GlobalY is Global along y.
func (t Thread) GlobalY() int { return outside() }

// GlobalZ is Global along z.
func (t Thread) GlobalZ() int { return outside() }

// ThreadX returns the position of the thread in its block along x.
func (t Thread) ThreadX() int { return outside() }

// ThreadY is ThreadX along y.
func (t Thread) ThreadY() int { return outside() }

// ThreadZ is ThreadX along z.
func (t Thread) ThreadZ() int { return outside() }

// BlockX returns the position of the block in the grid along x.
func (t Thread) BlockX() int { return outside() }

// BlockY is BlockX along y.
func (t Thread) BlockY() int { return outside() }

// BlockZ is BlockX along z.
func (t Thread) BlockZ() int { return outside() }

// BlockDimX returns the number of threads of a block along x.
func (t Thread) BlockDimX() int { return outside() }

// BlockDimY is BlockDimX along y.
func (t Thread) BlockDimY() int { return outside() }

// BlockDimZ is BlockDimX along z.
func (t Thread) BlockDimZ() int { return outside() }

// GridDimX returns the number of blocks of the grid along x.
func (t Thread) GridDimX() int { return outside() }

// GridDimY is GridDimX along y.
func (t Thread) GridDimY() int { return outside() }

// GridDimZ is GridDimX along z.
func (t Thread) GridDimZ() int { return outside() }

// Lane returns the position of the thread in its warp, 0 to 31. Threads are numbered along x, then y, then z.
func (t Thread) Lane() int { return outside() }

// Warp returns the position of the thread's warp in its block.
func (t Thread) Warp() int { return outside() }

// Sync waits for all threads of the block. What they have written before is then visible to all of them. All threads of the block
// that have not returned must call it.
func (t Thread) Sync() { outside() }

// SyncWarp waits for all threads of the warp. All of them must call it.
func (t Thread) SyncWarp() { outside() }

// Any reports whether p is true in a thread of the warp. All threads of the warp must call it.
func (t Thread) Any(p bool) bool { return outside() != 0 }

// All reports whether p is true in all threads of the warp. All of them must call it.
func (t Thread) All(p bool) bool { return outside() != 0 }

// Ballot returns a bit for each thread of the warp, bit i for lane i: whether p is true. All threads of the warp must call it.
func (t Thread) Ballot(p bool) uint32 { return uint32(outside()) }

// Shared makes an array that is declared directly before one array for all threads of a block. It contains no defined values:
// write an element before you read it.
//
//	var tile [16][17]float32
//	kernel.Shared(&tile)
func Shared(array any) { outside() }

// Number is a type of atomic additions and shuffles.
type Number interface {
	~int | ~int32 | ~int64 | ~uint | ~uint32 | ~uint64 | ~float32 | ~float64
}

// Integer is a type of atomic operations.
type Integer interface {
	~int | ~int32 | ~int64 | ~uint | ~uint32 | ~uint64
}

// AtomicAdd adds v to an element, &x[i], so that no addition of another thread is lost, and returns the element before. The order of
// the additions is not defined, so sums of floats may differ in the last digits from run to run.
func AtomicAdd[T Number](element *T, v T) T { outside(); return v }

// AtomicMin sets an element to the smaller one of it and v, and returns the element before.
func AtomicMin[T Integer](element *T, v T) T { outside(); return v }

// AtomicMax sets an element to the larger one of it and v, and returns the element before.
func AtomicMax[T Integer](element *T, v T) T { outside(); return v }

// AtomicExchange sets an element to v and returns the element before.
func AtomicExchange[T Integer](element *T, v T) T { outside(); return v }

// AtomicCompareAndSwap sets an element to v if it is old, and returns the element before.
func AtomicCompareAndSwap[T Integer](element *T, old, v T) T { outside(); return v }

// Shuffle returns v of a lane of the warp. All threads of the warp must call it.
func Shuffle[T Number](t Thread, v T, lane int) T { outside(); return v }

// ShuffleDown returns v of the lane that is n lanes above, and the own v where there is none. All threads of the warp must call it.
//
//	for n := 16; n > 0; n /= 2 {
//		sum += kernel.ShuffleDown(t, sum, n)
//	}
func ShuffleDown[T Number](t Thread, v T, n int) T { outside(); return v }

// ShuffleUp returns v of the lane that is n lanes below, and the own v where there is none. All threads of the warp must call it.
func ShuffleUp[T Number](t Thread, v T, n int) T { outside(); return v }

// ShuffleXor returns v of the lane whose number is the own one with the bits of mask inverted. All threads of the warp must call it.
func ShuffleXor[T Number](t Thread, v T, mask int) T { outside(); return v }

// Float16 is a 16-bit float, IEEE 754 binary16, as an element of a tensor of tensor.Float16. A kernel computes with float32: x[i].Float32() reads an
// element, and [ToFloat16] converts what it writes. Both work in other Go code, too.
type Float16 struct {
	_       [0]func() // not comparable: 0 and -0 have other bits
	float16 uint16    // the name differs from that of BFloat16, so that neither converts to the other
}

// Float32 returns the same number as a float32.
func (x Float16) Float32() float32 { return widenFloat16(x.float16) }

// ToFloat16 rounds a number to the nearest Float16, ties to even. It is infinite from 65520 on.
func ToFloat16(x float32) Float16 { return Float16{float16: narrowFloat16(x)} }

// BFloat16 is a 16-bit float, the upper half of a float32, as an element of a tensor of tensor.BFloat16. A kernel computes with float32. The conversions
// work in other Go code, too.
//
//	func scale(t kernel.Thread, a float32, x, y []kernel.BFloat16) {
//		if i := t.Global(); i < len(y) {
//			y[i] = kernel.ToBFloat16(a * x[i].Float32())
//		}
//	}
type BFloat16 struct {
	_        [0]func() // not comparable: 0 and -0 have other bits
	bfloat16 uint16
}

// Float32 returns the same number as a float32.
func (x BFloat16) Float32() float32 { return widenBFloat16(x.bfloat16) }

// ToBFloat16 rounds a number to the nearest BFloat16, ties to even.
func ToBFloat16(x float32) BFloat16 { return BFloat16{bfloat16: narrowBFloat16(x)} }

// MMATF32 multiplies matrices on the matrix units of a GPU: it returns a·b + c for a matrix a of 16 rows and 8 columns, b of 8 and 8, c of 16 and 8,
// which a warp holds together. All 32 threads of the warp must call it. Each thread holds some elements of each matrix, its fragment. With
// g = t.Lane()/4 and q = t.Lane()%4, element i of a fragment is in this row and column:
//
//	                   row                column
//	a of MMATF32       g + 8*(i%2)        q + 4*(i/2)
//	b of MMATF32       q + 4*i            g
//	a of MMAFloat16    g + 8*(i/2%2)      2*q + i%2 + 8*(i/4)
//	b of MMAFloat16    2*q + i%2 + 8*(i/2)  g
//	c, and the result  g + 8*(i/2)        2*q + i%2
//
// The elements of a and b are rounded to TF32, which has 11 bits, ties away from zero. The CPU and the simulated GPU add the products exactly
// and then round the sum; a GPU rounds in between, so the last digits may differ.
//
//	var a [4]float32
//	for i := range a {
//		a[i] = x[(row+t.Lane()/4+8*(i%2))*k+t.Lane()%4+4*(i/2)]
//	}
//	sum = kernel.MMATF32(t, a, b, sum)
func MMATF32(t Thread, a [4]float32, b [2]float32, c [4]float32) [4]float32 { outside(); return c }

// MMAFloat16 returns a·b + c for a matrix a of 16 rows and 16 columns, b of 16 and 8, c of 16 and 8. Everything else is as for [MMATF32].
func MMAFloat16(t Thread, a [8]Float16, b [4]Float16, c [4]float32) [4]float32 { outside(); return c }

// MMABFloat16 is [MMAFloat16] for elements of the other format.
func MMABFloat16(t Thread, a [8]BFloat16, b [4]BFloat16, c [4]float32) [4]float32 {
	outside()
	return c
}

func outside() int {
	panic("kernel: this function has a meaning only in a kernel that runs by Launch")
}
