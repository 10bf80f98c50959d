package tensor_test

import (
	"fmt"
	"math"

	"github.com/quernlab/quern/accel/tensor"
)

// Shapes of operands are aligned at their ends, and a size of 1 is repeated.
func ExampleTensor_Add() {
	rows := tensor.New([]float32{0, 10}, 2, 1)
	columns := tensor.New([]float32{1, 2, 3}, 3)
	fmt.Println(rows.Add(columns))
	// Output:
	// float32[2×3]
	// [[1 2 3]
	//  [11 12 13]]
}

func ExampleArange() {
	fmt.Println(tensor.Arange(0, 2, 0.5, tensor.Float32).Data())
	// Output: [0 0.5 1 1.5]
}

// The axes that are named are removed; without an axis, all are.
func ExampleTensor_Sum() {
	x := tensor.New([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(x.Sum(0).Data(), x.Sum(1).Data(), x.Sum().Item())
	// Output: [5 7 9] [6 15] 21
}

func ExampleTensor_Mean() {
	x := tensor.New([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(x.Mean(0).Data(), x.Mean().Item())
	// Output: [2.5 3.5 4.5] 3.5
}

// The variance of a sample divides by one less than the number of values: correction 1.
func ExampleTensor_Var() {
	x := tensor.New([]float32{2, 4, 4, 4, 5, 5, 7, 9}, 8)
	fmt.Printf("%.3f %.3f\n", x.Var(0).Item(), x.Var(1).Item())
	// Output: 4.000 4.571
}

// The length of a vector.
func ExampleTensor_Norm() {
	fmt.Println(tensor.New([]float32{3, 4}, 2).Norm().Item())
	// Output: 5
}

func ExampleTensor_ArgMax() {
	scores := tensor.New([]float32{0.1, 0.7, 0.2, 0.5, 0.2, 0.3}, 2, 3)
	fmt.Println(scores.ArgMax(1).Ints())
	// Output: [1 0]
}

func ExampleTensor_MatMul() {
	a := tensor.New([]float32{1, 2, 3, 4}, 2, 2)
	b := tensor.New([]float32{1, 1, 0, 2}, 2, 2)
	fmt.Println(a.MatMul(b))
	// Output:
	// float32[2×2]
	// [[1 5]
	//  [3 11]]
}

// Backward computes the gradient of x² + 3x, which is 2x + 3.
func ExampleTensor_Backward() {
	x := tensor.Parameter(tensor.Full(5, 1))
	x.Square().Add(x.MulScalar(3)).Sum().Backward()
	fmt.Println(x.Grad().Item())
	// Output: 13
}

// Detach cuts a value off from its computation: its gradient does not reach x.
func ExampleTensor_Detach() {
	x := tensor.Parameter(tensor.Full(5, 1))
	x.Mul(x.Detach()).Sum().Backward()
	fmt.Println(x.Grad().Item()) // of 5x, not of x²
	// Output: 5
}

// What is computed in NoGrad has no gradient, for instance an update of parameters.
func ExampleNoGrad() {
	w := tensor.Parameter(tensor.Ones(2))
	fmt.Println(w.MulScalar(2).RequiresGrad())
	tensor.NoGrad(func() { fmt.Println(w.MulScalar(2).RequiresGrad()) })
	// Output:
	// true
	// false
}

func ExampleTensor_Reshape() {
	x := tensor.Arange(0, 6, 1, tensor.Float32)
	fmt.Println(x.Reshape(2, 3).Shape(), x.Reshape(3, -1).Shape())
	// Output: [2 3] [3 2]
}

func ExampleTensor_Permute() {
	images := tensor.Zeros(8, 28, 20, 3) // batch, height, width, color
	fmt.Println(images.Permute(0, 3, 1, 2).Shape())
	// Output: [8 3 28 20]
}

func ExampleTensor_T() {
	fmt.Println(tensor.New([]float32{1, 2, 3, 4, 5, 6}, 2, 3).T())
	// Output:
	// float32[3×2]
	// [[1 4]
	//  [2 5]
	//  [3 6]]
}

func ExampleTensor_Slice() {
	x := tensor.New([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(x.Slice(1, 1, 3)) // columns 1 and 2
	// Output:
	// float32[2×2]
	// [[2 3]
	//  [5 6]]
}

func ExampleConcat() {
	a, b := tensor.Zeros(2, 3), tensor.Ones(1, 3)
	fmt.Println(tensor.Concat(0, a, b).Shape())
	// Output: [3 3]
}

// Stack makes a new axis, Concat does not.
func ExampleStack() {
	a, b := tensor.New([]float32{1, 2}, 2), tensor.New([]float32{3, 4}, 2)
	fmt.Println(tensor.Stack(0, a, b).Data(), tensor.Stack(1, a, b).Data())
	// Output: [1 2 3 4] [1 3 2 4]
}

func ExampleTensor_Pad() {
	fmt.Println(tensor.New([]float32{1, 2}, 2).Pad(0, 1, 2).Data())
	// Output: [0 1 2 0 0]
}

func ExampleTensor_CumSum() {
	fmt.Println(tensor.New([]float32{1, 2, 3, 4}, 4).CumSum(0).Data())
	// Output: [1 3 6 10]
}

func ExampleTensor_Sort() {
	values, indices := tensor.New([]float32{3, 1, 2}, 3).Sort(0, false)
	fmt.Println(values.Data(), indices.Ints())
	// Output: [1 2 3] [1 2 0]
}

func ExampleTensor_TopK() {
	values, indices := tensor.New([]float32{3, 9, 2, 7}, 4).TopK(2, 0, true)
	fmt.Println(values.Data(), indices.Ints())
	// Output: [9 7] [1 3]
}

// Softmax makes probabilities of scores.
func ExampleTensor_Softmax() {
	p := tensor.New([]float32{0, 0, 0, 0}, 4).Softmax(0)
	fmt.Println(p.Data())
	// Output: [0.25 0.25 0.25 0.25]
}

// LogSumExp does not overflow, as Exp would here.
func ExampleTensor_LogSumExp() {
	x := tensor.New([]float32{1000, 1000}, 2)
	fmt.Printf("%.3f\n", x.LogSumExp(0).Item()) // 1000 + ln 2
	// Output: 1000.693
}

func ExampleTensor_OneHot() {
	fmt.Println(tensor.FromInts([]int{2, 0}, 2).OneHot(3))
	// Output:
	// float32[2×3]
	// [[0 0 1]
	//  [1 0 0]]
}

func ExampleTensor_Clamp() {
	fmt.Println(tensor.New([]float32{-3, 0.5, 8}, 3).Clamp(0, 1).Data())
	// Output: [0 0.5 1]
}

// Where takes elements of one tensor where a condition holds, and of another elsewhere.
func ExampleWhere() {
	x := tensor.New([]float32{-2, 3, -4}, 3)
	fmt.Println(tensor.Where(x.Less(tensor.Zeros(3)), x.Neg(), x).Data())
	// Output: [2 3 4]
}

// The triangle below the diagonal says which positions of a sequence may be seen from each.
func ExampleTensor_Tril() {
	fmt.Println(tensor.Ones(3, 3).Tril(0))
	// Output:
	// float32[3×3]
	// [[1 0 0]
	//  [1 1 0]
	//  [1 1 1]]
}

// Einsum names axes: i and j remain, and products are summed over k.
func ExampleEinsum() {
	a := tensor.New([]float32{1, 2, 3, 4}, 2, 2)
	b := tensor.New([]float32{1, 0, 0, 1}, 2, 2)
	fmt.Println(tensor.Einsum("ik,kj->ij", a, b).Data())
	fmt.Println(tensor.Einsum("ii->", a).Item()) // the sum of the diagonal
	// Output:
	// [1 2 3 4]
	// 5
}

// A kernel of ones adds up each window of three values.
func ExampleConv1D() {
	x := tensor.New([]float32{1, 2, 3, 4, 5}, 1, 1, 5) // batch, channel, length
	sums := tensor.Conv1D(x, tensor.Ones(1, 1, 3), nil, tensor.Window{})
	fmt.Println(sums.Data())
	// Output: [6 9 12]
}

func ExampleMaxPool2D() {
	x := tensor.New([]float32{
		1, 2, 5, 0,
		3, 4, 1, 1,
	}, 1, 1, 2, 4)
	fmt.Println(tensor.MaxPool2D(x, [2]int{2, 2}, tensor.Window{Stride: [2]int{2, 2}}).Data())
	// Output: [4 5]
}

// The rows of a table for some tokens.
func ExampleEmbedding() {
	table := tensor.New([]float32{0, 0, 1, 1, 2, 2}, 3, 2)
	fmt.Println(tensor.Embedding(table, tensor.FromInts([]int{2, 1}, 2)).Data())
	// Output: [2 2 1 1]
}

// Who guesses among four classes has a loss of ln 4.
func ExampleCrossEntropy() {
	guess := tensor.Zeros(1, 4)
	fmt.Printf("%.4f\n", tensor.CrossEntropy(guess, tensor.FromInts([]int{2}, 1)).Item())
	// Output: 1.3863
}

// The second row is left out, whatever it guesses.
func ExampleMaskedCrossEntropy() {
	guess := tensor.New([]float32{0, 0, 9, 0}, 2, 2)
	fmt.Printf("%.4f\n", tensor.MaskedCrossEntropy(guess, tensor.FromInts([]int{1, -100}, 2), -100).Item())
	// Output: 0.6931
}

func ExampleMSE() {
	prediction, target := tensor.New([]float32{1, 2}, 2), tensor.New([]float32{1, 4}, 2)
	fmt.Println(tensor.MSE(prediction, target).Item())
	// Output: 2
}

// After the same seed come the same numbers.
func ExampleRandn() {
	a := tensor.Randn(tensor.NewGenerator(7), 1000)
	b := tensor.Randn(tensor.NewGenerator(7), 1000)
	fmt.Println(a.Sub(b).Abs().Max(0).Item())
	fmt.Printf("%.0f %.0f\n", a.Mean().Abs().Item(), a.Std(1).Item())
	// Output:
	// 0
	// 0 1
}

// BFloat16 has the range of float32, but only eight bits of precision.
func ExampleTensor_Cast() {
	x := tensor.New([]float32{1.001, 300}, 2)
	fmt.Println(x.Cast(tensor.BFloat16).Cast(tensor.Float32).Data())
	// Output: [1 300]
}

// Gather takes one element of each row: here the scores of the right classes.
func ExampleTensor_Gather() {
	scores := tensor.New([]float32{0.1, 0.7, 0.2, 0.5, 0.2, 0.3}, 2, 3)
	classes := tensor.FromInts([]int{1, 0}, 2, 1)
	fmt.Println(scores.Gather(1, classes).Data())
	// Output: [0.7 0.5]
}

func ExampleTensor_Scatter() {
	x := tensor.Zeros(2, 3)
	index := tensor.FromInts([]int{2, 0}, 2, 1)
	fmt.Println(x.Scatter(1, index, tensor.Ones(2, 1)))
	// Output:
	// float32[2×3]
	// [[0 0 1]
	//  [1 0 0]]
}

// Elements for one index are added.
func ExampleTensor_ScatterAdd() {
	index := tensor.FromInts([]int{0, 2, 2}, 3)
	fmt.Println(tensor.Zeros(3).ScatterAdd(0, index, tensor.New([]float32{1, 2, 3}, 3)).Data())
	// Output: [1 0 5]
}

func ExampleTensor_BinCount() {
	fmt.Println(tensor.FromInts([]int{0, 2, 2}, 3).BinCount(4))
	// Output: int64[4] [1 0 2 0]
}

func ExampleTensor_Squeeze() {
	x := tensor.Zeros(1, 3, 1)
	fmt.Println(x.Squeeze().Shape(), x.Squeeze(0).Shape())
	// Output: [3] [3 1]
}

// Unsqueeze makes a column of a row, so that their product has a row for each element.
func ExampleTensor_Unsqueeze() {
	x := tensor.New([]float32{1, 2}, 2)
	fmt.Println(x.Unsqueeze(1).Mul(x).Data())
	// Output: [1 2 2 4]
}

func ExampleTensor_Split() {
	for _, part := range tensor.Arange(0, 5, 1, tensor.Float32).Split(2, 0) {
		fmt.Println(part.Data())
	}
	// Output:
	// [0 1]
	// [2 3]
	// [4]
}

// Chunk takes the parts of a joint projection apart.
func ExampleTensor_Chunk() {
	projected := tensor.Zeros(4, 3*8)
	parts := projected.Chunk(3, -1)
	fmt.Println(len(parts), parts[0].Shape())
	// Output: 3 [4 8]
}

func ExampleTensor_Flip() {
	x := tensor.New([]float32{1, 2, 3, 4}, 2, 2)
	fmt.Println(x.Flip(1).Data(), x.Flip().Data())
	// Output: [2 1 4 3] [4 3 2 1]
}

func ExampleTensor_Roll() {
	fmt.Println(tensor.New([]float32{1, 2, 3, 4}, 4).Roll(1, 0).Data())
	// Output: [4 1 2 3]
}

func ExampleTensor_Tile() {
	fmt.Println(tensor.New([]float32{1, 2}, 2).Tile(2).Data())
	// Output: [1 2 1 2]
}

func ExampleTensor_RepeatInterleave() {
	fmt.Println(tensor.New([]float32{1, 2}, 2).RepeatInterleave(2, 0).Data())
	// Output: [1 1 2 2]
}

// Any and All combine comparisons.
func ExampleTensor_Any() {
	x := tensor.New([]float32{1, -1, 2, 3}, 2, 2)
	fmt.Println(x.LessScalar(0).Any(1).Data(), x.LessScalar(0).Any().Item())
	// Output: [1 0] 1
}

func ExampleTensor_All() {
	x := tensor.New([]float32{1, -1, 2, 3}, 2, 2)
	fmt.Println(x.GreaterScalar(0).All(1).Data())
	// Output: [0 1]
}

// Scores of positions that must not be seen become -Inf before Softmax.
func ExampleTensor_MaskedFill() {
	scores := tensor.New([]float32{1, 1, 1}, 3)
	padding := tensor.New([]float32{0, 0, 1}, 3)
	fmt.Println(scores.MaskedFill(padding, math.Inf(-1)).Softmax(0).Data())
	// Output: [0.5 0.5 0]
}

func ExampleTensor_IsNaN() {
	x := tensor.New([]float32{0, -1}, 2).Log()
	fmt.Println(x.IsNaN().Data(), x.IsInf().Data(), x.IsFinite().Data())
	// Output: [0 1] [1 0] [0 0]
}

func ExampleTensor_IsInf() {
	fmt.Println(tensor.Zeros(1).Log().IsInf().Data())
	// Output: [1]
}

// IsFinite counts the elements that are numbers.
func ExampleTensor_IsFinite() {
	x := tensor.New([]float32{4, 0, -1}, 3).Log()
	fmt.Println(x.IsFinite().Sum().Item())
	// Output: 1
}

func ExampleTensor_Prod() {
	x := tensor.New([]float32{1, 2, 3, 4}, 2, 2)
	fmt.Println(x.Prod(0).Data(), x.Prod().Item())
	// Output: [3 8] 24
}

// The value of an investment with these rates, year by year.
func ExampleTensor_CumProd() {
	factors := tensor.New([]float32{1.5, 2, 0.5}, 3)
	fmt.Println(factors.CumProd(0).Data())
	// Output: [1.5 3 1.5]
}

// Of an even number of elements, the lower one in the middle is the median.
func ExampleTensor_Median() {
	fmt.Println(tensor.New([]float32{9, 1, 3, 2}, 4).Median(0).Item())
	// Output: 2
}

func ExampleTensor_Quantile() {
	x := tensor.New([]float32{4, 1, 3, 2}, 4)
	fmt.Println(x.Quantile(0.5, 0).Item(), x.Quantile(1, 0).Item())
	// Output: 2.5 4
}

// Numbers between two integers become the even one.
func ExampleTensor_Round() {
	fmt.Println(tensor.New([]float32{0.5, 1.5, 2.5, -0.7}, 4).Round().Data())
	// Output: [0 2 2 -1]
}

// Interest of a millionth a day keeps its digits.
func ExampleTensor_Log1p() {
	x := tensor.New([]float32{1e-6}, 1)
	fmt.Printf("%.3g %.3g\n", x.Log1p().Item(), x.AddScalar(1).Log().Item())
	// Output: 1e-06 9.54e-07
}

func ExampleTensor_Expm1() {
	x := tensor.New([]float32{1e-6}, 1)
	fmt.Printf("%.3g %.3g\n", x.Expm1().Item(), x.Exp().AddScalar(-1).Item())
	// Output: 1e-06 9.54e-07
}

// The probability that a normally distributed value is within one standard deviation of the mean.
func ExampleTensor_Erf() {
	fmt.Printf("%.4f\n", tensor.Full(1/math.Sqrt2, 1).Erf().Item())
	// Output: 0.6827
}

// Softplus makes positive numbers, such as standard deviations.
func ExampleTensor_Softplus() {
	x := tensor.New([]float32{-100, 0, 100}, 3).Softplus().Data()
	fmt.Printf("%.3g %.3f %.0f\n", x[0], x[1], x[2])
	// Output: 3.78e-44 0.693 100
}

func ExampleTensor_Normalize() {
	x := tensor.FromFloat64s([]float64{3, 4, 0, 0}, 2, 2)
	fmt.Println(x.Normalize(2, 1).Float64s())
	// Output: [0.6 0.8 0 0]
}

// The cosine of the angle between each row and a vector.
func ExampleCosineSimilarity() {
	rows := tensor.New([]float32{1, 0, 0, 2, -3, 0}, 3, 2)
	fmt.Println(tensor.CosineSimilarity(rows, tensor.New([]float32{5, 0}, 2), 1).Data())
	// Output: [1 0 -1]
}

// The distances of two points from the origin and from (3, 4).
func ExampleCDist() {
	a := tensor.New([]float32{3, 4, 0, 0}, 2, 2)
	b := tensor.New([]float32{0, 0, 3, 4}, 2, 2)
	fmt.Println(tensor.CDist(a, b).Data())
	// Output: [5 0 0 5]
}

func ExampleLinspace() {
	fmt.Println(tensor.Linspace(0, 1, 5, tensor.Float32).Data())
	// Output: [0 0.25 0.5 0.75 1]
}

func ExampleEye() {
	fmt.Println(tensor.Eye(2))
	// Output:
	// float32[2×2]
	// [[1 0]
	//  [0 1]]
}

// A die, thrown a thousand times.
func ExampleRandInt() {
	throws := tensor.RandInt(tensor.NewGenerator(1), 1, 7, 1000)
	fmt.Println(throws.DType(), throws.Cast(tensor.Float32).Min(0).Item(), throws.Cast(tensor.Float32).Max(0).Item())
	// Output: int32 1 6
}

// The rows of a table in random order.
func ExampleRandPerm() {
	table := tensor.Arange(0, 6, 1, tensor.Float32).Reshape(3, 2)
	shuffled := table.IndexSelect(tensor.RandPerm(tensor.NewGenerator(1), 3))
	fmt.Println(shuffled.Shape(), shuffled.Sum().Item())
	// Output: [3 2] 15
}

// An index whose weight is 0 is never drawn.
func ExampleMultinomial() {
	weights := tensor.New([]float32{1, 0, 3}, 3)
	fmt.Println(tensor.Multinomial(tensor.NewGenerator(1), weights, 1000, true).BinCount(3).Ints()[1])
	// Output: 0
}
