package parallel

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
)

func init() {
	rankTasks["dropout"] = func(ctx context.Context, g *Group) (any, error) {
		mesh, err := Mesh(ctx, g, 1, g.Size(), 1)
		if err != nil {
			return nil, err
		}
		defer mesh.Close()
		c := distributedTraining{model: func() nn.Module {
			return nn.Sequential(nn.Embedding(gptTokens, 16), nn.Dropout(0.3),
				nn.Residual(nn.LayerNorm(), nn.SelfAttention(4, nn.AttentionDropout(0.2)), nn.Dropout(0.3)),
				nn.Residual(nn.LayerNorm(), nn.Dense(32), nn.Dropout(0.3), nn.Dense(16)), nn.Dense(gptTokens))
		}}
		shared, err := Distribute(ctx, mesh, c.newModel(uint64(g.Rank())), SplitHeads("2.1"), Split("3.1", "3.3"))
		if err != nil {
			return nil, err
		}
		opt := optim.AdamW(shared, 0.01)
		for step := range 3 {
			opt.ZeroGrad()
			x, y := gptTokensOf(step, 0)
			if _, err := shared.Backward(ctx, x, y, nn.CrossEntropy, 1); err != nil {
				return nil, err
			}
			opt.Step()
		}
		whole := map[string][]float32{}
		for _, p := range shared.distribution().parts {
			if p.cut == nil {
				whole[p.name] = p.tensor.Data()
			}
		}
		return whole, nil
	}
}

// TestDropoutAlongTP requires the ranks along TP to draw the same random numbers, so that what each of them has as
// a whole stays the same bit for bit.
func TestDropoutAlongTP(t *testing.T) {
	all := onRanks[map[string][]float32](t, "dropout", 2)
	if len(all[0]) < 8 {
		t.Fatalf("only %d tensors", len(all[0]))
	}
	for name, values := range all[0] {
		if !slices.Equal(values, all[1][name]) {
			t.Errorf("%s differs between the ranks: %v and %v", name, values[:2], all[1][name][:2])
		}
	}
}

// TestCut compares the parts that ranks have of a tensor with its rows, columns, and rows of three blocks.
func TestCut(t *testing.T) {
	whole := []byte{0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23, 30, 31, 32, 33, 40, 41, 42, 43, 50, 51, 52, 53}
	for _, c := range []struct {
		cut   cut
		whole []int
		want  []byte
	}{
		{cut{0, 1, 0, 2}, []int{6, 4}, []byte{0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23}},
		{cut{0, 1, 2, 3}, []int{6, 4}, []byte{40, 41, 42, 43, 50, 51, 52, 53}},
		{cut{1, 1, 1, 2}, []int{6, 4}, []byte{2, 3, 12, 13, 22, 23, 32, 33, 42, 43, 52, 53}},
		{cut{0, 3, 1, 2}, []int{6, 4}, []byte{10, 11, 12, 13, 30, 31, 32, 33, 50, 51, 52, 53}},
		{cut{0, 3, 0, 2}, []int{6, 2, 2}, []byte{0, 1, 2, 3, 20, 21, 22, 23, 40, 41, 42, 43}},
		{cut{1, 1, 0, 2}, []int{3, 2, 4}, []byte{0, 1, 2, 3, 20, 21, 22, 23, 40, 41, 42, 43}},
	} {
		t.Run(fmt.Sprint(c.cut, c.whole), func(t *testing.T) {
			if got := c.cut.of(whole, c.whole, 1); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
