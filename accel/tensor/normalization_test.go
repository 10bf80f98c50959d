package tensor

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
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

// equalProcesses is a group of processes that all have the elements of this one.
type equalProcesses struct {
	processes float64
	idle      bool
	sums      int // number of calls
	err       error
}

func (a *equalProcesses) AllReduce(t *Tensor) (*Tensor, error) {
	a.sums++
	return t.MulScalar(a.processes), a.err
}

func (a *equalProcesses) Idle() bool { return a.idle }

// TestSyncBatchNorm compares with a BatchNorm of one batch that repeats the elements once per
// process.
func TestSyncBatchNorm(t *testing.T) {
	for _, shape := range [][]int{{3, 4}, {2, 4}, {2, 4, 3, 3}} {
		for _, d := range []DType{Float32, Float64, BFloat16} {
			const processes = 3
			make := func() (x, w, b, mean, variance *Tensor) {
				parameter := func(v *Tensor) *Tensor { return Parameter(v.Cast(d).Detach()) }
				g := NewGenerator(4)
				x = parameter(Randn(g, shape...).MulScalar(2).Add(Full(5, 1)))
				w, b = parameter(Randn(g, 4)), parameter(Randn(g, 4))
				running := d
				if d.Is16Bit() { // the running statistics of layers are float32
					running = Float32
				}
				return x, w, b, Zeros(4).Cast(running), Ones(4).Cast(running)
			}
			loss := func(y *Tensor) *Tensor { return y.Cast(Float32).Square().Mul(y.Cast(Float32)).Sum() }

			group := &equalProcesses{processes: processes}
			x, w, b, mean, variance := make()
			y := syncBatchNorm(tensors.SyncBatch[*Tensor]{X: x, Weight: w, Bias: b, Mean: mean, Variance: variance, Momentum: 0.1, Epsilon: 1e-5, Group: group})
			loss(y).Backward()
			if group.sums != 2 {
				t.Errorf("%v of %v: %d calls of AllReduce", d, shape, group.sums)
			}

			x1, w1, b1, mean1, variance1 := make()
			all := BatchNorm(Concat(0, x1, x1, x1), w1, b1, mean1, variance1, 0.1, 1e-5, true)
			loss(all).Backward()
			tolerance := map[DType]float64{Float32: 2e-5, Float64: 2e-5, BFloat16: 0.03}[d]
			for _, c := range []struct {
				name      string
				got, want *Tensor
				factor    float64
			}{
				{"y", y, all.Slice(0, 0, shape[0]), 1},
				{"the gradient of x", x.Grad(), x1.Grad(), processes}, // each repetition adds to it
				{"the gradient of the weight", w.Grad(), w1.Grad(), processes},
				{"the gradient of the bias", b.Grad(), b1.Grad(), processes},
				{"the running mean", mean, mean1, 1},
				{"the running variance", variance, variance1, 1},
			} {
				if c.got.DType() != c.want.DType() {
					t.Errorf("%v of %v: %s is %v", d, shape, c.name, c.got.DType())
				}
				got, want := c.got.Cast(Float64).Float64s(), c.want.Cast(Float64).Float64s()
				for i := range want {
					if !(math.Abs(c.factor*got[i]-want[i]) <= tolerance*(1+math.Abs(want[i])*c.factor)) {
						t.Errorf("%v of %v: %s is %v, want %v / %v", d, shape, c.name, got[i], want[i], c.factor)
					}
				}
			}
		}
	}
}

// TestSyncBatchNormIdle checks that a process without examples contributes nothing and gets no
// gradient.
func TestSyncBatchNormIdle(t *testing.T) {
	group := &equalProcesses{processes: 1}
	numbers := Full(0, 9).Cast(Float64)
	x := Parameter(Randn(NewGenerator(1), 2, 4))
	y := syncBatchNorm(tensors.SyncBatch[*Tensor]{X: x, Momentum: 0.1, Epsilon: 1e-5, Group: idleProcess{group, numbers}})
	y.Sum().MulScalar(0).Backward()
	for i, g := range x.Grad().Data() {
		if g != 0 {
			t.Errorf("the gradient of element %d is %v", i, g)
		}
	}
}

// idleProcess has no examples; another process has four elements with mean 1 and variance 2.
type idleProcess struct {
	*equalProcesses
	numbers *Tensor
}

func (i idleProcess) Idle() bool { return true }

func (i idleProcess) AllReduce(t *Tensor) (*Tensor, error) {
	for _, v := range t.Float64s() {
		if v != 0 {
			return nil, errors.New("it counts")
		}
	}
	if t.Numel() != i.numbers.Numel() { // the sums of the gradient
		return Full(3, t.Numel()).Cast(Float64), nil
	}
	return FromFloat64s([]float64{4, 4, 4, 4, 12, 12, 12, 12, 4}, 9), nil
}

func TestSyncBatchNormThatFails(t *testing.T) {
	lost := errors.New("a rank was lost")
	defer func() {
		var failed *AllReduceError
		if err, _ := recover().(error); !errors.As(err, &failed) || !errors.Is(err, lost) {
			t.Errorf("got %v", err)
		}
	}()
	syncBatchNorm(tensors.SyncBatch[*Tensor]{X: Ones(2, 3), Momentum: 0.1, Epsilon: 1e-5, Group: &equalProcesses{processes: 1, err: lost}})
}
