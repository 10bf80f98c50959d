package nn_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// FuzzCTC compares with the sum of the probabilities of all ways to write the labels, of which there are C^T.
func FuzzCTC(f *testing.F) {
	for _, seed := range []uint64{1, 2, 3, 40, 500, 6000} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		random := rand.New(rand.NewPCG(seed, 1))
		n, steps, classes, longest := 1+random.IntN(3), 1+random.IntN(5), 2+random.IntN(3), random.IntN(4)
		blank := random.IntN(classes)
		x, labels := make([]float64, n*steps*classes), make([]int, n*longest)
		for i := range x {
			x[i] = random.NormFloat64() * 3
		}
		inputs, lengths := make([]int, n), make([]int, n)
		for i := range labels {
			for labels[i] = blank; labels[i] == blank; {
				labels[i] = random.IntN(classes)
			}
		}
		for i := range n {
			inputs[i], lengths[i] = random.IntN(steps+1), random.IntN(longest+1)
		}
		log := tensor.FromFloat64s(x, n, steps, classes).LogSoftmax(-1)
		got := nn.CTC(log, tensor.FromInts(labels, n, longest), tensor.FromInts(inputs, n), tensor.FromInts(lengths, n), nn.Blank(blank)).Item()
		want, p := 0.0, log.Float64s()
		for i := range n {
			sum := written(p[i*steps*classes:], classes, blank, inputs[i], labels[i*longest:i*longest+lengths[i]], nil)
			want -= math.Log(sum) / float64(max(1, lengths[i])) / float64(n)
		}
		if !(math.Abs(got-want) <= 1e-9*(1+math.Abs(want))) && got != want {
			t.Errorf("%d positions, labels %v of lengths %v, blank %d: %v, want %v", steps, labels, lengths, blank, got, want)
		}
	})
}

// written adds the probabilities of all ways to continue a path whose labels are the given ones.
func written(log []float64, classes, blank, steps int, labels, path []int) (sum float64) {
	if len(path) < steps {
		for c := range classes {
			sum += written(log, classes, blank, steps, labels, append(slices.Clone(path), c))
		}
		return sum
	}
	var text []int
	p := 1.0
	for t, c := range path {
		if p *= math.Exp(log[t*classes+c]); c != blank && (t == 0 || path[t-1] != c) {
			text = append(text, c)
		}
	}
	if !slices.Equal(text, labels) {
		return 0
	}
	return p
}
