package tensor

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func moments(v []float64) (mean, variance float64) {
	mean = total(v) / float64(len(v))
	for _, x := range v {
		variance += (x - mean) * (x - mean) / float64(len(v))
	}
	return mean, variance
}

// layerNormRef normalizes over the last dimension; in[1] and in[2] are weight and bias.
func layerNormRef(in []array) array {
	last := len(in[0].shape) - 1
	hat := alongRef(last, func(line []float64) []float64 {
		mean, variance := moments(line)
		out := make([]float64, len(line))
		for i, x := range line {
			out[i] = (x - mean) / math.Sqrt(variance+1e-3)
		}
		return out
	})(in)
	return scaledRef(hat, in[1:], last)
}

func rmsNormRef(in []array) array {
	last := len(in[0].shape) - 1
	hat := alongRef(last, func(line []float64) []float64 {
		out := make([]float64, len(line))
		squares := 0.0
		for _, x := range line {
			squares += x * x
		}
		for i, x := range line {
			out[i] = x / math.Sqrt(squares/float64(len(line))+1e-3)
		}
		return out
	})(in)
	return scaledRef(hat, in[1:], last)
}

// scaledRef returns hat·p[0] + p[1], where the parameters belong to one axis.
func scaledRef(hat array, p []array, axis int) array {
	return build(hat.shape, func(i []int) float64 {
		y := hat.get(i...)
		if len(p) > 0 {
			y *= p[0].get(i[axis])
		}
		if len(p) > 1 {
			y += p[1].get(i[axis])
		}
		return y
	})
}

// batchNormRef uses the statistics of the batch.
func batchNormRef(in []array) array {
	x := in[0]
	hat := newArray(x.shape...)
	for c := range x.shape[1] {
		var of []float64
		each(x.shape, func(i []int) {
			if i[1] == c {
				of = append(of, x.get(i...))
			}
		})
		mean, variance := moments(of)
		each(x.shape, func(i []int) {
			if i[1] == c {
				hat.data[hat.at(i)] = (x.get(i...) - mean) / math.Sqrt(variance+1e-3)
			}
		})
	}
	return scaledRef(hat, in[1:], 1)
}

func normRows() []opRow {
	row := func(m, n, k int) [][]int { return [][]int{{m, k, n}, {n}, {n}} }
	channel := func(m, n, k int) [][]int { return [][]int{{m + 2, n, k}, {n}, {n}} }
	relu := func(ref func([]array) array) func([]array) array {
		return func(in []array) array {
			return mapRef(func(x float64) float64 { return math.Max(x, 0) })([]array{ref(in)})
		}
	}
	evalRef := func(in []array) array {
		x, mean, variance := in[0], in[3], in[4]
		hat := build(x.shape, func(i []int) float64 {
			return (x.get(i...) - mean.get(i[1])) / math.Sqrt(variance.get(i[1])*variance.get(i[1])+1e-3)
		})
		return scaledRef(hat, in[1:3], 1)
	}
	return []opRow{
		{name: "LayerNorm", shapes: row, low: -2, high: 2, ref: layerNormRef,
			f: func(in []*Tensor) *Tensor { return LayerNorm(in[0], in[1], in[2], 1, 1e-3) }},
		{name: "LayerNorm without parameters", shapes: func(m, n, k int) [][]int { return row(m, n, k)[:1] }, low: -2, high: 2, ref: layerNormRef,
			f: func(in []*Tensor) *Tensor { return LayerNorm(in[0], nil, nil, 1, 1e-3) }},
		{name: "LayerNorm of two dimensions", shapes: func(m, n, k int) [][]int { return [][]int{{m, k, n}, {k, n}} }, low: -2, high: 2,
			f: func(in []*Tensor) *Tensor { return LayerNorm(in[0], in[1], nil, 2, 1e-3) },
			ref: func(in []array) array {
				s := in[0].shape
				y := layerNormRef([]array{{[]int{s[0], s[1] * s[2]}, in[0].data}, {[]int{s[1] * s[2]}, in[1].data}})
				return array{s, y.data}
			}},
		{name: "RMSNorm", shapes: func(m, n, k int) [][]int { return row(m, n, k)[:2] }, low: -2, high: 2, ref: rmsNormRef,
			f: func(in []*Tensor) *Tensor { return RMSNorm(in[0], in[1], 1, 1e-3) }},
		{name: "RMSNorm without parameters", shapes: func(m, n, k int) [][]int { return row(m, n, k)[:1] }, low: -2, high: 2, ref: rmsNormRef,
			f: func(in []*Tensor) *Tensor { return RMSNorm(in[0], nil, 1, 1e-3) }},
		{name: "BatchNorm", shapes: channel, low: -2, high: 2, ref: batchNormRef, nonEmpty: true,
			f: func(in []*Tensor) *Tensor { return BatchNorm(in[0], in[1], in[2], nil, nil, 0, 1e-3, true) }},
		{name: "BatchNorm of rows", shapes: func(m, n, k int) [][]int { return [][]int{{m + 1, n}} }, low: -2, high: 2, ref: batchNormRef, nonEmpty: true,
			f: func(in []*Tensor) *Tensor { return BatchNorm(in[0], nil, nil, nil, nil, 0, 1e-3, false) }},
		{name: "BatchNorm ReLU", shapes: channel, low: -2, high: 2, ref: relu(batchNormRef), nonEmpty: true,
			f: func(in []*Tensor) *Tensor {
				return releaseAfter(BatchNorm(in[0], in[1], in[2], Zeros(in[0].Size(1)), Ones(in[0].Size(1)), 0.1, 1e-3, true), (*Tensor).ReLU)
			}},
		{name: "BatchNorm outside of training", shapes: func(m, n, k int) [][]int { return [][]int{{m, n, k}, {n}, {n}, {n}, {n}} }, low: -2, high: 2, ref: evalRef,
			f: func(in []*Tensor) *Tensor {
				// No gradient flows through the running statistics.
				return BatchNorm(in[0], in[1], in[2], in[3].Detach(), in[4].Detach().Square(), 0.1, 1e-3, false)
			},
			noGrad: true},
		{name: "BatchNorm with fixed statistics", shapes: func(m, n, k int) [][]int { return [][]int{{m, n, k}, {n}, {n}} }, low: -2, high: 2,
			ref: func(in []array) array {
				n := in[0].shape[1]
				half, two := build([]int{n}, func([]int) float64 { return 0.5 }), build([]int{n}, func([]int) float64 { return math.Sqrt2 })
				return evalRef(append(slices.Clone(in), half, two))
			},
			f: func(in []*Tensor) *Tensor {
				n := in[0].Size(1)
				return BatchNorm(in[0], in[1], in[2], Full(0.5, n), Full(2, n), 0.1, 1e-3, false)
			}},
	}
}

// TestRunningStatistics compares two updates with torch's rule.
func TestRunningStatistics(t *testing.T) {
	g := NewGenerator(1)
	mean, variance := Zeros(3), Ones(3)
	wantMean, wantVariance := []float64{0, 0, 0}, []float64{1, 1, 1}
	for range 2 {
		x := Randn(g, 4, 3, 5).MulScalar(2).AddScalar(1)
		BatchNorm(x, nil, nil, mean, variance, 0.1, 1e-5, true)
		in := fromTensor(x)
		for c := range 3 {
			var of []float64
			each(in.shape, func(i []int) {
				if i[1] == c {
					of = append(of, in.get(i...))
				}
			})
			m, v := moments(of)
			wantMean[c] = 0.9*wantMean[c] + 0.1*m
			wantVariance[c] = 0.9*wantVariance[c] + 0.1*v*20/19
		}
	}
	compare(t, "mean", mean, array{[]int{3}, wantMean}, 1e-6)
	compare(t, "variance", variance, array{[]int{3}, wantVariance}, 1e-6)
	if mean.RequiresGrad() || variance.RequiresGrad() {
		t.Error("the running statistics require a gradient")
	}
}

func TestNormErrors(t *testing.T) {
	x := Zeros(1, 3)
	for _, row := range []struct {
		name string
		f    func()
		want string
	}{
		{"one element a channel", func() { BatchNorm(x, nil, nil, nil, nil, 0.1, 1e-5, true) }, "BatchNorm: [1 3]: the statistics of a batch need at least two elements per channel; if the last batch of an epoch has one example, use DropLast"},
		{"channels", func() { BatchNorm(x, Ones(2), nil, nil, nil, 0.1, 1e-5, true) }, "BatchNorm: [1 3] and [2]: weight, bias, mean and variance must be [3]"},
		{"one statistic", func() { BatchNorm(x, nil, nil, Ones(3), nil, 0.1, 1e-5, true) }, "BatchNorm: pass both the running mean and the running variance"},
		{"parameter", func() { LayerNorm(x, Ones(2), nil, 1, 1e-5) }, "LayerNorm: [1 3] and [2]: weight and bias must have the shape"},
		{"dimensions", func() { RMSNorm(x, nil, 3, 1e-5) }, "RMSNorm: [1 3]: cannot normalize over the last 3 dimensions"},
	} {
		if err := catch(row.f); err == nil || !strings.HasPrefix(err.Error(), row.want) {
			t.Errorf("%s: got %v, want %q", row.name, err, row.want)
		}
	}
}
