package tensor

import (
	"math"
	"math/rand/v2"
	"testing"
)

// These sizes are split into several blocks, chunks and tasks.

func TestLargeElementwise(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	for _, shape := range [][]int{{50000}, {131, 391}, {7, 33, 257}, {40000, 1}} {
		x, last := randomArray(r, -2, 2, shape...), shape[len(shape)-1]
		row, scalar := randomArray(r, -2, 2, last), randomArray(r, 1, 2)
		tx, trow, ts := New(x.floats(), shape...), New(row.floats(), last), New(scalar.floats())
		got := tx.Mul(trow).Tanh().Add(tx).Div(ts)
		want := build(shape, func(i []int) float64 {
			return (math.Tanh(x.get(i...)*row.get(i...)) + x.get(i...)) / scalar.data[0]
		})
		compare(t, "", got, want, 1e-6)
		perm := reversed(len(shape))
		compare(t, "transposed", tx.Permute(perm...).AddScalar(1).Permute(perm...), mapRef(func(v float64) float64 { return v + 1 })([]array{x}), 1e-6)
	}
}

func TestLargeReductions(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 9))
	for _, shape := range [][]int{{3, 20000}, {40000}, {2000, 100}, {20, 500, 7}} {
		x := randomArray(r, -1, 2, shape...)
		for a := range shape {
			tx := New(x.floats(), shape...)
			compare(t, "Sum", tx.Sum(a), foldRef(a, total)([]array{x}), 2e-6)
			compare(t, "Max", tx.Max(a), foldRef(a, largest)([]array{x}), 0)
			compare(t, "Softmax", tx.Softmax(a), alongRef(a, softmaxLine)([]array{x}), 1e-6)
		}
		all := New(x.floats(), shape...).Sum()
		compare(t, "Sum of all", all, array{[]int{}, []float64{total(x.data)}}, 1e-6)
		setUnfused(true)
		sameBits(t, "unfused", New(x.floats(), shape...).Sum(), all)
		setUnfused(false)
	}
}

func TestLargeCrossEntropy(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	const rows, classes = 3000, 17
	x := randomArray(r, -4, 4, rows, classes)
	labels := make([]int, rows)
	want := 0.0
	slope := newArray(rows, classes)
	for i := range labels {
		labels[i] = r.IntN(classes)
		p := softmaxLine(x.data[i*classes : (i+1)*classes])
		want -= math.Log(p[labels[i]]) / rows
		for j, v := range p {
			slope.data[i*classes+j] = v / rows
		}
		slope.data[i*classes+labels[i]] -= 1. / rows
	}
	logits := Parameter(New(x.floats(), rows, classes))
	loss := CrossEntropy(logits, FromInts(labels, rows))
	loss.Backward()
	compare(t, "loss", loss, array{[]int{}, []float64{want}}, 1e-6)
	compare(t, "gradient", logits.Grad().MulScalar(rows), mapRef(func(v float64) float64 { return v * rows })([]array{slope}), 1e-6)
}

func TestLargeProduct(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 9))
	a, b := randomArray(r, -1, 1, 150, 500), randomArray(r, -1, 1, 500, 90)
	compare(t, "", New(a.floats(), 150, 500).MatMul(New(b.floats(), 500, 90)), matmulRef([]array{a, b}), 1e-4)
}
