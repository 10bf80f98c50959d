package kernel_test

import (
	"testing"

	"github.com/quernlab/quern/accel/kernel"
	"github.com/quernlab/quern/accel/tensor"
)

func TestMethodsOfGenericTypes(t *testing.T) {
	text := `package main

import "github.com/quernlab/quern/accel/kernel"

type pair[T float32 | int32] struct{ a, b T }

func (p pair[T]) sum() T { return p.a + p.b }

func (p pair[T]) times(x T) pair[T] { return pair[T]{p.a * x, p.b * x} }

func (p pair[T]) twice() T { return p.times(2).sum() }

func k(t kernel.Thread, x []float32, n []int32) {
	i := t.Global()
	p := pair[float32]{x[i], 0.5}
	x[i] = p.twice() + p.times(3).a
	n[i] = pair[int32]{n[i], 1}.twice()
}
`
	k, err := kernel.Compile(kernel.Source(text, "k"))
	if err != nil {
		t.Fatal(err)
	}
	x, n := tensor.New([]float32{1, 2, 4}, 3), tensor.FromRaw(tensor.Int32, []byte{1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0}, 3)
	if err := k.Launch(kernel.Grid(3, 3), x, n); err != nil {
		t.Fatal(err)
	}
	if got := x.Data(); got[0] != 6 || got[1] != 11 || got[2] != 21 {
		t.Error(got)
	}
	if got := n.Float64s(); got[0] != 4 || got[1] != 6 || got[2] != 8 {
		t.Error(got)
	}
}
