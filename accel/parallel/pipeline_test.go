package parallel

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// counted counts the passes of its micro-batches.
type counted struct {
	Layer nn.Module

	mu       sync.Mutex
	inFlight int
	most     int
	passes   string // F and B
}

func (c *counted) Forward(x *tensor.Tensor) *tensor.Tensor {
	c.count(1, "F")
	return tensors.Exchange(c.Layer.Forward(x), nil, func(dy *tensor.Tensor) *tensor.Tensor {
		c.count(-1, "B")
		return dy
	})
}

func (c *counted) count(by int, pass string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inFlight += by
	c.most = max(c.most, c.inFlight)
	c.passes += pass
}

// TestOneForwardOneBackward requires each stage to begin with as many forward passes as there are stages
// from it on, and then to alternate, so that it holds the activations of no more micro-batches.
func TestOneForwardOneBackward(t *testing.T) {
	const stages, batches = 3, 5
	for stage, want := range []string{"FFFBFBFBBB", "FFBFBFBFBB", "FBFBFBFBFB"} {
		all := ranks(t, stages)
		made := meshes(t, all, MeshShape{1, 1, stages})
		models := make([]*nn.SequentialLayer, stages)
		x := tensor.Randn(tensor.NewGenerator(1), 2*batches, 4)
		for r := range models {
			models[r] = nn.Sequential()
			for range stages {
				models[r].Add(&counted{Layer: nn.Dense(4)})
			}
			models[r].Forward(x)
		}
		mustEach(t, all, func(ctx context.Context, g *Group) error {
			shared, err := Distribute(ctx, made[g.Rank()], models[g.Rank()], MicroBatches(batches))
			if err != nil {
				return err
			}
			mine := models[g.Rank()].Layers()[g.Rank()].(*counted)
			mine.inFlight, mine.most, mine.passes = 0, 0, ""
			_, err = shared.Backward(ctx, x, x, nn.MSE, 1)
			if err == nil && g.Rank() == stage && (mine.passes != want || mine.most != stages-stage) {
				return fmt.Errorf("passes %s with %d micro-batches in memory, want %s with %d", mine.passes, mine.most, want, stages-stage)
			}
			return err
		})
	}
}

func TestBalance(t *testing.T) {
	x := tensor.Ones(1, 8)
	for _, c := range []struct {
		widths []int // of Dense layers; 0 is an activation
		stages int
		want   []int
	}{
		{[]int{8, 8, 8, 8}, 2, []int{2}},
		{[]int{8, 8, 8, 8}, 4, []int{1, 2, 3}},
		{[]int{8, 0, 8, 0, 8, 0, 8, 0}, 2, []int{4}},
		{[]int{80, 8, 8, 8}, 2, []int{1}},
		{[]int{8, 8, 8, 80, 8}, 2, []int{4}},
		{[]int{8, 80, 8, 8, 8}, 2, []int{2}},
		{[]int{8, 8}, 2, []int{1}},
		{[]int{8, 8, 8}, 1, nil},
	} {
		chain := nn.Sequential()
		for _, w := range c.widths {
			if w == 0 {
				chain.Add(nn.ReLU())
			} else {
				chain.Add(nn.Dense(w))
			}
		}
		chain.Forward(x)
		if got := balance(chain.Layers(), c.stages); !slices.Equal(got, c.want) {
			t.Errorf("%v in %d stages: %v, want %v", c.widths, c.stages, got, c.want)
		}
	}
}
