package nn_test

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// TestLayersRejectArguments requires that layers with arguments that make no sense, which their constructors take, do not
// take an input, in any mode.
func TestLayersRejectArguments(t *testing.T) {
	rows, images := tensor.Ones(2, 6), tensor.Ones(2, 4, 5, 6)
	for _, row := range []struct {
		layer nn.Module
		x     *nn.Tensor
		want  string
	}{
		{nn.Dropout(1.5), rows, "Dropout: the probability 1.5 must be between 0 and 1"},
		{nn.Dropout(-0.1), rows, "Dropout: the probability -0.1 must be between 0 and 1"},
		{nn.Dropout(math.NaN()), rows, "Dropout: the probability NaN must be between 0 and 1"},
		{nn.Dropout2D(2), images, "Dropout2D: the probability 2 must be between 0 and 1"},
		{nn.Dropout2D(0.5), rows, "Dropout2D: [2 6]: the input must be images [N, C, H, W]"},
		{nn.Dense(0), rows, "Dense: [2 6]: the layer has 0 outputs, but it must have at least 1"},
		{nn.Dense(-3), rows, "Dense: [2 6]: the layer has -3 outputs, but it must have at least 1"},
		{nn.Dense(3), tensor.Ones(2, 0), "Dense: [2 0]: the last dimension of the input must be at least 1"},
		{nn.AdaptiveAvgPool2D(0, 1), images, "AdaptiveAvgPool2D(0, 1): [2 4 5 6]: the input must be images [N, C, H, W], and the height and width of the result at least 1"},
		{nn.AdaptiveAvgPool2D(2, 2), rows, "AdaptiveAvgPool2D(2, 2): [2 6]: the input must be images"},
		{nn.AdaptiveAvgPool2D(2, 2), tensor.Ones(2, 4, 0, 6), "AdaptiveAvgPool2D(2, 2): [2 4 0 6]: the input must be images"},
		{nn.PixelShuffle(0), images, "PixelShuffle(0): [2 4 5 6]: the input must be images"},
		{nn.PixelShuffle(3), images, "PixelShuffle(3): [2 4 5 6]: the input must be images [N, C, H, W] whose number of channels is a multiple of the square of the scale"},
		{nn.PixelShuffle(math.MaxInt), images, "whose number of channels is a multiple"},
		{nn.PReLU(nn.PerChannel()), tensor.Ones(3), "PReLU: [3]: with a slope for each channel, the input must be [N, C, …]"},
		{nn.EmbeddingBag(0, 3), tensor.Zeros(2, 2), "EmbeddingBag: [2 2]: EmbeddingBag(0, 3) must have at least one token and a width of at least 1"},
		{nn.EmbeddingBag(3, 3), tensor.Zeros(2), "EmbeddingBag: [2]: the input must be bags of token indices [N, T] with at least one token"},
		{nn.EmbeddingBag(3, 3), tensor.Zeros(2, 0), "EmbeddingBag: [2 0]: the input must be bags"},
		{nn.EmbeddingBag(3, 3), tensor.Full(3, 1, 1), "index 3 (element 0) is outside 0..2"},
		{nn.Softmax(2), rows, "Softmax: [2 6]: axis 2 is out of range"},
	} {
		for _, train := range []bool{true, false} {
			nn.Train(row.layer, train)
			err := lossError(func() { row.layer.Forward(row.x).Data() })
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("%v, training %v: want %s\ngot  %v", row.layer, train, row.want, err)
			}
		}
	}
	p := nn.PReLU(nn.PerChannel())
	p.Forward(images)
	if err := lossError(func() { p.Forward(rows) }); err == nil || err.Error() != "PReLU: [2 6] and [4]: the layer has 4 slopes, but the input needs 6" {
		t.Error(err)
	}
}

// TestDropout2D requires that channels are kept or dropped as a whole, with the expected value of the input.
func TestDropout2D(t *testing.T) {
	tensors.Seed(3)
	layer := nn.Dropout2D(0.25)
	y := layer.Forward(tensor.Ones(50, 40, 2, 3)).Data()
	dropped := 0
	for i := 0; i < len(y); i += 6 {
		switch channel := y[i : i+6]; {
		case slices.Equal(channel, make([]float32, 6)):
			dropped++
		case math.Abs(float64(channel[0])-4./3) > 1e-6 || slices.Min(channel) != slices.Max(channel):
			t.Fatalf("channel %d is %v", i/6, channel)
		}
	}
	if dropped < 420 || dropped > 580 {
		t.Errorf("%d of 2,000 channels were dropped", dropped)
	}
	model := nn.Sequential(nn.Dropout2D(0.5), nn.Dropout(0.5))
	if n := nn.SampleDropout(model, 1); n != 2 {
		t.Errorf("%d layers drop", n)
	}
	if a, b := model.Forward(tensor.Ones(2, 8, 2, 2)).Data(), model.Forward(tensor.Ones(2, 8, 2, 2)).Data(); !slices.Equal(a, b) || !slices.Equal(a[:32], a[32:]) {
		t.Error("samples differ between examples or calls")
	}
	if y := nn.Dropout2D(1).Forward(tensor.Ones(1, 2, 1, 1)).Data(); y[0] != 0 || y[1] != 0 {
		t.Errorf("a share of 1 keeps %v", y)
	}
}

// TestEmbeddingBagOfPadding has bags that are empty without their padding, in which PyTorch's are 0.
func TestEmbeddingBagOfPadding(t *testing.T) {
	ids := tensor.FromInts([]int{2, 2, 2, 1}, 2, 2)
	for _, options := range [][]nn.Option{{}, {nn.BagSum()}, {nn.BagMax()}} {
		bag := nn.EmbeddingBag(3, 2, append(options, nn.BagPadding(2))...)
		y := bag.Forward(ids)
		y.Square().Sum().Backward()
		w := nn.Parameters(bag)[0]
		if got := y.Data(); got[0] != 0 || got[1] != 0 || got[2] != w.Data()[2] || got[3] != w.Data()[3] {
			t.Errorf("%v: %v of %v", bag, got, w.Data())
		}
		closeTo(t, bag.(fmt.Stringer).String(), w.Grad().Float64s(), []float64{0, 0, 2 * w.Float64s()[2], 2 * w.Float64s()[3], 0, 0}, 1e-6)
	}
	// The padding of data.Sequences does not count either.
	bag := nn.EmbeddingBag(3, 2)
	var y *nn.Tensor
	tensor.WithLengths(tensor.FromInts([]int{1, 2}, 2), 2, func() { y = bag.Forward(tensor.FromInts([]int{1, 0, 1, 1}, 2, 2)) })
	if w := nn.Parameters(bag)[0].Data(); !slices.Equal(y.Data(), []float32{w[2], w[3], w[2], w[3]}) {
		t.Errorf("with lengths: %v of %v", y.Data(), w)
	}
}

// TestActivationsOfExtremes compares with the limits of the formulas, whose gradients are finite.
func TestActivationsOfExtremes(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	in := []float32{0, -0.5, 200, -200, 3e38, -3e38, nan, inf}
	for _, row := range []struct {
		layer       nn.Module
		want, slope []float64
	}{
		{nn.Softplus(), []float64{math.Ln2, math.Log1p(math.Exp(-0.5)), 200, 0, 3e38, 0, math.NaN(), math.Inf(1)}, []float64{0.5, 1 / (1 + math.Exp(0.5)), 1, 0, 1, 0, math.NaN(), 1}},
		{nn.PReLU(), []float64{0, -0.125, 200, -50, 3e38, -7.5e37, math.NaN(), math.Inf(1)}, []float64{0.25, 0.25, 1, 0.25, 1, 0.25, 0.25, 1}},
	} {
		x := tensor.Parameter(tensor.New(in, len(in)))
		y := row.layer.Forward(x)
		y.Sum().Backward()
		for i := range in {
			for what, pair := range map[string][2]float64{"value": {y.Float64s()[i], row.want[i]}, "gradient": {x.Grad().Float64s()[i], row.slope[i]}} {
				got, want := pair[0], pair[1]
				if same := got == want || math.IsNaN(got) && math.IsNaN(want); !same && !(math.Abs(got-want) <= 1e-6*max(1, math.Abs(want))) && !(what == "gradient" && in[i] == inf) {
					t.Errorf("%v of %v: %s %v, want %v", row.layer, in[i], what, got, want)
				}
			}
		}
	}
	p := nn.PReLU()
	p.Forward(tensor.Parameter(tensor.New([]float32{inf, 1, -2}, 3))).Sum().Backward()
	if g := nn.Parameters(p)[0].Grad().Item(); g != -2 {
		t.Errorf("the gradient of the slope is %v", g)
	}
}

// TestNewLayersInFiles saves layers with parameters, and writes all as Go code.
func TestNewLayersInFiles(t *testing.T) {
	images, ids := tensor.Ones(1, 4, 2, 2).Neg(), tensor.FromInts([]int{1, 2}, 1, 2)
	for _, row := range []struct {
		make func() nn.Module
		x    *nn.Tensor
		text string
	}{
		{func() nn.Module { return nn.PReLU() }, images, "PReLU()"},
		{func() nn.Module { return nn.PReLU(nn.PerChannel()) }, images, "PReLU(PerChannel())"},
		{func() nn.Module { return nn.EmbeddingBag(3, 2, nn.BagMax(), nn.BagPadding(1)) }, ids, "EmbeddingBag(3, 2, BagMax(), BagPadding(1))"},
		{func() nn.Module { return nn.EmbeddingBag(3, 2, nn.BagSum()) }, ids, "EmbeddingBag(3, 2, BagSum())"},
		{nn.Softplus, images, "Softplus()"},
		{nn.Identity, images, "Identity()"},
		{func() nn.Module { return nn.Softmax(-1) }, images, "Softmax(-1)"},
		{func() nn.Module { return nn.LogSoftmax(1) }, images, "LogSoftmax(1)"},
		{func() nn.Module { return nn.Dropout2D(0.5) }, images, "Dropout2D(0.5)"},
		{func() nn.Module { return nn.AdaptiveAvgPool2D(1, 2) }, images, "AdaptiveAvgPool2D(1, 2)"},
		{func() nn.Module { return nn.PixelShuffle(2) }, images, "PixelShuffle(2)"},
	} {
		path := filepath.Join(t.TempDir(), "model.safetensors")
		a, b := nn.Sequential(row.make()), nn.Sequential(row.make())
		defer nn.Eval([]any{a, b})()
		want := a.Forward(row.x)
		if text := fmt.Sprint(row.make()); text != row.text {
			t.Errorf("%s is written as %s", row.text, text)
		}
		if len(nn.Parameters(a)) == 0 {
			continue
		}
		for _, p := range nn.Parameters(a) {
			tensor.NoGrad(func() { p.Assign(p.MulScalar(3)) })
			want = a.Forward(row.x)
		}
		if err := errors.Join(nn.Save(path, a), nn.Load(path, b)); err != nil {
			t.Errorf("%s: %v", row.text, err)
			continue
		}
		if got := b.Forward(row.x); !slices.Equal(got.Data(), want.Data()) {
			t.Errorf("%s: %v, want %v", row.text, got, want)
		}
	}
	path := filepath.Join(t.TempDir(), "model.safetensors")
	four := nn.Sequential(nn.PReLU(nn.PerChannel()))
	four.Forward(images)
	if err := nn.Save(path, four); err != nil {
		t.Fatal(err)
	}
	if err := nn.Load(path, nn.Sequential(nn.PReLU())); err == nil {
		t.Error("a layer with one slope takes four")
	}
}
