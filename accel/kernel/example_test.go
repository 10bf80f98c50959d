package kernel_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/quernlab/quern/accel/kernel"
	"github.com/quernlab/quern/accel/tensor"
)

// In a cell, Compile takes the function itself.
func ExampleCompile() {
	const text = `package main

import "github.com/quernlab/quern/accel/kernel"

func saxpy(t kernel.Thread, a float32, x, y []float32) {
	if i := t.Global(); i < len(y) {
		y[i] += a * x[i]
	}
}`
	k, err := kernel.Compile(kernel.Source(text, "saxpy"))
	if err != nil {
		fmt.Println(err)
		return
	}
	x, y := tensor.New([]float32{1, 2, 3}, 3), tensor.Ones(3)
	err = k.Launch(kernel.Grid(3, 256), float32(10), x, y)
	fmt.Println(y.Data(), err)
	// Output: [11 21 31] <nil>
}

// Two threads of a block write the same element.
func ExampleCheck() {
	const text = `package main

import "github.com/quernlab/quern/accel/kernel"

func count(t kernel.Thread, x []float32, n []int32) {
	if x[t.Global()] > 0 {
		n[0]++ // kernel.AtomicAdd(&n[0], 1) is right
	}
}`
	k, err := kernel.Compile(kernel.Source(text, "count"))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = kernel.Check(k, kernel.Grid(64, 64), tensor.Ones(64), tensor.Zeros(1).Cast(tensor.Int32))
	fmt.Println(err)
	// Output: kernel count: kernel.go:7: race for an element of a slice: thread [1 0 0] of block [0 0 0] reads it at kernel.go:7, and no barrier is in between, in thread [0 0 0] of block [0 0 0]
}

// The gradient of an operation is a kernel, too. Its parameters have the names of the operation's: it computes dx from x and dy.
func ExampleOp() {
	const text = `package main

import "github.com/quernlab/quern/accel/kernel"

func cube(t kernel.Thread, x, y []float32) {
	if i := t.Global(); i < len(y) {
		y[i] = x[i] * x[i] * x[i]
	}
}

func cubeGradient(t kernel.Thread, x, dy, dx []float32) {
	if i := t.Global(); i < len(dx) {
		dx[i] = 3 * x[i] * x[i] * dy[i]
	}
}`
	forward, err := kernel.Compile(kernel.Source(text, "cube"))
	backward, wrong := kernel.Compile(kernel.Source(text, "cubeGradient"))
	if err != nil || wrong != nil {
		fmt.Println(err, wrong)
		return
	}
	cube, err := kernel.Op(forward, kernel.Gradient(backward))
	if err != nil {
		fmt.Println(err)
		return
	}
	x := tensor.Parameter(tensor.New([]float32{1, 2, 3}, 3))
	y := cube.Apply(x)
	y.Sum().Backward()
	fmt.Println(y.Data(), x.Grad().Data())
	// Output: [1 8 27] [3 12 27]
}

// The sum of each row: the result has another shape than the input, and a warp computes an element of it.
func ExampleOutput() {
	const text = `package main

import "github.com/quernlab/quern/accel/kernel"

func rowSums(t kernel.Thread, x, y []float32) {
	n := len(x) / len(y)
	row := x[t.BlockX()*n:][:n]
	sum := float32(0)
	for j := t.Lane(); j < n; j += kernel.WarpSize {
		sum += row[j]
	}
	for m := 16; m > 0; m /= 2 {
		sum += kernel.ShuffleXor(t, sum, m)
	}
	if t.Lane() == 0 {
		y[t.BlockX()] = sum
	}
}`
	k, err := kernel.Compile(kernel.Source(text, "rowSums"))
	if err != nil {
		fmt.Println(err)
		return
	}
	sums, err := kernel.Op(k,
		kernel.Output(func(in ...[]int) ([]int, error) {
			if len(in[0]) != 2 {
				return nil, errors.New("the input must have two dimensions")
			}
			return in[0][:1], nil
		}),
		kernel.Threads(func(shape []int) kernel.Shape { return kernel.Grid(shape[0]*kernel.WarpSize, kernel.WarpSize) }))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(sums.Apply(tensor.New([]float32{1, 2, 3, 4, 5, 6}, 2, 3)).Data())
	// Output: [6 15]
}

// A kernel that converts 16-bit floats of one type to the other.
func ExampleBFloat16() {
	const text = `package main

import "github.com/quernlab/quern/accel/kernel"

func convert(t kernel.Thread, x []kernel.BFloat16, y []kernel.Float16) {
	if i := t.Global(); i < len(y) {
		y[i] = kernel.ToFloat16(x[i].Float32())
	}
}

func double(t kernel.Thread, x []kernel.BFloat16) {
	if i := t.Global(); i < len(x) {
		x[i] = kernel.ToBFloat16(2 * x[i].Float32())
	}
}`
	convert, err := kernel.Compile(kernel.Source(text, "convert"))
	double, wrong := kernel.Compile(kernel.Source(text, "double"))
	if err != nil || wrong != nil {
		fmt.Println(err, wrong)
		return
	}
	x := tensor.New([]float32{1.5, -2, 1e6}, 3).Cast(tensor.BFloat16)
	y := tensor.Zeros(3).Cast(tensor.Float16)
	err = errors.Join(double.Launch(kernel.Grid(3, 32), x), convert.Launch(kernel.Grid(3, 32), x, y))
	fmt.Println(y.Float64s(), err)
	// Output: [3 -4 +Inf] <nil>
}

// What a kernel does, counted. On a GPU the report also has the time, the bandwidth, and the occupancy.
func ExampleProfile() {
	const text = `package main

import "github.com/quernlab/quern/accel/kernel"

func double(t kernel.Thread, x, y []float32) {
	if i := t.Global(); i < len(y) {
		y[i] = 2 * x[i]
	}
}`
	k, err := kernel.Compile(kernel.Source(text, "double"))
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := kernel.Profile(k, kernel.Grid(1000, 256), tensor.Ones(1000), tensor.Zeros(1000))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.FLOPs, p.Work.Loaded, p.Work.Stored, p.Bytes)
	// Output: 1000 4000 4000 8000
}

// The kernel never ends. Its context has ended when it runs.
func ExampleContext() {
	const text = `package main

import "github.com/quernlab/quern/accel/kernel"

func endless(t kernel.Thread, x, y []float32) {
	for x[0] > 0 {
	}
	y[0] = x[0]
}`
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	k, err := kernel.Compile(kernel.Source(text, "endless"))
	if err != nil {
		fmt.Println(err)
		return
	}
	op, err := kernel.Op(k, kernel.Context(func() context.Context { return ctx }))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { fmt.Println(recover()) }()
	op.Apply(tensor.Ones(4)).Data()
	// Output: context canceled
}
