package nn_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// TestOptions gives each option of the package to each function. What a function takes is part of its Go
// expression, if it has one; everything else is an error with the function, the option and those that it takes.
func TestOptions(t *testing.T) {
	all := []nn.Option{
		nn.NoBias(), nn.Stride(2), nn.Padding(1), nn.Groups(1), nn.Dilation(2), nn.Same(), nn.OutputPadding(1), nn.Epsilon(0.001),
		nn.Causal(), nn.AttentionDropout(0.1), nn.RoPE(10000), nn.HeadSize(4), nn.NumLayers(2), nn.Bidirectional(), nn.LayerDropout(0.5),
		nn.LastOutput(), nn.WithReLU(), nn.FeedForward(8), nn.TransformerDropout(0), nn.NormFirst(), nn.WithGELU(), nn.BagSum(), nn.BagMax(),
		nn.InitStd(0.02), nn.BagPadding(0), nn.PerChannel(), nn.Bilinear(), nn.FreezeStatistics(), nn.LabelSmoothing(0.1), nn.ClassWeights(1, 0.5),
		nn.IgnoreIndex(-100), nn.Blank(1), nn.ZeroInfinity(), nn.Rename("a", "b"), nn.Partial(), nn.Report(&nn.LoadReport{}),
	}
	path := filepath.Join(t.TempDir(), "w.safetensors")
	saved := nn.PReLU()
	saved.Forward(tensor.Zeros(1, 2))
	if err := nn.Save(path, saved); err != nil {
		t.Fatal(err)
	}
	integers := func(values ...int) *nn.Tensor { return tensor.FromInts(values, len(values)) }
	const (
		convolution = "Stride, Padding, Groups, Dilation, NoBias"
		recurrent   = "NumLayers, Bidirectional, LayerDropout, LastOutput, NoBias"
		transformer = "FeedForward, TransformerDropout, NormFirst, WithGELU"
	)
	for _, f := range []struct {
		name, takes string
		call        func(nn.Option) any
	}{
		{"Dense", "NoBias", func(o nn.Option) any { return nn.Dense(3, o) }},
		{"Conv1D", convolution + ", Same", func(o nn.Option) any { return nn.Conv1D(3, 3, o) }},
		{"Conv2D", convolution + ", Same", func(o nn.Option) any { return nn.Conv2D(3, 3, o) }},
		{"Conv3D", convolution + ", Same", func(o nn.Option) any { return nn.Conv3D(3, 3, o) }},
		{"ConvTranspose1D", convolution + ", OutputPadding", func(o nn.Option) any { return nn.ConvTranspose1D(3, 3, o) }},
		{"ConvTranspose2D", convolution + ", OutputPadding", func(o nn.Option) any { return nn.ConvTranspose2D(3, 3, o) }},
		{"MaxPool1D", "Stride, Padding", func(o nn.Option) any { return nn.MaxPool1D(3, o) }},
		{"MaxPool2D", "Stride, Padding", func(o nn.Option) any { return nn.MaxPool2D(3, o) }},
		{"AvgPool1D", "Stride, Padding", func(o nn.Option) any { return nn.AvgPool1D(3, o) }},
		{"AvgPool2D", "Stride, Padding", func(o nn.Option) any { return nn.AvgPool2D(3, o) }},
		{"LayerNorm", "Epsilon", func(o nn.Option) any { return nn.LayerNorm(o) }},
		{"RMSNorm", "Epsilon", func(o nn.Option) any { return nn.RMSNorm(o) }},
		{"SelfAttention", "Causal, AttentionDropout", func(o nn.Option) any { return nn.SelfAttention(3, o) }},
		{"MultiHeadAttention", "Causal, AttentionDropout", func(o nn.Option) any { return nn.MultiHeadAttention(3, o) }},
		{"GroupedQueryAttention", "Causal, AttentionDropout, RoPE, HeadSize, NoBias", func(o nn.Option) any { return nn.GroupedQueryAttention(3, 3, o) }},
		{"RNN", recurrent + ", WithReLU", func(o nn.Option) any { return nn.RNN(3, o) }},
		{"LSTM", recurrent, func(o nn.Option) any { return nn.LSTM(3, o) }},
		{"GRU", recurrent, func(o nn.Option) any { return nn.GRU(3, o) }},
		{"TransformerEncoderLayer", transformer, func(o nn.Option) any { return nn.TransformerEncoderLayer(3, o) }},
		{"TransformerDecoderLayer", transformer, func(o nn.Option) any { return nn.TransformerDecoderLayer(3, o) }},
		{"Embedding", "InitStd", func(o nn.Option) any { return nn.Embedding(3, 3, o) }},
		{"EmbeddingBag", "BagSum, BagMax, BagPadding", func(o nn.Option) any { return nn.EmbeddingBag(3, 3, o) }},
		{"PReLU", "PerChannel", func(o nn.Option) any { return nn.PReLU(o) }},
		{"Upsample", "Bilinear", func(o nn.Option) any { return nn.Upsample(3, o) }},
		{"Freeze", "FreezeStatistics", func(o nn.Option) any { nn.Freeze(nn.BatchNorm(), o); return nil }},
		{"CrossEntropyLoss", "LabelSmoothing, ClassWeights, IgnoreIndex", func(o nn.Option) any { nn.CrossEntropyLoss(o); return nil }},
		{"NLLLoss", "ClassWeights, IgnoreIndex", func(o nn.Option) any { nn.NLLLoss(o); return nil }},
		{"CTC", "Blank, ZeroInfinity", func(o nn.Option) any {
			nn.CTC(tensor.Zeros(1, 2, 3), tensor.FromInts([]int{2}, 1, 1), integers(2), integers(1), o)
			return nil
		}},
		{"Load", "Rename, Partial, Report", func(o nn.Option) any { return nn.Load(path, nn.PReLU(), o) }},
	} {
		takes := strings.Split(f.takes, ", ")
		list := "its option is " + takes[0]
		if last := len(takes) - 1; last > 0 {
			list = "its options are " + strings.Join(takes[:last], ", ") + " and " + takes[last]
		}
		for _, o := range all {
			var got any
			err := func() (err error) {
				defer nn.Catch(&err)
				got = f.call(o)
				return nil
			}()
			if loaded, ok := got.(error); ok {
				err = loaded
			}
			name, _, _ := strings.Cut(o.String(), "(")
			want := fmt.Sprintf("does not take %v: %s", o, list)
			var state *tensor.StateError
			switch {
			case slices.Contains(takes, name) && err != nil:
				t.Errorf("%s with %v: %v", f.name, o, err)
			case slices.Contains(takes, name):
				if layer, ok := got.(fmt.Stringer); ok && !(strings.HasPrefix(layer.String(), f.name+"(") && strings.HasSuffix(layer.String(), o.String()+")")) {
					t.Errorf("%s with %v is %v", f.name, o, layer)
				}
			case f.name == "Load":
				if err == nil || err.Error() != "nn: Load "+want {
					t.Errorf("Load with %v: %v", o, err)
				}
			case !errors.As(err, &state) || *state != tensor.StateError{Op: f.name, Hint: want}:
				t.Errorf("%s with %v: %v", f.name, o, err)
			}
		}
		if layer := f.call(nn.Option{}); layer == nil {
			continue
		} else if s, ok := layer.(fmt.Stringer); ok && strings.Contains(s.String(), "()") && len(s.String()) > len(f.name)+2 {
			t.Errorf("%s with the zero option is %v", f.name, s)
		}
	}
}
