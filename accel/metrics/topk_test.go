package metrics_test

import (
	"fmt"
	"testing"

	"github.com/quernlab/quern/accel/metrics"
	"github.com/quernlab/quern/accel/tensor"
)

// TestTopKTies requires that the first of equal logits counts as the largest, as in the accuracy.
func TestTopKTies(t *testing.T) {
	c, err := metrics.NewCollection(metrics.Accuracy(), metrics.TopK(1), metrics.TopK(2), metrics.TopK(3))
	if err != nil {
		t.Fatal(err)
	}
	logits := tensor.New([]float32{1, 1, 1, 0, 0, 2, 2, 2, 3, 3, 0, 3, 1, 2, 3, 4}, 4, 4)
	if err := c.Update(logits, tensor.FromInts([]int{0, 1, 3, 2}, 4)); err != nil {
		t.Fatal(err)
	}
	values, err := c.Values()
	if err != nil {
		t.Fatal(err)
	}
	var got []float64
	for _, v := range values {
		got = append(got, v.Value)
	}
	if fmt.Sprint(got) != "[0.5 0.5 0.75 1]" {
		t.Errorf("%v", got)
	}
}
