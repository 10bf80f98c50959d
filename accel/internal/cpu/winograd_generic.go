package cpu

import "unsafe"

// newGenericWinograd returns the kernel in plain Go, with vectors of at most 16 lanes: few
// lanes for all CPUs, or as the reference for the assembly.
func newGenericWinograd(lanes int) *winogradKernel {
	t := &winogradKernel{
		lanes: lanes,
		interleave: func(n int, dst, src *float32, row int, offsets *int) {
			interleaveGeneric(lanes, n, dst, src, row, offsets)
		},
		deinterleave: func(n int, dst *float32, row int, src *float32, offsets *int) {
			deinterleaveGeneric(lanes, n, dst, row, src, offsets)
		},
		input: func(n int, dst *float32, step int, src *float32, pitch int) {
			tileInputGeneric(lanes, n, dst, step, src, pitch)
		},
		slope: func(n int, dst *float32, step int, src *float32, pitch int) {
			tileSlopeGeneric(lanes, n, dst, step, src, pitch)
		},
		output: func(n int, dst *float32, pitch int, src *float32, step int, ends *float32) {
			tileOutputGeneric(lanes, n, dst, pitch, src, step, ends)
		},
		weight: func(n int, dst *float32, step, next int, src, _ *float32, _ int) {
			tileWeightGeneric(lanes, n, dst, step, next, src)
		},
		gradient: func(n int, dst, src *float32, step, next int) {
			tileGradientGeneric(lanes, n, dst, src, step, next)
		},
	}
	for rows := 1; rows <= 4; rows++ {
		var row []blockTile
		for vectors := 1; vectors <= 2; vectors++ {
			row = append(row, func(k int, a *float32, apart int, b, c *float32, next, add int) {
				blockTileGeneric(lanes, rows, vectors, k, a, apart, b, c, next, add)
			})
		}
		t.tiles = append(t.tiles, row)
	}
	for vectors := 1; vectors <= 2; vectors++ {
		t.sums = append(t.sums, func(k int, a, b *float32, next int, c *float32, ldc, add int) {
			sumTileGeneric(lanes, vectors, k, a, b, next, c, ldc, add)
		})
	}
	return t
}

// behind returns n elements of memory at a distance from an address.
func behind(p *float32, at, n int) []float32 {
	return unsafe.Slice((*float32)(unsafe.Add(unsafe.Pointer(p), at*4)), n)
}

func interleaveGeneric(lanes, n int, dst, src *float32, row int, offsets *int) {
	for j, at := range unsafe.Slice(offsets, n) {
		out := behind(dst, at, lanes)
		for i := range out {
			out[i] = *(*float32)(unsafe.Add(unsafe.Pointer(src), (i*row+j)*4))
		}
	}
}

func deinterleaveGeneric(lanes, n int, dst *float32, row int, src *float32, offsets *int) {
	for j, at := range unsafe.Slice(offsets, n) {
		for i, v := range behind(src, at, lanes) {
			*(*float32)(unsafe.Add(unsafe.Pointer(dst), (i*row+j)*4)) = v
		}
	}
}

// The interpolation points, and the products of their distances to the other points.
const (
	nearPoint, farPoint   = 0.75, 1.5
	nearSquare, farSquare = nearPoint * nearPoint, farPoint * farPoint
	atNone                = nearSquare * farSquare
	atNear                = 2 * nearSquare * (nearSquare - farSquare)
	atFar                 = 2 * farSquare * (farSquare - nearSquare)
)

// The matrices of the transforms.
var (
	inputMatrix = [][]float32{
		{nearSquare * farSquare, 0, -nearSquare - farSquare, 0, 1, 0},
		{0, -nearPoint * farSquare, -farSquare, nearPoint, 1, 0},
		{0, nearPoint * farSquare, -farSquare, -nearPoint, 1, 0},
		{0, -farPoint * nearSquare, -nearSquare, farPoint, 1, 0},
		{0, farPoint * nearSquare, -nearSquare, -farPoint, 1, 0},
		{0, nearSquare * farSquare, 0, -nearSquare - farSquare, 0, 1},
	}
	outputMatrix = [][]float32{
		{1, 1, 1, 1, 1, 0},
		{0, nearPoint, -nearPoint, farPoint, -farPoint, 0},
		{0, nearSquare, nearSquare, farSquare, farSquare, 0},
		{0, nearPoint * nearSquare, -nearPoint * nearSquare, farPoint * farSquare, -farPoint * farSquare, 1},
	}
	weightMatrix = [][]float32{
		{1 / atNone, 0, 0},
		{1 / atNear, nearPoint / atNear, nearSquare / atNear},
		{1 / atNear, -nearPoint / atNear, nearSquare / atNear},
		{1 / atFar, farPoint / atFar, farSquare / atFar},
		{1 / atFar, -farPoint / atFar, farSquare / atFar},
		{0, 0, 1},
	}
	slopeMatrix    = transposed(outputMatrix)
	gradientMatrix = transposed(weightMatrix)
)

func transposed(m [][]float32) [][]float32 {
	out := make([][]float32, len(m[0]))
	for j := range out {
		for i := range m {
			out[j] = append(out[j], m[i][j])
		}
	}
	return out
}

// square is the memory layout of a square of vectors.
type square struct {
	data        *float32
	row, column int
}

func (s square) at(i, j, lanes int) []float32 { return behind(s.data, i*s.row+j*s.column, lanes) }

// sandwich computes m·x·mᵀ.
func sandwich(m [][]float32, lanes int, to, x square) {
	var workspace [squares * 16]float32
	half := square{&workspace[0], 6 * lanes, lanes}
	for i, row := range m {
		for j := range row {
			combine(row, half.at(i, j, lanes), func(k int) []float32 { return x.at(k, j, lanes) })
		}
		for j, column := range m {
			combine(column, to.at(i, j, lanes), func(k int) []float32 { return half.at(i, k, lanes) })
		}
	}
}

// combine adds vectors, each multiplied by its factor.
func combine(by, sum []float32, vector func(k int) []float32) {
	clear(sum)
	for k, c := range by {
		if c == 0 {
			continue
		}
		for i, v := range vector(k) {
			sum[i] += c * v
		}
	}
}

func planesOf(p *float32, step, at int) square { return square{&behind(p, at, 1)[0], 6 * step, step} }

func imageOf(p *float32, pitch, at, lanes int) square {
	return square{&behind(p, at, 1)[0], pitch, lanes}
}

func tileInputGeneric(lanes, n int, dst *float32, step int, src *float32, pitch int) {
	for i := range n {
		sandwich(inputMatrix, lanes, planesOf(dst, step, i*lanes), imageOf(src, pitch, 4*i*lanes, lanes))
	}
}

func tileSlopeGeneric(lanes, n int, dst *float32, step int, src *float32, pitch int) {
	for i := range n {
		sandwich(slopeMatrix, lanes, planesOf(dst, step, i*lanes), imageOf(src, pitch, 4*i*lanes, lanes))
	}
}

func tileOutputGeneric(lanes, n int, dst *float32, pitch int, src *float32, step int, ends *float32) {
	bias, low := behind(ends, 0, lanes), behind(ends, lanes, lanes)
	for i := range n {
		y := imageOf(dst, pitch, 4*i*lanes, lanes)
		sandwich(outputMatrix, lanes, y, planesOf(src, step, i*lanes))
		for r := range 4 {
			for c := range 4 {
				for j, v := range y.at(r, c, lanes) {
					y.at(r, c, lanes)[j] = max(v+bias[j], low[j])
				}
			}
		}
	}
}

func tileWeightGeneric(lanes, n int, dst *float32, step, next int, src *float32) {
	for i := range n {
		sandwich(weightMatrix, lanes, planesOf(dst, step, i*next), imageOf(src, 3*lanes, 9*i*lanes, lanes))
	}
}

func tileGradientGeneric(lanes, n int, dst, src *float32, step, next int) {
	for i := range n {
		sandwich(gradientMatrix, lanes, imageOf(dst, 3*lanes, 9*i*lanes, lanes), planesOf(src, step, i*next))
	}
}

func blockTileGeneric(lanes, rows, vectors, k int, a *float32, apart int, b, c *float32, next, add int) {
	for i := range rows {
		for v := range vectors {
			var sum [16]float32
			s := sum[:lanes]
			for block := range k {
				for p, x := range behind(a, block*apart+i*lanes, lanes) {
					for j, y := range behind(b, ((block*lanes+p)*vectors+v)*lanes, lanes) {
						s[j] += x * y
					}
				}
			}
			out := behind(c, i*lanes+v*next, lanes)
			for j, y := range s {
				if add != 0 {
					y += out[j]
				}
				out[j] = y
			}
		}
	}
}

func sumTileGeneric(lanes, vectors, k int, a, b *float32, next int, c *float32, ldc, add int) {
	for i := range lanes / 2 {
		for v := range vectors {
			var sum [16]float32
			s := sum[:lanes]
			for p := range k {
				x := behind(a, p*lanes, lanes)[i]
				for j, y := range behind(b, p*lanes+v*next, lanes) {
					s[j] += x * y
				}
			}
			out := behind(c, i*ldc+v*lanes, lanes)
			for j, y := range s {
				if add != 0 {
					y += out[j]
				}
				out[j] = y
			}
		}
	}
}
