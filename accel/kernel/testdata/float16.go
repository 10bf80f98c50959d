package main

import "github.com/quernlab/quern/accel/kernel"

func widen16(t kernel.Thread, x []kernel.Float16, y []float32) {
	if i := t.Global(); i < len(y) {
		y[i] = x[i].Float32()
	}
}

func widenB16(t kernel.Thread, x []kernel.BFloat16, y []float32) {
	if i := t.Global(); i < len(y) {
		y[i] = x[i].Float32()
	}
}

func narrow16(t kernel.Thread, x []float32, y []kernel.Float16) {
	if i := t.Global(); i < len(y) {
		y[i] = kernel.ToFloat16(x[i])
	}
}

func narrowB16(t kernel.Thread, x []float32, y []kernel.BFloat16) {
	if i := t.Global(); i < len(y) {
		y[i] = kernel.ToBFloat16(x[i])
	}
}

// reversed16 has 16-bit floats in shared memory, in variables and as results of a function.
func reversed16(t kernel.Thread, x, y []kernel.BFloat16) {
	var part [64]kernel.BFloat16
	kernel.Shared(&part)
	i := t.ThreadX()
	part[i] = kernel.BFloat16{}
	if i < len(x) {
		part[i] = x[i]
	}
	t.Sync()
	if i < len(y) {
		v := doubled(part[len(y)-1-i])
		y[i] = v
	}
}

func doubled(x kernel.BFloat16) kernel.BFloat16 { return kernel.ToBFloat16(2 * x.Float32()) }

func squareB16(t kernel.Thread, x, y []kernel.BFloat16) {
	if i := t.Global(); i < len(y) {
		v := x[i].Float32()
		y[i] = kernel.ToBFloat16(v * v)
	}
}

func squareB16Gradient(t kernel.Thread, x, dy, dx []kernel.BFloat16) {
	if i := t.Global(); i < len(dx) {
		dx[i] = kernel.ToBFloat16(2 * x[i].Float32() * dy[i].Float32())
	}
}
