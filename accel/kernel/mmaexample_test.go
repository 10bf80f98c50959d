package kernel_test

import (
	"fmt"

	"github.com/quernlab/quern/accel/kernel"
	"github.com/quernlab/quern/accel/tensor"
)

// A warp multiplies a matrix of 16 rows and 8 columns by one of 8 and 8.
func ExampleMMATF32() {
	const text = `package main

import "github.com/quernlab/quern/accel/kernel"

func product(t kernel.Thread, x, y, z []float32) {
	g, q := t.Lane()/4, t.Lane()%4
	var a, sum [4]float32
	var b [2]float32
	for i := range a {
		a[i] = x[(g+8*(i%2))*8+q+4*(i/2)]
	}
	for i := range b {
		b[i] = y[(q+4*i)*8+g]
	}
	sum = kernel.MMATF32(t, a, b, sum)
	for i := range sum {
		z[(g+8*(i/2))*8+2*q+i%2] = sum[i]
	}
}`
	k, err := kernel.Compile(kernel.Source(text, "product"))
	if err != nil {
		fmt.Println(err)
		return
	}
	x, y, z := tensor.Ones(16, 8), tensor.Full(0.25, 8, 8), tensor.Zeros(16, 8)
	err = k.Launch(kernel.Grid(32, 32), x, y, z)
	fmt.Println(z.Data()[0], z.Data()[127], err)
	// Output: 2 2 <nil>
}
