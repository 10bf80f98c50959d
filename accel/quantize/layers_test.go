package quantize_test

import (
	"math"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/quantize"
	"github.com/quernlab/quern/accel/tensor"
)

// basic is a custom block that calls its layers in Go. With leak, an output is also used by another
// op than the normalization after it.
type basic struct {
	first, second *nn.Conv2DLayer
	one, two      nn.Module
	leak          bool
}

func (b *basic) Forward(x *tensor.Tensor) *tensor.Tensor {
	y := b.first.Forward(x)
	z := b.one.Forward(y).ReLU()
	z = b.two.Forward(b.second.Forward(z))
	if b.leak {
		z = z.Add(y)
	}
	return x.Add(z).ReLU()
}

// TestFoldedInGo checks that normalizations are folded exactly where Go code passes them the
// output of a layer.
func TestFoldedInGo(t *testing.T) {
	train, test := digits(t)
	batch, err := test.Tensors()
	if err != nil {
		t.Fatal(err)
	}
	for _, leak := range []bool{false, true} {
		newModel := func() nn.Module {
			conv := func() *nn.Conv2DLayer { return nn.Conv2D(8, 3, nn.Same()) }
			return nn.Sequential(conv(), &basic{conv(), conv(), nn.BatchNorm(), nn.BatchNorm(), leak}, nn.Flatten(), nn.Dense(10))
		}
		model := newModel()
		fitted(t, model, train, 2)
		before := predict(t, model, batch.X)
		small, err := quantize.Static(t.Context(), model, train)
		if err != nil {
			t.Fatal(err)
		}
		kinds := map[string]string{}
		for _, l := range small.Layers() {
			kinds[l.Name] = l.Kind
		}
		if _, float := kinds["1.one"]; float != leak || strings.Contains(kinds["1.first"], "BatchNorm") == leak || !strings.Contains(kinds["1.second"], "BatchNorm") {
			t.Errorf("leak %v: the layers are %v", leak, kinds)
		}
		got := predict(t, small, batch.X)
		if size, difference := norm(before, got); !(difference <= 0.05*size) {
			t.Errorf("leak %v: the outputs differ by %.3g of %.3g", leak, difference, size)
		}
		saved(t, small, newModel, batch.X, got)
	}
}

// tied is a token model whose last layer shares the weight of another.
type tied struct{ a, b, out *nn.DenseLayer }

func newTied() nn.Module {
	m := &tied{nn.Dense(64), nn.Dense(64), nn.Dense(10)}
	m.a.Forward(tensor.Zeros(1, 64))
	m.b.Forward(tensor.Zeros(1, 64))
	m.b.Weight = m.a.Weight
	return m
}

func (m *tied) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.out.Forward(m.b.Forward(m.a.Forward(x.Flatten(1)).ReLU()))
}

// TestSharedWeights tests two layers that share a weight.
func TestSharedWeights(t *testing.T) {
	train, test := digits(t)
	batch, err := test.Tensors()
	if err != nil {
		t.Fatal(err)
	}
	model := newTied()
	fitted(t, model, train, 2)
	for _, make := range []func() (*quantize.Model, error){
		func() (*quantize.Model, error) { return quantize.Static(t.Context(), model, train) },
		func() (*quantize.Model, error) {
			return quantize.Static(t.Context(), model, train, quantize.Float("a"))
		},
		func() (*quantize.Model, error) { return quantize.WeightOnly(model) },
	} {
		small, err := make()
		if err != nil {
			t.Fatal(err)
		}
		if n := len(small.Layers()); n != 3 {
			t.Errorf("there are %d layers: %v", n, small.Layers())
		}
		saved(t, small, newTied, batch.X, predict(t, small, batch.X))
	}
}

// TestChainsOfSequences tests chains whose linear layers compute each position of sequences: a normalization behind one has the
// positions as its channels, also if there are as many as outputs, and Flatten joins them.
func TestChainsOfSequences(t *testing.T) {
	for name, c := range map[string]struct {
		newModel func() nn.Module
		shape    []int
		folded   bool
	}{
		"as many positions as outputs": {func() nn.Module { return nn.Sequential(nn.Dense(4), nn.BatchNorm()) }, []int{4, 3}, false},
		"without a bias":               {func() nn.Module { return nn.Sequential(nn.Dense(4, nn.NoBias()), nn.BatchNorm()) }, []int{4, 3}, false},
		"Flatten":                      {func() nn.Module { return nn.Sequential(nn.Dense(4), nn.ReLU(), nn.Flatten(), nn.Dense(2)) }, []int{4, 3}, false},
		"vectors":                      {func() nn.Module { return nn.Sequential(nn.Dense(4), nn.BatchNorm(), nn.ReLU(), nn.Dense(2)) }, []int{3}, true},
		"vectors without a bias":       {func() nn.Module { return nn.Sequential(nn.Dense(4, nn.NoBias()), nn.BatchNorm()) }, []int{3}, true},
	} {
		t.Run(name, func(t *testing.T) {
			accel.Seed(1)
			const n = 64
			x := tensor.Randn(nil, append([]int{n}, c.shape...)...)
			model := c.newModel()
			for range 30 { // running means that differ between the channels
				model.Forward(x.AddScalar(1).Mul(tensor.New([]float32{1, 2, 3}, 3)))
			}
			set, err := data.FromTensors(x, tensor.FromInts(make([]int, n), n))
			if err != nil {
				t.Fatal(err)
			}
			small, err := quantize.Static(t.Context(), model, set)
			if err != nil {
				t.Fatal(err)
			}
			if folded := strings.Contains(layers(small), "), BatchNorm()"); folded != c.folded {
				t.Errorf("the layers are %s", layers(small))
			}
			want, got := predict(t, model, x), predict(t, small, x)
			if size, difference := norm(want, got); !(difference <= 0.03*size) {
				t.Errorf("the outputs differ by %.3g of %.3g", difference, size)
			}
			saved(t, small, c.newModel, x, got)
		})
	}
}

// TestSequences quantizes a token model, which must generate the same text.
func TestSequences(t *testing.T) {
	text := strings.Repeat("the quick brown fox jumps over the lazy dog. ", 15)
	vocab := data.Chars(text)
	tokens, err := vocab.Encode(text)
	if err != nil {
		t.Fatal(err)
	}
	set, err := data.Windows(tokens, 16, 5)
	if err != nil {
		t.Fatal(err)
	}
	newModel := func() nn.Module {
		return nn.Sequential(
			nn.Embedding(vocab.Size(), 24), nn.PositionEmbedding(16, 24),
			nn.Residual(nn.LayerNorm(), nn.SelfAttention(3, nn.Causal())),
			nn.Residual(nn.LayerNorm(), nn.Dense(96), nn.GELU(), nn.Dense(24)),
			nn.LayerNorm(), nn.Dense(vocab.Size()),
		)
	}
	model := newModel()
	accel.Seed(1)
	if _, err := accel.Fit(t.Context(), model, set, accel.Steps(60), accel.AdamW(5e-3), accel.Quiet()); err != nil {
		t.Fatal(err)
	}
	float, err := accel.Evaluate(t.Context(), model, set)
	if err != nil {
		t.Fatal(err)
	}
	for name, make := range map[string]func() (*quantize.Model, error){
		"static": func() (*quantize.Model, error) {
			return quantize.Static(t.Context(), model, set, quantize.Examples(64))
		},
		"weights": func() (*quantize.Model, error) { return quantize.WeightOnly(model) },
	} {
		small, err := make()
		if err != nil {
			t.Fatal(err)
		}
		got, err := accel.Evaluate(t.Context(), small, set)
		if err != nil {
			t.Fatal(err)
		}
		if !(math.Abs(got.Loss()-float.Loss()) < 0.05*float.Loss()+0.02) {
			t.Errorf("%s: the loss is %v, was %v", name, got.Loss(), float.Loss())
		}
		if _, err := small.Report(t.Context(), set.First(64)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		batch, err := set.First(5).Tensors()
		if err != nil {
			t.Fatal(err)
		}
		saved(t, small, newModel, batch.X, predict(t, small, batch.X))
	}
}
