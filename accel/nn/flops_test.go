package nn_test

import (
	"testing"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// userBlock is a module of a user, which computes with layers and with tensors.
type userBlock struct {
	Conv, Out nn.Module
	Weight    *nn.Tensor // of a convolution that Forward computes itself; nil for none
}

func (b *userBlock) Forward(x *nn.Tensor) *nn.Tensor {
	x = b.Conv.Forward(x)
	if b.Weight != nil {
		x = tensor.Conv2D(x, b.Weight, nil, tensor.Window{Padding: [2]int{1, 1}})
	}
	return b.Out.Forward(nn.Flatten().Forward(x))
}

// TestFLOPsOfUserModules checks that a layer has the same FLOPs wherever it is in a model.
func TestFLOPsOfUserModules(t *testing.T) {
	conv := func() nn.Module { return nn.Conv2D(4, 3, nn.Same(), nn.Groups(2)) }
	const ofConv, ofDense = 2 * 4 * 8 * 8 * 9, 2 * 4 * 8 * 8 * 10
	custom := func() nn.Module {
		c := conv()
		return nn.Lambda(func(x *nn.Tensor) *nn.Tensor { return c.Forward(x).ReLU() }, c)
	}
	started := func(m nn.Module) nn.Module { // creates the parameters
		m.Forward(tensor.Zeros(1, 2, 8, 8))
		return m
	}
	recomputed := nn.Sequential(conv(), nn.ReLU(), nn.Flatten(), nn.Dense(10))
	started(recomputed)
	if nn.SetRecompute(recomputed, true) != 1 {
		t.Fatal("SetRecompute did not split the chain")
	}
	for name, tt := range map[string]struct {
		model nn.Module
		want  int
	}{
		"chain":                    {nn.Sequential(conv(), nn.Flatten(), nn.Dense(10)), ofConv + ofDense},
		"struct":                   {&userBlock{Conv: conv(), Out: nn.Dense(10)}, ofConv + ofDense},
		"struct in a chain":        {nn.Sequential(&userBlock{Conv: conv(), Out: nn.Dense(10)}), ofConv + ofDense},
		"struct with a chain":      {&userBlock{Conv: nn.Sequential(conv(), nn.ReLU()), Out: nn.Dense(10)}, ofConv + ofDense},
		"tensor.Conv2D":            {&userBlock{Conv: conv(), Out: nn.Dense(10), Weight: tensor.Zeros(4, 4, 3, 3)}, ofConv + ofDense + 2*4*8*8*4*9},
		"Lambda":                   {custom(), ofConv},
		"Lambda in a chain":        {nn.Sequential(custom(), nn.Flatten(), nn.Dense(10)), ofConv + ofDense},
		"Recompute":                {nn.Recompute(conv(), nn.ReLU()), ofConv},
		"Recompute, started":       {started(nn.Recompute(conv(), nn.ReLU())), ofConv},
		"Recompute in a struct":    {started(&userBlock{Conv: nn.Recompute(conv()), Out: nn.Dense(10)}), ofConv + ofDense},
		"Recompute of a product":   {started(nn.Recompute(nn.Flatten(), nn.Dense(10))), 2 * 2 * 8 * 8 * 10},
		"SetRecompute":             {recomputed, ofConv + ofDense},
		"SetRecompute in a module": {nn.Lambda(recomputed.Forward, recomputed), ofConv + ofDense},
		"Residual":                 {nn.Residual(nn.Sequential(nn.Conv2D(2, 3, nn.Same()))), 2 * 2 * 8 * 8 * 18},
	} {
		table := nn.Summary(tt.model, 2, 8, 8)
		if table.Err != nil || table.FLOPs() != tt.want {
			t.Errorf("%s: %d FLOPs, want %d; %v", name, table.FLOPs(), tt.want, table.Err)
		}
	}
}
