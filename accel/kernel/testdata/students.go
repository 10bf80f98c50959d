package main

import (
	"math"

	"github.com/quernlab/quern/accel/kernel"
)

// The kernels of this file use what Go offers as a reader of a first CUDA course would.

type vec struct{ x, y, z float32 }

func (a vec) minus(b vec) vec          { return vec{a.x - b.x, a.y - b.y, a.z - b.z} }
func (a vec) dot(b vec) float32        { return a.x*b.x + a.y*b.y + a.z*b.z }
func (a vec) scaled(f float32) (b vec) { b.x, b.y, b.z = f*a.x, f*a.y, f*a.z; return }

type body struct {
	vec
	mass float32
	kind [2]int32
}

// nbody uses a shared array of structs, with an embedded one and an array in each.
func nbody(t kernel.Thread, positions, forces []float32) {
	var bodies [64]body
	kernel.Shared(&bodies)
	i, n := t.ThreadX(), len(positions)/3
	if i < n {
		bodies[i] = body{vec: vec{positions[3*i], positions[3*i+1], positions[3*i+2]}, mass: 1, kind: [2]int32{1: int32(i)}}
		bodies[i].mass += float32(bodies[i].kind[1]%3) / 4
	}
	t.Sync()
	if i >= n {
		return
	}
	me := bodies[i]
	var force vec
	for _, other := range bodies[:n] {
		if other.kind == me.kind {
			continue
		}
		d := other.minus(me.vec)
		f := d.scaled(other.mass / (1 + d.dot(d)))
		force.x += f.x
		force.y, force.z = force.y+f.y, force.z+f.z
	}
	forces[3*i], forces[3*i+1], forces[3*i+2] = force.x, force.y, force.z
}

type matrix struct {
	rows, columns int
	data          []float32
}

func (m matrix) row(i int) []float32 { return m.data[i*m.columns:][:m.columns] }

// gemv uses a struct with a slice, and a method that returns one.
func gemv(t kernel.Thread, columns int, a, x, y []float32) {
	m := matrix{len(y), columns, a}
	i := t.Global()
	if i >= m.rows {
		return
	}
	sum := float32(0)
	for j, v := range m.row(i) {
		sum += v * x[j]
	}
	y[i] = sum
}

// life computes a step of Conway's game on a torus.
func life(t kernel.Thread, width, height int, cells, next []uint8) {
	x, y := t.Global(), t.GlobalY()
	if x >= width || y >= height {
		return
	}
	n := uint8(0)
	for dy := -1; dy <= 1; dy++ {
		for dx := -1; dx <= 1; dx++ {
			if dx != 0 || dy != 0 {
				n += cells[(y+dy+height)%height*width+(x+dx+width)%width]
			}
		}
	}
	alive := cells[y*width+x] == 1
	next[y*width+x] = uint8(0)
	if n == 3 || alive && n == 2 {
		next[y*width+x] = 1
	}
}

// bitonic sorts 128 elements in shared memory.
func bitonic(t kernel.Thread, x []int32) {
	var s [128]int32
	kernel.Shared(&s)
	i := t.ThreadX()
	s[i] = x[i]
	t.Sync()
	for size := 2; size <= len(s); size *= 2 {
		for step := size / 2; step > 0; step /= 2 {
			if j := i ^ step; j > i && (s[i] > s[j]) == (i&size == 0) {
				s[i], s[j] = s[j], s[i]
			}
			t.Sync()
		}
	}
	x[i] = s[i]
}

// gray converts an image with three channels to one.
func gray(t kernel.Thread, image, out []uint8) {
	weights := [...]float32{0.299, 0.587, 0.114}
	i := t.Global()
	if i >= len(out) {
		return
	}
	pixel := image[3*i : 3*i+3]
	sum := float32(0.5)
	for c, w := range weights {
		sum += w * float32(pixel[c])
	}
	out[i] = uint8(sum)
}

// primes marks prime numbers.
func primes(t kernel.Thread, out []bool) {
	n := t.Global()
	if n >= len(out) {
		return
	}
	out[n] = n >= 2
search:
	for _, small := range [4]int{2, 3, 5, 7} {
		for k := small; k < n; k += small {
			if n%k == 0 {
				out[n] = false
				break search
			}
			if k > 40 {
				continue search
			}
		}
	}
}

// scan computes prefix sums of a block in two buffers (Hillis and Steele).
func scan(t kernel.Thread, x, y []float32) {
	var buffers [2][128]float32
	kernel.Shared(&buffers)
	i, from := t.ThreadX(), 0
	buffers[0][i] = x[i]
	t.Sync()
	for n := 1; n < 128; n *= 2 {
		v := buffers[from][i]
		if i >= n {
			v += buffers[from][i-n]
		}
		from = 1 - from
		buffers[from][i] = v
		t.Sync()
	}
	y[i] = buffers[from][i]
}

type best struct {
	value float32
	at    int32
}

func (b best) or(c best) best {
	if c.value > b.value || c.value == b.value && c.at < b.at {
		return c
	}
	return b
}

// rowArgMax finds the largest element of a row by shuffles of a struct's fields.
func rowArgMax(t kernel.Thread, columns int, x []float32, at []int32) {
	row := x[t.BlockX()*columns : (t.BlockX()+1)*columns]
	b := best{float32(math.Inf(-1)), 0}
	for j := t.Lane(); j < columns; j += kernel.WarpSize {
		b = b.or(best{row[j], int32(j)})
	}
	for n := kernel.WarpSize / 2; n > 0; n /= 2 {
		b = b.or(best{kernel.ShuffleDown(t, b.value, n), kernel.ShuffleDown(t, b.at, n)})
	}
	if t.Lane() == 0 {
		at[t.BlockX()] = b.at
	}
}

type generator uint32

func (g generator) next() (generator, float32) {
	g ^= g << 13
	g ^= g >> 17
	g ^= g << 5
	return g, float32(g>>8) / (1 << 24)
}

// pi counts random points in a circle.
func pi(t kernel.Thread, n int, inside []int32) {
	g := generator(t.Global()*7919 + 1)
	var x, y float32
	hits := int32(0)
	for range n {
		g, x = g.next()
		g, y = g.next()
		if x*x+y*y < 1 {
			hits++
		}
	}
	inside[t.Global()] = hits
}

type state int

const (
	outside state = iota
	word
	number
)

// tokens counts words and numbers in a text of bytes, a line of 16 for each thread.
func tokens(t kernel.Thread, text []uint8, counts []int32) {
	const line = 16
	i := t.Global()
	if (i+1)*line > len(text) {
		return
	}
	var s state
	var found [number + 1]int32
	for _, c := range text[i*line:][:line] {
		next := outside
		switch {
		case c >= 'a' && c <= 'z':
			next = word
		case c >= '0' && c <= '9':
			if next = number; s == word {
				next = word
			}
		}
		if next != s {
			found[next]++
			s = next
		}
	}
	counts[2*i], counts[2*i+1] = found[word], found[number]
}

func sorted[T int32 | float32, S [5]T](x S) S {
	for i := 1; i < len(x); i++ {
		for j := i; j > 0 && x[j-1] > x[j]; j-- {
			x[j-1], x[j] = x[j], x[j-1]
		}
	}
	return x
}

// median uses a generic function that sorts an array, which is a value.
func median(t kernel.Thread, x, y []float32) {
	i := t.Global()
	if i >= len(x) {
		return
	}
	var window [5]float32
	for k := range window {
		window[k] = x[min(max(i+k-2, 0), len(x)-1)]
	}
	y[i] = sorted[float32](window)[2] + 0*window[4]
}

// blur reads a tile with a border into shared memory.
func blur(t kernel.Thread, width, height int, x, y []float32) {
	const size = 8
	type cell struct {
		value float32
		valid bool
	}
	var tile [size + 2][size + 2]cell
	kernel.Shared(&tile)
	for k := t.ThreadY()*size + t.ThreadX(); k < len(tile)*len(tile[0]); k += size * size {
		i, j := t.BlockY()*size+k/len(tile)-1, t.BlockX()*size+k%len(tile)-1
		if i >= 0 && i < height && j >= 0 && j < width {
			tile[k/len(tile)][k%len(tile)] = cell{x[i*width+j], true}
		} else {
			tile[k/len(tile)][k%len(tile)] = cell{}
		}
	}
	t.Sync()
	sum, n := float32(0), float32(0)
	for di := range 3 {
		row := tile[t.ThreadY()+di][:]
		for _, c := range row[t.ThreadX():][:3] {
			if c.valid {
				sum, n = sum+c.value, n+1
			}
		}
	}
	if i, j := t.GlobalY(), t.Global(); i < height && j < width {
		y[i*width+j] = sum / n
	}
}

// bins adds atomically to fields of shared structs.
func bins(t kernel.Thread, x []int32, out []int32) {
	var stats [4]struct{ count, sum int32 }
	kernel.Shared(&stats)
	i := t.ThreadX()
	if i < len(stats) {
		stats[i].count, stats[i].sum = 0, 0
	}
	t.Sync()
	if g := t.Global(); g < len(x) {
		bin := x[g] & 3
		kernel.AtomicAdd(&stats[bin].count, 1)
		kernel.AtomicAdd(&stats[bin].sum, x[g])
	}
	t.Sync()
	if i < len(stats) {
		kernel.AtomicAdd(&out[2*i], stats[i].count)
		kernel.AtomicAdd(&out[2*i+1], stats[i].sum)
	}
}

// popcount counts bits, with unsigned arithmetic.
func popcount(t kernel.Thread, x, y []int64) {
	if i := t.Global(); i < len(x) {
		n := 0
		for v := uint64(x[i]); v != 0; v &= v - 1 {
			n++
		}
		y[i] = int64(n)
	}
}

// heat is a step of the heat equation in three dimensions.
func heat(t kernel.Thread, n int, x, y []float32) {
	i, j, k := t.GlobalZ(), t.GlobalY(), t.Global()
	if max(i, j, k) >= n {
		return
	}
	at := (i*n+j)*n + k
	inside := i > 0 && j > 0 && k > 0 && i < n-1 && j < n-1 && k < n-1
	if y[at] = x[at]; inside {
		y[at] += 0.125 * (x[at-1] + x[at+1] + x[at-n] + x[at+n] + x[at-n*n] + x[at+n*n] - 6*x[at])
	}
}

// horner evaluates a polynomial in float64.
func horner(t kernel.Thread, x, y []float64) {
	if i := t.Global(); i < len(x) {
		y[i] = polynomial([4]float64{1, -0.5, 0.25, math.Pi}, x[i])
	}
}

func polynomial(coefficients [4]float64, x float64) (y float64) {
	for i := len(coefficients) - 1; i >= 0; i-- {
		y = y*x + coefficients[i]
	}
	return
}

// particles moves structs in an array of the thread.
func particles(t kernel.Thread, steps int, x []float32, energy []float32) {
	type particle struct{ position, velocity float32 }
	i := t.Global()
	if i >= len(energy) {
		return
	}
	var all [3]particle
	for k := range all {
		all[k] = particle{position: x[3*i+k]}
	}
	for range steps {
		before := all
		for k, p := range before {
			left := before[(k+2)%3]
			p.velocity += (left.position - p.position) / 8
			p.position += p.velocity
			all[k] = p
		}
		all[0], all[2] = all[2], all[0]
	}
	for _, p := range all[1:] {
		energy[i] += p.velocity*p.velocity + p.position
	}
	if before := [3]particle{2: {1, 2}}; before == all {
		energy[i] = -1
	}
}
