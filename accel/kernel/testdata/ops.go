package main

import (
	"math"

	"github.com/quernlab/quern/accel/kernel"
)

// Kernels of operations, and those of their gradients.

func square(t kernel.Thread, x, y []float32) {
	if i := t.Global(); i < len(y) {
		y[i] = x[i] * x[i]
	}
}

func squareGradient(t kernel.Thread, dy, x, dx []float32) {
	if i := t.Global(); i < len(dx) {
		dx[i] = 2 * x[i] * dy[i]
	}
}

func square64(t kernel.Thread, x, y []float64) {
	if i := t.Global(); i < len(y) {
		y[i] = x[i] * x[i]
	}
}

func square64Gradient(t kernel.Thread, x, dy, dx []float64) {
	if i := t.Global(); i < len(dx) {
		dx[i] = 2 * x[i] * dy[i]
	}
}

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
	sum = total(t, sum)
	for j := t.Lane(); j < columns; j += 32 {
		y[t.BlockX()*columns+j] = float32(math.Exp(float64(row[j]-top))) / sum
	}
}

func softmaxGradient(t kernel.Thread, columns int, y, dy, dx []float32) {
	begin := t.BlockX() * columns
	sum := float32(0)
	for j := begin + t.Lane(); j < begin+columns; j += 32 {
		sum += y[j] * dy[j]
	}
	sum = total(t, sum)
	for j := begin + t.Lane(); j < begin+columns; j += 32 {
		dx[j] = y[j] * (dy[j] - sum)
	}
}

func total(t kernel.Thread, v float32) float32 {
	for n := 16; n > 0; n /= 2 {
		v += kernel.ShuffleXor(t, v, n)
	}
	return v
}

// scale multiplies the columns of x, one weight for each.
func scale(t kernel.Thread, x, w, y []float32) {
	if i := t.Global(); i < len(y) {
		y[i] = x[i] * w[i%len(w)]
	}
}

func scaleInputGradient(t kernel.Thread, w, dy, dx []float32) {
	if i := t.Global(); i < len(dx) {
		dx[i] = dy[i] * w[i%len(w)]
	}
}

func scaleWeightGradient(t kernel.Thread, x, dy, dw []float32) {
	if i := t.Global(); i < len(x) {
		kernel.AtomicAdd(&dw[i%len(dw)], x[i]*dy[i]) // dw is 0 when the kernel begins
	}
}

// rows sums the rows of x that a mask selects, with weights of integers.
func rows(t kernel.Thread, x []float32, weight []int32, mask []bool, y []float32) {
	if i := t.Global(); i < len(y) {
		n := len(x) / len(y)
		for j := range n {
			if mask[i] {
				y[i] += x[i*n+j] * float32(weight[j])
			}
		}
	}
}

func rowsGradient(t kernel.Thread, weight []int32, mask []bool, dy, dx []float32) {
	if i := t.Global(); i < len(dx) {
		n := len(dx) / len(dy)
		if mask[i/n] {
			dx[i] = dy[i/n] * float32(weight[i%n])
		}
	}
}

// positive faults for a negative element.
func positive(t kernel.Thread, x, y []float32) {
	if i := t.Global(); i < len(y) {
		if x[i] < 0 {
			panic("negative")
		}
		y[i] = x[i]
	}
}

func positiveGradient(t kernel.Thread, dy, dx []float32) {
	if i := t.Global(); i < len(dx) {
		dx[i] = dy[i]
	}
}

func both(t kernel.Thread, x, y, z []float32)                       { y[0], z[0] = x[0], x[0] }
func nothing(t kernel.Thread, x []float32)                          { _ = x }
func overwrites(t kernel.Thread, x, dy, dx []float32)               { x[0], dx[0] = 1, dy[0] }
func unknown(t kernel.Thread, other, dy, dx []float32)              { dx[0] = other[0] }
func otherType(t kernel.Thread, dy, dx []float64)                   { dx[0] = dy[0] }
func unwritten(t kernel.Thread, dy, dx []float32)                   { _ = dy[0] + dx[0] }
func gradients(t kernel.Thread, dy, dx, dw []float32)               { dx[0], dw[0] = dy[0], dy[0] }
func noGradient(t kernel.Thread, dy []float32)                      { _ = dy }
func weightGradient(t kernel.Thread, dy []float32, dweight []int32) { dweight[0] = 1 }
func ambiguous(t kernel.Thread, x, dx, y []float32)                 { y[0] = x[0] + dx[0] }
func generated(t kernel.Thread, y []float32)                        { y[t.Global()] = float32(t.Global()) }

// racing reads a shared array that other threads write, without a barrier.
func racing(t kernel.Thread, x, y []float32) {
	var part [64]float32
	kernel.Shared(&part)
	i := t.ThreadX()
	part[i] = x[i]
	y[i] = part[63-i]
}

// wait is endless for numbers below 0.
func wait(t kernel.Thread, x, y []float32) {
	i := t.Global()
	for i < len(y) && x[i] < 0 {
	}
	if i < len(y) {
		y[i] = x[i]
	}
}

func waitGradient(t kernel.Thread, dy, dx []float32) {
	if i := t.Global(); i < len(dx) {
		dx[i] = dy[i]
	}
}
