package cpu

import "unsafe"

// byteKernel multiplies bytes, unsigned ones by signed ones, and adds up in 32 bits.
// All kernels give the same sums.
type byteKernel struct {
	name  string
	set   string // of Implementations, that it belongs to
	mr    int
	lanes int // columns of one vector; a panel has at most two
	// group is how many of the depth are multiplied at once. Where wide is set, both
	// factors are 16-bit integers.
	group int
	wide  bool
	tiles [][]byteTile // by rows and vectors, from one on

	byteVectors
	// spin does spinOps operations in registers alone, n times; see PeakIntegers.
	spin    func(n int)
	spinOps int
}

// byteTile is c = a·b for k groups of the depth: rows of a begin row bytes from
// each other, a panel of b has the groups of its columns one after the other, and
// rows of c begin ldc elements from each other.
type byteTile func(k int, a *uint8, row int, b *int8, c *int32, ldc int)

// byteVectors are what is done to bytes besides.
type byteVectors struct {
	// quantise is q = x·factor + zero, rounded and clamped. It returns NaN if an x is
	// not finite, else 0.
	quantise func(q []uint8, x []float32, factor, zero float32) float32
	// requantise is q = (sums+offset)·factor + bias for n columns of some rows, rounded
	// and clamped from low on. Rows of q begin pitch elements from each other.
	requantise func(rows, n int, q []uint8, pitch int, sums []int32, sumsPitch int, offset []int32, factor, bias []float32, low float32)
	// dequantise is the same in floats, at least low.
	dequantise func(rows, n int, y []float32, pitch int, sums []int32, sumsPitch int, offset []int32, factor, bias []float32, low float32)
	// tapSums is Σ x[offset+c]·w[tap·pitch+c] over the taps, for each channel c. x and
	// w are read up to a whole vector.
	tapSums func(sums []int32, x []uint8, offsets []int, w []int32, pitch int)
	// largest is the largest x[offset+c] of the taps, for each channel c. x and d are
	// used up to a whole vector.
	largest func(d, x []uint8, offsets []int)
	// gather copies n bytes from each offset, and so on, count times, each time step
	// bytes further in x. A vector is read and written behind the last.
	gather func(count, n int, dst, x []uint8, offsets []int, step int)
	// dot is Σ x·w.
	dot func(x []float32, w []int8) float32
	// widen is y = w·step.
	widen func(y []float32, w []int8, step float32)
}

// width is how wide a panel of n columns is.
func (k *byteKernel) width(n int) int { return min(roundUp(n, k.lanes), 2*k.lanes) }

// columns is the number of columns of a whole panel.
func (k *byteKernel) columns() int { return 2 * k.lanes }

// element is the size of an element of a factor.
func (k *byteKernel) element() int {
	if k.wide {
		return 2
	}
	return 1
}

// groups is how many groups a depth has.
func (k *byteKernel) groups(depth int) int { return (depth + k.group - 1) / k.group }

// pack writes the panels of n columns of so many weights each. Each panel is as long
// as its width and the groups ask for; what is missing is zero.
func (k *byteKernel) pack(weight []int8, n, depth int) []int8 {
	groups := k.groups(depth)
	size := 0
	for j := 0; j < n; j += k.columns() {
		size += k.width(n-j) * groups * k.group * k.element()
	}
	out := make([]int8, max(size, 1))
	at := 0
	for j := 0; j < n; j += k.columns() {
		w := k.width(n - j)
		for c := range min(w, n-j) {
			for p, v := range weight[(j+c)*depth:][:depth] {
				i := at + ((p/k.group*w+c)*k.group+p%k.group)*k.element()
				out[i] = v
				if k.wide {
					out[i+1] = v >> 7 // little-endian, as the processors that have this are
				}
			}
		}
		at += w * groups * k.group * k.element()
	}
	return out
}

// packedBytes are weights as a kernel wants them.
type packedBytes struct {
	n, depth int
	panels   []int8
}

// maxByteRows is how many rows are multiplied before their sums are used: the sums
// of a panel stay in the first-level cache, the rows in the second.
const maxByteRows = 112

// multiply computes the sums of at most maxByteRows rows, and hands them on a panel
// of columns at a time: those of row i are sums[i*pitch:][:n], for the columns from j
// on. Rows begin row bytes from each other, and a group may be read behind the last.
func (k *byteKernel) multiply(b packedBytes, a []uint8, row, rows int, s *byteScratch, use func(j, n int, sums []int32, pitch int)) {
	groups := k.groups(b.depth)
	from := &a[0]
	if k.wide {
		length := groups * k.group
		for i := range rows {
			line := s.wide[i*length:][:length]
			for p, v := range a[i*row:][:b.depth] {
				line[p] = int16(v)
			}
			clear(line[b.depth:])
		}
		from, row = (*uint8)(unsafe.Pointer(&s.wide[0])), 2*length
	}
	tiles := (rows + k.mr - 1) / k.mr
	at := 0
	for j := 0; j < b.n; j += k.columns() {
		width := k.width(b.n - j)
		for t := range tiles {
			top := rows * t / tiles
			height := rows*(t+1)/tiles - top
			k.tiles[height-1][width/k.lanes-1](groups, (*uint8)(unsafe.Add(unsafe.Pointer(from), top*row)), row, &b.panels[at], &s.sums[top*width], width)
		}
		use(j, min(width, b.n-j), s.sums, width)
		at += width * groups * k.group * k.element()
	}
}

// byteScratch is what a worker needs beside the operands.
type byteScratch struct {
	sums []int32 // of a panel
	wide []int16 // rows, for a kernel that wants them so
}

// scratch takes room for products of a depth.
func (k *byteKernel) scratch(r *room, depth int) byteScratch {
	s := byteScratch{sums: take[int32](r, maxByteRows*k.columns())}
	if k.wide {
		s.wide = take[int16](r, maxByteRows*k.groups(depth)*k.group)
	}
	return s
}

// room is memory that is handed out piece by piece, or only counted.
type room struct {
	left []float32
	used int // in floats
}

// take is the next n elements, or nothing where there is no memory.
func take[T any](r *room, n int) []T {
	var zero T
	floats := roundUp(n*int(unsafe.Sizeof(zero)), cacheLine) / 4
	from := r.used
	r.used += floats
	if r.left == nil || n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&r.left[from : from+floats][0])), n)
}

// sumsOf are the sums of each output's weights.
func sumsOf(weight []int8, depth int) []int32 {
	sums := make([]int32, len(weight)/max(depth, 1))
	for o := range sums {
		for _, v := range weight[o*depth:][:depth] {
			sums[o] += int32(v)
		}
	}
	return sums
}
