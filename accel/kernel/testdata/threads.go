package main

import "github.com/quernlab/quern/accel/kernel"

// Kernels whose threads work together in ways that are easily got wrong: TestThreads has what they compute.

func partialShuffles(t kernel.Thread, out []int32) {
	i := t.Global()
	v := int32(100 + i)
	sum := kernel.ShuffleDown(t, v, 3) + 1000*kernel.ShuffleUp(t, v, 2)
	sum += 1_000_000 * (kernel.ShuffleXor(t, v, 5) + kernel.Shuffle(t, v, 6) + kernel.Shuffle(t, v, 31))
	out[i] = sum
}

func partialVotes(t kernel.Thread, out []int64) {
	i := t.Global()
	n := int64(t.Ballot(i%3 == 0)) << 8
	if t.Any(i == 37) {
		n++
	}
	if t.All(i < 32) {
		n += 2
	}
	if t.Lane() == 0 && t.Warp() == 1 {
		n += 4
	}
	out[i] = n
}

type cell struct {
	weight float32
	at     [2]int32
	full   bool
}

func sharedStructs(t kernel.Thread, out []float32) {
	var cells [64]cell
	kernel.Shared(&cells)
	i := t.ThreadX()
	cells[i] = cell{float32(i), [2]int32{int32(i), int32(2 * i)}, i%2 == 0}
	t.Sync()
	c := cells[(i+1)%64]
	cells2 := cells[63-i].at
	if c.full {
		c.weight = -c.weight
	}
	out[t.Global()] = c.weight + float32(c.at[1]*1000+cells2[0])
}

func earlyReturn(t kernel.Thread, n int, out []int32) {
	var s [64]int32
	kernel.Shared(&s)
	i := t.ThreadX()
	s[i] = int32(i)
	if i >= n {
		return
	}
	t.Sync()
	if i%2 == 0 {
		out[i] = s[i+1]
		return
	}
	out[i] = s[i-1] + 100
}

func position(t kernel.Thread, out []int64) {
	nx, ny := t.BlockDimX()*t.GridDimX(), t.BlockDimY()*t.GridDimY()
	i := (t.GlobalZ()*ny+t.GlobalY())*nx + t.Global()
	out[i] = int64(((t.BlockX()*10+t.BlockY())*10+t.BlockZ())*100000 + t.Warp()*1000 + t.Lane())
}

func atomics32(t kernel.Thread, out []int32) {
	var bits [3]uint32
	kernel.Shared(&bits)
	i := t.ThreadX()
	if i < 3 {
		bits[i] = uint32(i) << 31 >> 31 * 0xffffffff
	}
	t.Sync()
	kernel.AtomicAdd(&bits[0], 0x8000_0001)
	kernel.AtomicMin(&bits[1], uint32(i)+0x9000_0000)
	kernel.AtomicMax(&bits[2], uint32(i)+0x9000_0000)
	kernel.AtomicAdd(&out[3], -int32(i))
	kernel.AtomicMin(&out[4], int32(i)-10)
	kernel.AtomicMax(&out[5], int32(i)-100)
	for { // a sum by compare and swap
		old := kernel.AtomicAdd(&out[6], 0)
		if kernel.AtomicCompareAndSwap(&out[6], old, old+2) == old {
			break
		}
	}
	t.Sync()
	if i < 3 {
		out[i] = int32(bits[i])
	}
}

func atomicsFloat(t kernel.Thread, x []float32, y []float64) {
	i := t.Global()
	kernel.AtomicAdd(&x[i%2], float32(i))
	before := kernel.AtomicAdd(&y[0], 0.5)
	kernel.AtomicAdd(&y[1], before*0+float64(i))
}

func empty(t kernel.Thread, x []float32, out []int32) {
	for range x {
		out[0] = -1
	}
	y := x[:0:0]
	for i := range x[len(x):] {
		out[i] = -2
	}
	if t.Global() == 0 {
		out[0] += int32(len(x)*100 + len(y)*10 + cap(x[0:]) + 7)
	}
}

func grids(t kernel.Thread, out []int32) {
	kernel.AtomicAdd(&out[0], 1)
	if t.Global() < 0 || t.ThreadX() >= t.BlockDimX() || t.BlockZ() >= t.GridDimZ() {
		out[1] = 1
	}
}

func waves(t kernel.Thread, out []int32) { // barriers in a loop whose number of iterations is the same for all
	var s [2][33]int32
	kernel.Shared(&s)
	i := t.ThreadX()
	s[0][i] = int32(i)
	t.Sync()
	for k := range 5 {
		s[1-k%2][i] = s[k%2][(i+1)%33] + int32(k)
		t.Sync()
	}
	out[i] = s[1][i]
}
