package tensor_test

import (
	"fmt"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// The weights of a layer of your own come from the generator of initial weights, so that they do not depend on
// other random numbers that were drawn before.
func ExampleWeightGenerator() {
	weight := tensor.Parameter(tensor.Uniform(tensor.WeightGenerator(), -0.1, 0.1, 4, 3))
	fmt.Println(weight.Shape(), weight.RequiresGrad())
	// Output: [4 3] true
}

// A layer of your own learns how long the sequences of its batch are.
func ExampleLengths() {
	model := nn.Lambda(func(x *nn.Tensor) *nn.Tensor {
		lengths, positions := tensor.Lengths()
		fmt.Println(lengths.Ints(), "of", positions)
		return x
	})
	tensor.WithLengths(tensor.FromInts([]int{1, 3}, 2), 3, func() { model.Forward(tensor.Ones(2, 3, 8)) })
	// Output: [1 3] of 3
}

// Two sequences, of two and three tokens, are packed in one row.
func ExamplePositions() {
	tensor.WithPositions(tensor.FromInts([]int{0, 1, 0, 1, 2}, 1, 5), func() {
		fmt.Println(tensor.Positions().Ints())
	})
	// Output: [0 1 0 1 2]
}

// The second query attends to both keys, the first one only to its own.
func ExampleAttentionWeights() {
	queries, keys := tensor.Ones(1, 1, 2, 4), tensor.Ones(1, 1, 2, 4)
	weights := tensor.AttentionWeights(queries, keys, tensor.AttentionMask{Causal: true})
	fmt.Println(weights.Data())
	// Output: [1 0 0.5 0.5]
}

func ExampleFindNonFinite() {
	x := tensor.New([]float32{1, 0}, 2)
	found := tensor.FindNonFinite(func() { x.Log().Sum().Item() })
	fmt.Println(found.Op, found.Element, found.Value)
	// Output: Log 1 -Inf
}

// The gradient of a parameter can be replaced, for example to limit it, before an optimizer uses it.
func ExampleTensor_SetGrad() {
	w := tensor.Parameter(tensor.New([]float32{3, -5}, 2))
	w.Square().Sum().Backward()
	w.SetGrad(w.Grad().Clamp(-8, 8))
	fmt.Println(w.Grad().Data())
	// Output: [6 -8]
}

// Raw and FromRaw exchange elements of any type with files.
func ExampleTensor_Raw() {
	b := tensor.FromInts([]int{1, 256}, 2).Raw()
	fmt.Println(b, tensor.FromRaw(tensor.Int32, b, 2).Ints())
	// Output: [1 0 0 0 0 1 0 0] [1 256]
}

func ExampleDType() {
	for _, d := range []tensor.DType{tensor.Float32, tensor.BFloat16, tensor.Int64} {
		fmt.Println(d, d.Size(), d.IsFloat(), d.Is16Bit())
	}
	// Output:
	// float32 4 true false
	// bfloat16 2 true true
	// int64 8 false false
}
