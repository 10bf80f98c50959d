package metrics_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/metrics"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// largest is the largest error of any example, which is no mean over batches.
var largest = metrics.Of("largest error", metrics.LowerIsBetter, func(p, y *tensor.Tensor) (float64, error) {
	return p.Sub(y).Abs().Reshape(-1).Max(0).Item(), nil
})

// TestOwnMetrics compares metrics of user functions with built-in ones, merged from two
// collections.
func TestOwnMetrics(t *testing.T) {
	all := []metrics.Metric{metrics.MSE(), metrics.Mean("mean", metrics.LowerIsBetter, nn.MSE), largest}
	var parts []*metrics.Collection
	for part := range 2 {
		c, err := metrics.NewCollection(all...)
		if err != nil {
			t.Fatal(err)
		}
		for n := 1; n < 12; n++ { // batches of different sizes
			p := tensor.Arange(0, float64(2*n), 1, tensor.Float32).Reshape(n, 2)
			if err := c.Update(p, p.MulScalar(float64(part)).AddScalar(1)); err != nil {
				t.Fatal(err)
			}
		}
		parts = append(parts, c)
	}
	b, err := parts[1].MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if err := parts[0].Merge(b); err != nil {
		t.Fatal(err)
	}
	v, err := parts[0].Values()
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(v[0].Value-v[1].Value) > 1e-5*v[0].Value || v[2].Value != 20 {
		t.Errorf("got %v", v)
	}
}

func TestOwnMetricOfClasses(t *testing.T) {
	loss := metrics.Of("loss", metrics.LowerIsBetter, func(p, y *tensor.Tensor) (float64, error) { return nn.CrossEntropy(p, y).Item(), nil })
	c, err := metrics.NewCollection(loss, metrics.LogLoss())
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := c.Update(tensor.New([]float32{1, 2, 3, 0, 1, 0}, 2, 3), tensor.FromInts([]int{2, 0}, 2)); err != nil {
			t.Fatal(err)
		}
	}
	v, err := c.Values()
	if err != nil || math.Abs(v[0].Value-v[1].Value) > 1e-6 {
		t.Errorf("got %v, %v", v, err)
	}
}

func TestOwnMetricErrors(t *testing.T) {
	failure := errors.New("my reason")
	two := tensor.Zeros(2)
	for want, m := range map[string]metrics.Metric{
		"a tensor of one element":                metrics.Mean("wrong", metrics.HigherIsBetter, func(p, _ *tensor.Tensor) *tensor.Tensor { return p }),
		"MatMul":                                 metrics.Mean("shape", metrics.HigherIsBetter, func(p, _ *tensor.Tensor) *tensor.Tensor { return p.MatMul(p) }),
		"the mean of the batch after of example": metrics.Mean("NaN", metrics.HigherIsBetter, func(p, _ *tensor.Tensor) *tensor.Tensor { return p.Div(p).Sum() }),
		"my reason":                              metrics.Of("failing", metrics.HigherIsBetter, func(_, _ *tensor.Tensor) (float64, error) { return 0, failure }),
		"Max":                                    metrics.Of("panicking", metrics.HigherIsBetter, func(p, _ *tensor.Tensor) (float64, error) { return p.Max(3).Item(), nil }),
		"the name is empty":                      metrics.Mean("", metrics.HigherIsBetter, nn.MSE),
		`Of("x"): the function is nil`:           metrics.Of("x", metrics.HigherIsBetter, nil),
	} {
		c, err := metrics.NewCollection(m)
		if err == nil {
			err = c.Update(two, two)
		}
		if err == nil {
			_, err = c.Values()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
