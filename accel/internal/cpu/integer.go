package cpu

import "unsafe"

// byteKernel multiplies unsigned by signed bytes and accumulates in 32 bits. All kernels
// return the same sums.
type byteKernel struct {
	name  string
	set   string // the one of Implementations that it belongs to
	mr    int
	lanes int // columns per vector; a panel has at most two vectors
	// group is the number of elements of the depth that one instruction multiplies. If
	// int16 is set, both operands are 16-bit integers.
	group int
	int16 bool
	tiles [][]byteTile // [rows-1][vectors-1]

	byteVectors
}

// byteTile computes c = a·b for k groups of the depth. Rows of a are row bytes apart; a
// panel of b has the groups of its columns one after the other; rows of c are ldc elements
// apart.
type byteTile func(k int, a *uint8, row int, b *int8, c *int32, ldc int)

// byteVectors are the other functions on bytes.
type byteVectors struct {
	// quantize computes q = x·factor + zero, rounded and clamped. It returns NaN if an x is
	// not finite, else 0.
	quantize func(q []uint8, x []float32, factor, zero float32) float32
	// requantize computes q = (sums+offset)·factor + bias for n columns of some rows,
	// rounded and clamped to at least low. Rows of q are pitch elements apart.
	requantize func(rows, n int, q []uint8, pitch int, sums []int32, sumsPitch int, offset []int32, factor, bias []float32, low float32)
	// dequantize is the same in floats, at least low.
	dequantize func(rows, n int, y []float32, pitch int, sums []int32, sumsPitch int, offset []int32, factor, bias []float32, low float32)
	// tapSums computes Σ x[offset+c]·w[tap·pitch+c] over the taps, for each channel c. It
	// reads whole vectors of x and w.
	tapSums func(sums []int32, x []uint8, offsets []int, w []int32, pitch int)
	// largest computes the largest x[offset+c] of the taps, for each channel c. It reads
	// whole vectors of x and writes whole vectors of d.
	largest func(d, x []uint8, offsets []int)
	// gather copies n bytes from each offset, count times, each time step bytes further in
	// x. It reads and writes one vector after the last.
	gather func(count, n int, dst, x []uint8, offsets []int, step int)
	// dot is Σ x·w.
	dot func(x []float32, w []int8) float32
	// widen is y = w·step.
	widen func(y []float32, w []int8, step float32)
}

// width returns the width of a panel of n columns.
func (k *byteKernel) width(n int) int { return min(roundUp(n, k.lanes), 2*k.lanes) }

// columns returns the number of columns of a whole panel.
func (k *byteKernel) columns() int { return 2 * k.lanes }

// element returns the size of an operand's element.
func (k *byteKernel) element() int {
	if k.int16 {
		return 2
	}
	return 1
}

// groups returns the number of groups of a depth.
func (k *byteKernel) groups(depth int) int { return (depth + k.group - 1) / k.group }

// pack packs the panels of n columns with depth weights each, padded with zeros to its
// width and whole groups.
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
				if k.int16 {
					out[i+1] = v >> 7 // little-endian, as are all CPUs with this kernel
				}
			}
		}
		at += w * groups * k.group * k.element()
	}
	return out
}

// packedBytes are weights packed for a kernel.
type packedBytes struct {
	n, depth int
	panels   []int8
}

// maxByteRows is the number of rows that are multiplied before their sums are used: the
// sums of a panel stay in the L1 cache, the rows in the L2 cache.
const maxByteRows = 112

// multiply computes the sums of at most maxByteRows rows and passes them to use, one panel
// of columns at a time: those of row i are sums[i*pitch:][:n], for the columns starting at
// j. Rows are row bytes apart. It may read one group after the last.
func (k *byteKernel) multiply(b packedBytes, a []uint8, row, rows int, s *byteScratch, use func(j, n int, sums []int32, pitch int)) {
	groups := k.groups(b.depth)
	from := &a[0]
	if k.int16 {
		length := groups * k.group
		for i := range rows {
			line := s.int16[i*length:][:length]
			for p, v := range a[i*row:][:b.depth] {
				line[p] = int16(v)
			}
			clear(line[b.depth:])
		}
		from, row = (*uint8)(unsafe.Pointer(&s.int16[0])), 2*length
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

// byteScratch is a worker's workspace besides the operands.
type byteScratch struct {
	sums  []int32 // sums of a panel
	int16 []int16 // rows as 16-bit integers, for kernels that need them
}

// scratch takes the workspace for a depth.
func (k *byteKernel) scratch(r *arena, depth int) byteScratch {
	s := byteScratch{sums: take[int32](r, maxByteRows*k.columns())}
	if k.int16 {
		s.int16 = take[int16](r, maxByteRows*k.groups(depth)*k.group)
	}
	return s
}

// arena is memory that is handed out in parts, or, without memory, only counted.
type arena struct {
	left []float32
	used int // used floats
}

// take returns the next n elements, or nil if the arena only counts.
func take[T any](r *arena, n int) []T {
	var zero T
	floats := roundUp(n*int(unsafe.Sizeof(zero)), cacheLine) / 4
	from := r.used
	r.used += floats
	if r.left == nil || n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&r.left[from : from+floats][0])), n)
}

// sumsOf returns the sum of each output's weights.
func sumsOf(weight []int8, depth int) []int32 {
	sums := make([]int32, len(weight)/max(depth, 1))
	for o := range sums {
		for _, v := range weight[o*depth:][:depth] {
			sums[o] += int32(v)
		}
	}
	return sums
}
