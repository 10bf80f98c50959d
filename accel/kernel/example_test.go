package kernel_test

import (
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
