package main

import (
	"math"

	"github.com/quernlab/quern/accel/kernel"
)

func saxpy(t kernel.Thread, a float32, x, y []float32) {
	if i := t.Global(); i < len(y) {
		y[i] += a * x[i]
	}
}

// sum is a reduction in shared memory, one atomic addition a block.
func sum(t kernel.Thread, x, total []float32) {
	var parts [256]float32
	kernel.Shared(&parts)
	i := t.ThreadX()
	parts[i] = 0
	for k := t.Global(); k < len(x); k += t.GridDimX() * t.BlockDimX() {
		parts[i] += x[k]
	}
	t.Sync()
	for n := t.BlockDimX() / 2; n > 0; n /= 2 {
		if i < n {
			parts[i] += parts[i+n]
		}
		t.Sync()
	}
	if i == 0 {
		kernel.AtomicAdd(&total[0], parts[0])
	}
}

// warpSum adds up by shuffles.
func warpSum(t kernel.Thread, x, sums []float32) {
	i := t.Global()
	v := float32(0)
	if i < len(x) {
		v = x[i]
	}
	v = sumOfWarp(t, v)
	if t.Lane() == 0 {
		sums[i/kernel.WarpSize] = v
	}
}

func sumOfWarp[T kernel.Number](t kernel.Thread, v T) T {
	for n := 16; n > 0; n /= 2 {
		v += kernel.ShuffleDown(t, v, n)
	}
	return v
}

func transpose(t kernel.Thread, rows, columns int, x, y []float32) {
	var tile [16][16]float32
	kernel.Shared(&tile)
	i, j := t.BlockY()*16+t.ThreadY(), t.BlockX()*16+t.ThreadX()
	if i < rows && j < columns {
		tile[t.ThreadY()][t.ThreadX()] = x[i*columns+j]
	}
	t.Sync()
	i, j = t.BlockX()*16+t.ThreadY(), t.BlockY()*16+t.ThreadX()
	if i < columns && j < rows {
		y[i*rows+j] = tile[t.ThreadX()][t.ThreadY()]
	}
}

const side = 16

// padded is transpose with a column more, so that a warp reads from 32 banks.
func padded(t kernel.Thread, rows, columns int, x, y []float32) {
	var tile [side][side + 1]float32
	kernel.Shared(&tile)
	i, j := t.BlockY()*side+t.ThreadY(), t.BlockX()*side+t.ThreadX()
	if i < rows && j < columns {
		tile[t.ThreadY()][t.ThreadX()] = x[i*columns+j]
	}
	t.Sync()
	i, j = t.BlockX()*side+t.ThreadY(), t.BlockY()*side+t.ThreadX()
	if i < columns && j < rows {
		y[i*rows+j] = tile[t.ThreadX()][t.ThreadY()]
	}
}

func matmul(t kernel.Thread, m, n, k int, a, b, c []float32) {
	i, j := t.GlobalY(), t.Global()
	if i >= m || j >= n {
		return
	}
	sum := float32(0)
	for l := range k {
		sum += a[i*k+l] * b[l*n+j]
	}
	c[i*n+j] = sum
}

func tiled(t kernel.Thread, m, n, k int, a, b, c []float32) {
	var left, right [side][side]float32
	kernel.Shared(&left)
	kernel.Shared(&right)
	i, j := t.GlobalY(), t.Global()
	y, x := t.ThreadY(), t.ThreadX()
	sum := float32(0)
	for l := 0; l < k; l += side {
		left[y][x], right[y][x] = 0, 0
		if i < m && l+x < k {
			left[y][x] = a[i*k+l+x]
		}
		if l+y < k && j < n {
			right[y][x] = b[(l+y)*n+j]
		}
		t.Sync()
		for q := range side {
			sum += left[y][q] * right[q][x]
		}
		t.Sync()
	}
	if i < m && j < n {
		c[i*n+j] = sum
	}
}

// softmax computes a row per block of 32 threads.
func softmax(t kernel.Thread, columns int, x, y []float32) {
	row := x[t.BlockX()*columns:][:columns]
	top := float32(math.Inf(-1))
	for j := t.Lane(); j < columns; j += 32 {
		top = max(top, row[j])
	}
	for n := 16; n > 0; n /= 2 {
		top = max(top, kernel.ShuffleXor(t, top, n))
	}
	sum := float32(0)
	for j := t.Lane(); j < columns; j += 32 {
		sum += float32(math.Exp(float64(row[j] - top)))
	}
	for n := 16; n > 0; n /= 2 {
		sum += kernel.ShuffleXor(t, sum, n)
	}
	for j := t.Lane(); j < columns; j += 32 {
		y[t.BlockX()*columns+j] = float32(math.Exp(float64(row[j]-top))) / sum
	}
}

func histogram(t kernel.Thread, x []uint8, counts []int32) {
	var own [256]int32
	kernel.Shared(&own)
	for k := t.ThreadX(); k < 256; k += t.BlockDimX() {
		own[k] = 0
	}
	t.Sync()
	if i := t.Global(); i < len(x) {
		kernel.AtomicAdd(&own[x[i]], 1)
	}
	t.Sync()
	for k := t.ThreadX(); k < 256; k += t.BlockDimX() {
		if own[k] > 0 {
			kernel.AtomicAdd(&counts[k], own[k])
		}
	}
}

// prefix computes prefix sums of one block: in each warp by shuffles, then over the warps.
func prefix(t kernel.Thread, x, y []int64) {
	var sums [32]int64
	kernel.Shared(&sums)
	i := t.ThreadX()
	v := int64(0)
	if i < len(x) {
		v = x[i]
	}
	for n := 1; n < kernel.WarpSize; n *= 2 {
		up := kernel.ShuffleUp(t, v, n)
		if t.Lane() >= n {
			v += up
		}
	}
	if t.Lane() == kernel.WarpSize-1 {
		sums[t.Warp()] = v
	}
	t.Sync()
	for w := range t.Warp() {
		v += sums[w]
	}
	if i < len(y) {
		y[i] = v
	}
}

type point struct{ x, y float64 }

func (p point) plus(q point) point { return point{p.x + q.x, p.y + q.y} }

func (p point) square() point { return point{p.x*p.x - p.y*p.y, 2 * p.x * p.y} }

// mandelbrot uses structs, methods, labels and a switch.
func mandelbrot(t kernel.Thread, width, height int, counts []int32) {
	i := t.Global()
	if i >= width*height {
		return
	}
	c := point{3*float64(i%width)/float64(width) - 2, 2*float64(i/width)/float64(height) - 1}
	var z point
	n := int32(0)
loop:
	for {
		switch {
		case z.x*z.x+z.y*z.y > 4:
			break loop
		case n == 50:
			n = -1
			break loop
		}
		z = z.square().plus(c)
		n++
	}
	counts[i] = n
}

func divmod(a, b int32) (q, r int32) {
	q = a / b
	r = a % b
	return
}

// collatz uses several results, a switch with fallthrough, and an array of a thread.
func collatz(t kernel.Thread, x, y []int32) {
	i := t.Global()
	if i >= len(x) {
		return
	}
	var seen [4]int32
	n := x[i]
	for steps := int32(0); n > 1; steps++ {
		q, r := divmod(n, 2)
		switch r {
		case 1:
			n = 3*n + 1
			fallthrough
		case 7:
			seen[3]++
		default:
			n = q
		}
		seen[steps%3] += n & 3
	}
	copied := seen
	seen[0] = -1
	for k, v := range copied {
		y[i] += int32(k) * v
	}
	for k := range copied[1:3] {
		y[i] ^= copied[k]
	}
}

// votes uses votes and ballots.
func votes(t kernel.Thread, x []int32, y []int32) {
	i := t.Global()
	odd := i < len(x) && x[i]%2 != 0
	ballot := t.Ballot(odd)
	any, all := t.Any(odd), t.All(i < len(x))
	if i >= len(y) {
		return
	}
	y[i] = int32(ballot >> 1)
	if any {
		y[i] += 3
	}
	if all {
		y[i] -= 5
	}
}

// extremes uses the other atomic operations.
func extremes(t kernel.Thread, x []int32, out []int32) {
	if i := t.Global(); i < len(x) {
		kernel.AtomicMin(&out[0], x[i])
		kernel.AtomicMax(&out[1], x[i])
		for {
			old := kernel.AtomicAdd(&out[2], 0)
			if kernel.AtomicCompareAndSwap(&out[2], old, old^x[i]) == old {
				break
			}
		}
	}
}

// stencil computes the mean of the four neighbors, not at the edge.
func stencil(t kernel.Thread, rows, columns int, x, y []float32) {
	i, j := t.GlobalY(), t.Global()
	if i == 0 || j == 0 || i >= rows-1 || j >= columns-1 {
		return
	}
	k := i*columns + j
	y[k] = 0.25 * (x[k-1] + x[k+1] + x[k-columns] + x[k+columns])
}

// positions stores values that depend on the position of a thread in many ways.
func positions(t kernel.Thread, out []int64) {
	i := ((t.GlobalZ()*t.GridDimY()*t.BlockDimY()+t.GlobalY())*t.GridDimX()*t.BlockDimX() + t.Global())
	y, z := t.ThreadY(), t.ThreadZ()
	v := [12]int{
		t.Global() - 3, 5 * y, t.BlockX()*t.BlockDimX() - t.ThreadX(), min(t.ThreadX(), 2*z+1), max(i, 40), i / 7, i % 64, i & 15, i &^ 31,
		t.Warp(), t.Lane() << 2, (t.BlockX() + 4) / (t.BlockY() + 1),
	}
	h := 0
	for k, x := range v {
		h = h*31 + x
		if x < 9*k {
			h ^= k
		}
		if x == t.ThreadX() {
			h++
		}
	}
	if i < len(out) {
		out[i] = int64(h)
	}
	if j := len(out) - 1 - i; j >= len(out)/2 {
		out[j] += int64(v[i%12] * (y + 1))
	}
}

// rounds uses a barrier in a loop, which each block repeats as often as its number says.
func rounds(t kernel.Thread, out []int64) {
	var s [1024]int
	kernel.Shared(&s)
	n := t.BlockDimX() * t.BlockDimY() * t.BlockDimZ()
	me := (t.ThreadZ()*t.BlockDimY()+t.ThreadY())*t.BlockDimX() + t.ThreadX()
	block := (t.BlockZ()*t.GridDimY()+t.BlockY())*t.GridDimX() + t.BlockX()
	s[me] = me + 1
	for r := range block%5 + 1 {
		t.Sync()
		v := s[(me+1)%n] + s[0]
		t.Sync()
		s[me] = v + r
		if me == n-1 {
			s[me] += 7 * r
		}
	}
	t.Sync()
	if i := block*n + me; i < len(out) {
		out[i] = int64(s[n-1-me])
	}
}

// branches assigns to variables in branches and loops that different threads take.
func branches(t kernel.Thread, out []int64) {
	n := t.BlockDimX() * t.BlockDimY() * t.BlockDimZ()
	me := (t.ThreadZ()*t.BlockDimY()+t.ThreadY())*t.BlockDimX() + t.ThreadX()
	i := ((t.BlockZ()*t.GridDimY()+t.BlockY())*t.GridDimX()+t.BlockX())*n + me
	sum, last := 0, i
	for k := 0; k < i%9; k++ {
		switch {
		case k == 3 && i%2 == 0:
			continue
		case k > 6:
			last = k
			break
		case k%2 == me%2:
			sum += k * i
		default:
			sum -= int(clipped(int32(k-2), i))
		}
		if sum > 1000*k+5000 {
			break
		}
		last -= k
	}
	if me%3 == 1 {
		last = 12
	} else if me > n/2 {
		last = n
	}
	if i < len(out) {
		out[i] = int64(sum*100 + last)
	}
}

// clipped returns early.
func clipped(x int32, i int) int32 {
	if x < 0 {
		return -1
	}
	if i%5 == 0 {
		return x << (i % 3)
	}
	return x
}
