package nn_test

import (
	"math"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// TestInitialValuesEqualPyTorch compares the distribution of the initial values of each parameter of
// each layer that PyTorch has too: constants exactly, others by their deviation and their largest
// value. 4·√(1/n) is more than four standard errors of the deviation of n values.
func TestInitialValuesEqualPyTorch(t *testing.T) {
	type statistics struct {
		Shape                    []int
		Mean, Deviation, Largest float64
	}
	var g struct {
		Layers map[string]map[string]statistics
	}
	read(t, "initial.json", &g)
	none := tensor.AttentionMask{}
	decoder := nn.TransformerDecoderLayer(4, nn.FeedForward(1024))
	layers := map[string]struct {
		layer any
		in    []int // shape of an input
	}{
		"linear":            {nn.Dense(1024), []int{2, 64}},
		"conv1d":            {nn.Conv1D(1024, 5), []int{1, 16, 5}},
		"conv2d":            {nn.Conv2D(1024, 3), []int{1, 16, 3, 3}},
		"conv2d groups":     {nn.Conv2D(1024, 3, nn.Groups(4)), []int{1, 16, 3, 3}},
		"conv3d":            {nn.Conv3D(1024, 3), []int{1, 4, 3, 3, 3}},
		"transpose1d":       {nn.ConvTranspose1D(1024, 4), []int{1, 16, 2}},
		"transpose2d":       {nn.ConvTranspose2D(1024, 3), []int{1, 16, 2, 2}},
		"embedding":         {nn.Embedding(1024, 64), []int{1, 1}},
		"layer norm":        {nn.LayerNorm(), []int{2, 64}},
		"rms norm":          {nn.RMSNorm(), []int{2, 64}},
		"group norm":        {nn.GroupNorm(4), []int{2, 64, 2, 2}},
		"batch norm":        {nn.BatchNorm(), []int{2, 64, 2, 2}},
		"instance norm":     {nn.InstanceNorm(), []int{2, 64, 2, 2}},
		"prelu":             {nn.PReLU(), []int{2, 64, 2, 2}},
		"prelu of channels": {nn.PReLU(nn.PerChannel()), []int{2, 64, 2, 2}},
		"bag":               {nn.EmbeddingBag(1024, 64), []int{1, 1}},
		"rnn":               {nn.RNN(256, nn.NumLayers(2)), []int{1, 2, 64}},
		"lstm":              {nn.LSTM(256, nn.Bidirectional()), []int{1, 2, 64}},
		"gru":               {nn.GRU(256), []int{1, 2, 64}},
		"attention":         {nn.MultiHeadAttention(4), []int{1, 2, 256}},
		"encoder":           {nn.TransformerEncoderLayer(4, nn.FeedForward(1024)), []int{1, 2, 256}},
		"decoder":           {decoder, []int{1, 2, 256}},
	}
	if len(layers) != len(g.Layers) {
		t.Fatalf("%d layers, %d in the golden file", len(layers), len(g.Layers))
	}
	for name, l := range layers {
		t.Run(name, func(t *testing.T) {
			tensor.WeightGenerator().SetState(1, 0)
			x := tensor.Ones(l.in...)
			if m, ok := l.layer.(nn.Module); ok {
				m.Forward(x)
			} else {
				decoder.Decode(x, x, none, none)
			}
			parameters := nn.NamedParameters(l.layer)
			if len(parameters) != len(g.Layers[name]) {
				t.Errorf("%d parameters, want %d", len(parameters), len(g.Layers[name]))
			}
			for _, p := range parameters {
				want, ok := g.Layers[name][p.Name]
				values := p.Float64s()
				n := float64(len(values))
				mean, largest := 0.0, 0.0
				for _, v := range values {
					mean += v / n
					largest = max(largest, math.Abs(v))
				}
				deviation := 0.0
				for _, v := range values {
					deviation += (v - mean) * (v - mean) / n
				}
				deviation = math.Sqrt(deviation)
				allowed := 4 * math.Sqrt(1/n)
				switch {
				case !ok || !slices.Equal(p.Shape(), want.Shape):
					t.Errorf("%s has shape %v, want %v", p.Name, p.Shape(), want.Shape)
				case want.Deviation == 0 && (deviation > 1e-9 || mean != want.Mean):
					t.Errorf("%s is %g ± %g, want %g", p.Name, mean, deviation, want.Mean)
				case want.Deviation == 0:
				case math.Abs(deviation/want.Deviation-1) > allowed || math.Abs(mean-want.Mean) > 4*want.Deviation*math.Sqrt(2/n):
					t.Errorf("%s is %g ± %g, want %g ± %g", p.Name, mean, deviation, want.Mean, want.Deviation)
				case math.Abs(largest/want.Largest-1) > 0.25: // ±1/√n or ±√(3/n), and a normal distribution has larger values
					t.Errorf("the largest value of %s is %g, want about %g", p.Name, largest, want.Largest)
				}
			}
		})
	}
}
