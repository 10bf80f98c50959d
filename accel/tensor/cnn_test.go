package tensor

import (
	"math"
	"testing"
	"time"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
)

// cnn is a small network for 28×28 images: two 3×3 convolutions with ReLU and 2×2 pooling, and a
// linear layer for 10 classes.
type cnn struct {
	mlp
	pixels *Tensor
}

func newCNN(g *Generator, batch int) *cnn {
	n := &cnn{pixels: Uniform(g, 0, 1, batch, 1, 28, 28)}
	labels := make([]int, batch)
	for i := range labels {
		labels[i] = g.Intn(10)
	}
	n.y = FromInts(labels, batch)
	for _, shape := range [][]int{{16, 1, 3, 3}, {16}, {32, 16, 3, 3}, {32}, {10, 1568}, {10}} {
		bound := 0.05
		n.params = append(n.params, Parameter(Uniform(g, -bound, bound, shape...)))
		n.m, n.v = append(n.m, Zeros(shape...)), append(n.v, Zeros(shape...))
	}
	return n
}

func (n *cnn) train() *Tensor {
	x := n.pixels
	for i := 0; i < 4; i += 2 {
		y := releaseAfter(Conv2D(x, n.params[i], n.params[i+1], Window{Padding: [2]int{1, 1}}), (*Tensor).ReLU)
		if i > 0 {
			x.Release()
		}
		x = releaseAfter(y, func(t *Tensor) *Tensor { return MaxPool2D(t, [2]int{2, 2}, Window{}) })
	}
	x = releaseAfter(x, func(t *Tensor) *Tensor { return t.Flatten(1) })
	logits := releaseAfter(x, func(t *Tensor) *Tensor { return Linear(t, n.params[4], n.params[5]) })
	loss := CrossEntropy(logits, n.y)
	logits.Release()
	loss.Backward()
	n.update(1e-3)
	return loss
}

func TestTrainingOfImages(t *testing.T) {
	n := newCNN(NewGenerator(1), 16)
	first := n.train().Item()
	tensors.ResetStats()
	last := 0.0
	for range 15 {
		last = n.train().Item()
	}
	if !(last < first-0.1) {
		t.Errorf("the loss went from %v to %v only", first, last)
	}
	if s := tensors.Stats(); s.PlansMade > 1 {
		t.Errorf("steps after the first made %d plans: %+v", s.PlansMade, s)
	}
}

// BenchmarkCNNStep is one step with a batch of 128.
func BenchmarkCNNStep(b *testing.B) {
	n := newCNN(NewGenerator(1), 128)
	for range 3 {
		n.train()
	}
	best := math.Inf(1)
	for b.Loop() {
		start := time.Now()
		n.train()
		best = min(best, time.Since(start).Seconds())
	}
	b.ReportMetric(best*1e6, "µs/best-step")
}
