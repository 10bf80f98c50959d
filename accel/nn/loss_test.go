package nn_test

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

func TestLossesEqualPyTorch(t *testing.T) {
	var g struct {
		Labels, Tokens, Ignored                                              []int
		Weights                                                              []float64 `json:"class_weights"`
		Target, Hard, Soft, Distribution, Certain, Positive, Negative, Sides []float64
		Cases                                                                map[string]struct {
			Shape []int
			X, DX []float64
			Y     float64
		}
	}
	read(t, "losses.json", &g)
	labels, ignored := tensor.FromInts(g.Labels, 4), tensor.FromInts(g.Ignored, 4)
	tokens := tensor.FromInts(g.Tokens, 2, 3)
	matrix := func(v []float64) *nn.Tensor { return of(v, 4, 5) }
	weights := nn.ClassWeights(g.Weights...)
	to := func(loss nn.Loss, target *nn.Tensor) func(*nn.Tensor) *nn.Tensor {
		return func(x *nn.Tensor) *nn.Tensor { return loss(x, target) }
	}
	losses := map[string]func(x *nn.Tensor) *nn.Tensor{
		"bce":                    to(nn.BCEWithLogits, matrix(g.Hard)),
		"bce soft":               to(nn.BCEWithLogits, matrix(g.Soft)),
		"bce extreme":            to(nn.BCEWithLogitsLoss(), matrix(g.Hard)),
		"bce positive":           to(nn.BCEWithLogitsLoss(g.Weights...), matrix(g.Hard)),
		"bce positive extreme":   to(nn.BCEWithLogitsLoss(g.Weights...), matrix(g.Soft)),
		"cross entropy":          to(nn.CrossEntropy, labels),
		"cross entropy extreme":  to(nn.CrossEntropyLoss(), labels),
		"cross entropy sequence": to(nn.CrossEntropy, tokens),
		"smoothing":              to(nn.CrossEntropyLoss(nn.LabelSmoothing(0.1)), labels),
		"smoothing extreme":      to(nn.CrossEntropyLoss(nn.LabelSmoothing(0.2)), labels),
		"weights":                to(nn.CrossEntropyLoss(weights), labels),
		"ignore":                 to(nn.CrossEntropyLoss(nn.IgnoreIndex(2)), ignored),
		"all options":            to(nn.CrossEntropyLoss(weights, nn.IgnoreIndex(2), nn.LabelSmoothing(0.3)), ignored),
		"all options sequence":   to(nn.CrossEntropyLoss(weights, nn.IgnoreIndex(4), nn.LabelSmoothing(0.3)), tokens),
		"nll":                    to(nn.NLL, labels),
		"nll weights":            to(nn.NLLLoss(weights, nn.IgnoreIndex(2)), ignored),
		"l1":                     to(nn.L1, matrix(g.Target)),
		"l1 equal":               to(nn.L1, matrix(g.Target)),
		"huber":                  to(nn.HuberLoss(1.5), matrix(g.Target)),
		"huber extreme":          to(nn.HuberLoss(0.5), matrix(g.Target)),
		"smooth l1":              to(nn.SmoothL1Loss(2), matrix(g.Target)),
		"kl":                     to(nn.KLDiv, matrix(g.Distribution)),
		"kl certain":             to(nn.KLDiv, matrix(g.Certain)),
		"focal":                  to(nn.FocalLoss(2, 0.25), matrix(g.Hard)),
		"focal without alpha":    to(nn.FocalLoss(1.5, -1), matrix(g.Hard)),
		"triplet":                func(x *nn.Tensor) *nn.Tensor { return nn.TripletMargin(x, matrix(g.Positive), matrix(g.Negative), 1) },
		"cosine":                 func(x *nn.Tensor) *nn.Tensor { return nn.CosineEmbedding(x, matrix(g.Target), of(g.Sides, 4), 0.1) },
	}
	if got, want := slices.Sorted(maps.Keys(losses)), slices.Sorted(maps.Keys(g.Cases)); !slices.Equal(got, want) {
		t.Fatalf("losses %v, in the golden file %v", got, want)
	}
	for name, loss := range losses {
		t.Run(name, func(t *testing.T) {
			c := g.Cases[name]
			x := tensor.Parameter(of(c.X, c.Shape...))
			y := loss(x)
			y.Backward()
			closeTo(t, "loss", y.Float64s(), []float64{c.Y}, 2e-6)
			closeTo(t, "gradient", x.Grad().Float64s(), c.DX, 1e-6)
		})
	}
}

func TestLossesOfInfiniteLogits(t *testing.T) {
	inf := float32(math.Inf(1))
	logits := tensor.New([]float32{1, -inf, 2}, 1, 3)
	want := math.Log(1 + math.E)
	for name, y := range map[string]*nn.Tensor{
		"weights": nn.CrossEntropyLoss(nn.ClassWeights(1, 1, 1))(logits, tensor.FromInts([]int{0}, 1)),
		"KLDiv":   nn.KLDiv(logits.LogSoftmax(-1), tensor.New([]float32{1, 0, 0}, 1, 3)),
	} {
		if got := y.Item(); math.Abs(got-want) > 1e-6 {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := nn.BCEWithLogits(tensor.New([]float32{inf, -inf}, 2), tensor.New([]float32{0, 1}, 2)).Item(); !math.IsInf(got, 1) && !math.IsNaN(got) {
		t.Errorf("infinitely wrong: %v", got)
	}
	if got := nn.KLDiv(tensor.Zeros(1, 1), tensor.New([]float32{-0.5}, 1, 1)).Item(); !math.IsNaN(got) {
		t.Errorf("a negative probability: %v", got)
	}
}

func TestIgnoreIndexOfOtherTypes(t *testing.T) {
	logits := tensor.New([]float32{1, 2, 0, 1}, 2, 2)
	loss := nn.CrossEntropyLoss(nn.IgnoreIndex(-100))
	if got, want := loss(logits, tensor.FromInts([]int{0, -100}, 2)).Item(), math.Log(1+math.E); math.Abs(got-want) > 1e-6 {
		t.Errorf("want %v, got %v", want, got)
	}
	for name, empty := range map[string]nn.Loss{"ignored": loss, "smoothed": nn.CrossEntropyLoss(nn.IgnoreIndex(-100), nn.LabelSmoothing(0.1)), "weighted": nn.CrossEntropyLoss(nn.IgnoreIndex(-100), nn.ClassWeights(2, 3))} {
		x := tensor.Parameter(tensor.New([]float32{1, 2, 0, 1}, 2, 2))
		l := empty(x, tensor.FromInts([]int{-100, -100}, 2))
		l.Backward()
		if g := x.Grad().Data(); l.Item() != 0 || !slices.Equal(g, make([]float32, 4)) {
			t.Errorf("nothing but ignored examples, %s: loss %v, gradient %v", name, l.Item(), g)
		}
	}
	if err := lossError(func() { loss(logits, tensor.FromBytes([]uint8{0, 156}, 2)).Item() }); err == nil {
		t.Error("156 is -100 in eight bits, but is not ignored")
	}
	for _, wrong := range []*tensor.Tensor{tensor.FromInts([]int{0, -1}, 2), tensor.FromInts([]int{0, 2}, 2).Cast(tensor.Int64), tensor.New([]float32{0, 1 << 32}, 2).Cast(tensor.Int64)} {
		if err := lossError(func() { loss(logits, wrong).Item() }); err == nil {
			t.Errorf("the label %v is no class, and is not ignored", wrong)
		}
	}
}

func TestBinaryLossesTakeIntegers(t *testing.T) {
	x := tensor.New([]float32{1, -2}, 2)
	if got, want := nn.BCEWithLogits(x, tensor.FromInts([]int{1, 0}, 2)).Item(), nn.BCEWithLogits(x, tensor.New([]float32{1, 0}, 2)).Item(); got != want {
		t.Errorf("want %v, got %v", want, got)
	}
}

func lossError(f func()) (err error) {
	defer nn.Catch(&err)
	f()
	return nil
}

func TestLossErrors(t *testing.T) {
	a, b, none := tensor.Zeros(4, 5), tensor.Zeros(4, 1), tensor.Zeros(0, 5)
	labels := tensor.FromInts([]int{0, 1, 2, 3}, 4)
	pairs := map[string]nn.Loss{
		"BCEWithLogits": nn.BCEWithLogits, "BCEWithLogitsLoss": nn.BCEWithLogitsLoss(2), "L1": nn.L1, "HuberLoss": nn.HuberLoss(1),
		"SmoothL1Loss": nn.SmoothL1Loss(1), "KLDiv": nn.KLDiv, "FocalLoss": nn.FocalLoss(2, 0.25),
		"TripletMargin": func(p, y *nn.Tensor) *nn.Tensor { return nn.TripletMargin(p, y, p, 1) },
	}
	for op, loss := range pairs {
		var shape *tensor.ShapeError
		err := lossError(func() { loss(a, b) })
		if !errors.As(err, &shape) || shape.Op != op || !slices.Equal(shape.Shapes[0], []int{4, 5}) || !slices.Equal(shape.Shapes[1], []int{4, 1}) {
			t.Errorf("%s: %v", op, err)
		}
		if err := lossError(func() { loss(none, none) }); !errors.As(err, &shape) || shape.Hint != "an empty batch has no mean loss" {
			t.Errorf("%s: %v", op, err)
		}
	}
	weighted := nn.CrossEntropyLoss(nn.ClassWeights(1, 2))
	smooth := nn.CrossEntropyLoss(nn.LabelSmoothing(0.1))
	for want, f := range map[string]func(){
		"CrossEntropyLoss: [4 5] and [4]: there are 2 class weights for 5 classes":                                                                                func() { weighted(a, labels) },
		"CrossEntropyLoss: [4 5] and [2]: scores must be [N C] and classes [N], or [N T C] and [N T]":                                                             func() { smooth(a, tensor.FromInts([]int{0, 1}, 2)) },
		"CrossEntropyLoss: [0 5] and [0]: an empty batch has no mean loss":                                                                                        func() { smooth(none, tensor.FromInts(nil, 0)) },
		"CrossEntropyLoss: float32 and float32: classes must be integers: labels.Cast(tensor.Int32) converts them, tensor.FromInts(classes, n) creates n of them": func() { smooth(a, tensor.Zeros(4)) },
		"CrossEntropy: class -100 of row 1 is outside 0..4: the logits have 5 classes; a loss leaves it out with nn.IgnoreIndex(-100)":                            func() { nn.CrossEntropy(a, tensor.FromInts([]int{0, -100, 2, 3}, 4)) },
		"OneHot: index -100 (element 1) is outside 0..4; a loss leaves it out with nn.IgnoreIndex(-100)":                                                          func() { smooth(a, tensor.FromInts([]int{0, -100, 2, 3}, 4)) },
		"OneHot: index -1 (element 0) is outside 0..4; a loss leaves it out with nn.IgnoreIndex(-1)":                                                              func() { nn.NLL(a, tensor.FromInts([]int{-1, 1, 2, 3}, 4)) },
		"OneHot: index 5 (element 3) is outside 0..4":                                                                                                             func() { nn.NLL(a, tensor.FromInts([]int{0, 1, 2, 5}, 4)) },
		"CrossEntropyLoss: LabelSmoothing(1.5): the share must be from 0 to 1":                                                                                    func() { nn.CrossEntropyLoss(nn.LabelSmoothing(1.5)) },
		"CrossEntropyLoss: LabelSmoothing(NaN): the share must be from 0 to 1":                                                                                    func() { nn.CrossEntropyLoss(nn.LabelSmoothing(math.NaN())) },
		"NLLLoss: ClassWeights(1, -1): the weight -1 of class 1 is negative or NaN":                                                                               func() { nn.NLLLoss(nn.ClassWeights(1, -1)) },
		"BCEWithLogitsLoss: the weight -2 is negative or NaN":                                                                                                     func() { nn.BCEWithLogitsLoss(-2) },
		"BCEWithLogitsLoss: [4 5]: there are 2 weights: there must be one, or one for each element of the last dimension":                                         func() { nn.BCEWithLogitsLoss(1, 2)(a, a) },
		"HuberLoss: delta must be positive":                                                                                                                       func() { nn.HuberLoss(0) },
		"SmoothL1Loss: beta must not be negative":                                                                                                                 func() { nn.SmoothL1Loss(-1) },
		"FocalLoss: gamma must not be negative":                                                                                                                   func() { nn.FocalLoss(-1, 0.5) },
		"FocalLoss: alpha must be at most 1":                                                                                                                      func() { nn.FocalLoss(2, 1.5) },
		"TripletMargin: the margin 0 must be positive":                                                                                                            func() { nn.TripletMargin(a, a, a, 0) },
		"CosineEmbedding: the margin 2 must be from -1 to 1":                                                                                                      func() { nn.CosineEmbedding(a, a, tensor.Zeros(4), 2) },
		"CosineEmbedding: [4 5] and [4 5] and [3]: a and b must be [N D], same must be [N]":                                                                       func() { nn.CosineEmbedding(a, a, tensor.Zeros(3), 0) },
	} {
		if err := lossError(f); err == nil || err.Error() != want {
			t.Errorf("want %s\ngot  %v", want, err)
		}
	}
}

// TestSoftCrossEntropy compares probabilities as targets with PyTorch's definition in float64: the mean over
// the examples of -Σ w·y·ln softmax(x), where smoothing mixes y with 1/C.
func TestSoftCrossEntropy(t *testing.T) {
	x := []float64{1, -2, 0.5, 0, 3, -1, 2, 2, 2, -4, 0.1, 0.2}
	y := []float64{0.2, 0.3, 0.5, 1, 0, 0, 0, 0.5, 0.5, 1. / 3, 1. / 3, 1. / 3}
	weights := []float64{1, 3, 0.5}
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float64} {
		for name, row := range map[string]struct {
			loss      nn.Loss
			weights   []float64
			smoothing float64
		}{
			"plain":    {nn.CrossEntropy, []float64{1, 1, 1}, 0},
			"options":  {nn.CrossEntropyLoss(), []float64{1, 1, 1}, 0},
			"smoothed": {nn.CrossEntropyLoss(nn.LabelSmoothing(0.3)), []float64{1, 1, 1}, 0.3},
			"weights":  {nn.CrossEntropyLoss(nn.ClassWeights(weights...)), weights, 0},
			"both":     {nn.CrossEntropyLoss(nn.ClassWeights(weights...), nn.LabelSmoothing(0.3)), weights, 0.3},
		} {
			for _, shape := range [][]int{{4, 3}, {2, 2, 3}} {
				want, slopes := 0.0, make([]float64, len(x))
				for i := 0; i < len(x); i += 3 {
					sum, share := 0.0, 0.0
					for c := range 3 {
						sum += math.Exp(x[i+c])
					}
					for c := range 3 {
						target := row.weights[c] * (y[i+c]*(1-row.smoothing) + row.smoothing/3)
						want -= target * (x[i+c] - math.Log(sum)) / 4
						share += target
						slopes[i+c] -= target / 4
					}
					for c := range 3 {
						slopes[i+c] += share * math.Exp(x[i+c]) / sum / 4
					}
				}
				p := tensor.Parameter(tensor.FromFloat64s(x, shape...).Cast(d).Clone())
				loss := row.loss(p, tensor.FromFloat64s(y, shape...).Cast(d))
				loss.Backward()
				if got := loss.Item(); math.Abs(got-want) > 1e-6 {
					t.Errorf("%s, %v, %v: %v, want %v", name, d, shape, got, want)
				}
				for i, g := range p.Grad().Float64s() {
					if math.Abs(g-slopes[i]) > 1e-6 {
						t.Errorf("%s, %v: gradient %d is %v, want %v", name, d, i, g, slopes[i])
					}
				}
			}
		}
	}
	// A class that both exclude counts 0, and its gradient is 0.
	p := tensor.Parameter(tensor.New([]float32{0, float32(math.Inf(-1))}, 1, 2))
	loss := nn.CrossEntropy(p, tensor.New([]float32{1, 0}, 1, 2))
	loss.Backward()
	if g := p.Grad().Data(); loss.Item() != 0 || g[0] != 0 || g[1] != 0 {
		t.Errorf("an excluded class: %v with gradient %v", loss.Item(), g)
	}
	// One-hot targets are the classes.
	logits := tensor.FromFloat64s(x, 4, 3)
	classes := tensor.FromInts([]int{0, 2, 1, 1}, 4)
	if a, b := nn.CrossEntropy(logits, classes.OneHot(3)).Item(), nn.CrossEntropy(logits, classes).Item(); math.Abs(a-b) > 1e-6 {
		t.Errorf("one-hot targets have a loss of %v, classes %v", a, b)
	}
	for name, f := range map[string]func(){
		"ignored index":   func() { nn.CrossEntropyLoss(nn.IgnoreIndex(0))(logits, tensor.Zeros(4, 3)) },
		"another shape":   func() { nn.CrossEntropy(logits, tensor.Zeros(4, 2)) },
		"numbers":         func() { nn.CrossEntropyLoss(nn.LabelSmoothing(0.1))(logits, tensor.Zeros(4)) },
		"too few weights": func() { nn.CrossEntropyLoss(nn.ClassWeights(1, 2))(logits, tensor.Zeros(4, 3)) },
		"empty":           func() { nn.CrossEntropy(tensor.Zeros(0, 3), tensor.Zeros(0, 3)) },
	} {
		var err error
		func() {
			defer nn.Catch(&err)
			f()
		}()
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestWeightedMean checks values, gradients and broadcasting.
func TestWeightedMean(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, row := range []struct {
		values, weights []float32
		shape           []int // of the weights
		want            float64
		slope           []float32
	}{
		{[]float32{1, 2, 3, 4}, []float32{1, 0, 1, 2}, []int{2, 2}, 3, []float32{.25, 0, .25, .5}},
		{[]float32{1, 2, 3, 4}, []float32{1, 3}, []int{2}, 2.75, []float32{.125, .375, .125, .375}},
		{[]float32{1, 2, 3, 4}, []float32{1, 0}, []int{2, 1}, 1.5, []float32{.5, .5, 0, 0}},
		{[]float32{1, 2, 3, 4}, []float32{0}, []int{1}, 0, []float32{0, 0, 0, 0}},
		{[]float32{1, inf, 3, 4}, []float32{1, 0, 1, 2}, []int{2, 2}, 3, []float32{.25, 0, .25, .5}},
	} {
		v := tensor.Parameter(tensor.New(row.values, 2, 2))
		mean := nn.WeightedMean(v, tensor.New(row.weights, row.shape...))
		mean.Backward()
		if mean.Item() != row.want || !slices.Equal(v.Grad().Data(), row.slope) {
			t.Errorf("%v with weights %v: %v with gradient %v, want %v and %v", row.values, row.weights, mean.Item(), v.Grad().Data(), row.want, row.slope)
		}
	}
}

// TestMoreLossesEqualPyTorch compares losses of several inputs, and the gradients of all inputs that are not
// integers, in float32 and float64.
func TestMoreLossesEqualPyTorch(t *testing.T) {
	var g struct {
		Cases map[string]struct {
			Y      float64
			Inputs []struct {
				Shape          []int
				Data, Gradient []float64
				Integers       bool
			}
		}
	}
	read(t, "more_losses.json", &g)
	type T = *nn.Tensor
	pair := func(loss nn.Loss) func(in []T) T { return func(in []T) T { return loss(in[0], in[1]) } }
	weights := nn.ClassWeights(0.5, 2, 1)
	gaussian := func(in []T) T { return nn.GaussianNLL(in[0], in[1], in[2]) }
	ctc := func(options ...nn.Option) func(in []T) T {
		return func(in []T) T { return nn.CTC(in[0].LogSoftmax(-1), in[1], in[2], in[3], options...) }
	}
	distillation := func(temperature float64) func(in []T) T {
		return func(in []T) T { return nn.Distillation(temperature)(in[0], in[1]).Add(in[1].Sum().MulScalar(0)) }
	}
	losses := map[string]func(in []T) T{
		"batch hard":             pair(nn.BatchHardTriplet(0.5)),
		"batch hard, lonely":     pair(nn.BatchHardTriplet(0.5)),
		"batch hard, one class":  pair(nn.BatchHardTriplet(0.5)),
		"distillation":           distillation(1),
		"distillation, warm":     distillation(4),
		"images":                 pair(nn.CrossEntropy),
		"images, all options":    pair(nn.CrossEntropyLoss(weights, nn.IgnoreIndex(2), nn.LabelSmoothing(0.3))),
		"images, nll":            pair(nn.NLLLoss(weights)),
		"images, probabilities":  pair(nn.CrossEntropyLoss(weights, nn.LabelSmoothing(0.3))),
		"volumes":                pair(nn.CrossEntropyLoss(nn.LabelSmoothing(0.1))),
		"gaussian":               gaussian,
		"gaussian, one variance": gaussian,
		"poisson":                pair(nn.PoissonNLL),
		"ranking":                func(in []T) T { return nn.MarginRanking(in[0], in[1], in[2], 0) },
		"ranking, margin":        func(in []T) T { return nn.MarginRanking(in[0], in[1], in[2], 0.5) },
		"quantile":               pair(nn.QuantileLoss(0.9)),
		"quantiles":              pair(nn.QuantileLoss(0.1, 0.5, 0.9)),
		"ctc":                    ctc(),
		"ctc, lengths":           ctc(),
		"ctc, last blank":        ctc(nn.Blank(3)),
		"ctc, no labels":         ctc(),
		"ctc, zero infinity":     ctc(nn.ZeroInfinity()),
		"ctc, one position":      ctc(),
		"ctc, long":              ctc(),
	}
	if got, want := slices.Sorted(maps.Keys(losses)), slices.Sorted(maps.Keys(g.Cases)); !slices.Equal(got, want) {
		t.Fatalf("losses %v, in the golden file %v", got, want)
	}
	for name, loss := range losses {
		for _, d := range []tensor.DType{tensor.Float32, tensor.Float64} {
			t.Run(name+" "+d.String(), func(t *testing.T) {
				tolerance := map[tensor.DType]float64{tensor.Float32: 3e-6, tensor.Float64: 1e-12}[d]
				c := g.Cases[name]
				in := make([]T, len(c.Inputs))
				for i, x := range c.Inputs {
					in[i] = tensor.FromFloat64s(x.Data, x.Shape...)
					if x.Integers {
						in[i] = in[i].Cast(tensor.Int32).Clone()
					} else {
						in[i] = tensor.Parameter(in[i].Cast(d).Clone())
					}
				}
				y := loss(in)
				y.Backward()
				if closeTo(t, "loss", y.Float64s(), []float64{c.Y}, tolerance); y.DType() != d {
					t.Errorf("the loss has type %v", y.DType())
				}
				for i, x := range c.Inputs {
					grad := make([]float64, len(x.Data)) // of inputs that the loss does not change with
					if x.Integers {
						continue
					} else if p := in[i].Grad(); p != nil {
						grad = p.Float64s()
					}
					scale := 0.0 // gradients of variances are large
					for _, v := range x.Gradient {
						scale = max(scale, math.Abs(v))
					}
					closeTo(t, "gradient", grad, x.Gradient, tolerance*max(1, scale))
				}
			})
		}
	}
}

// TestMoreLossesOfDegenerateExamples computes losses of a single example, of targets that are exact, and of what has no
// probability; the wanted values follow from the formulas.
func TestMoreLossesOfDegenerateExamples(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	one := func(v float64) *nn.Tensor { return tensor.FromFloat64s([]float64{v}, 1, 1).Cast(tensor.Float32) }
	steps := func(logits []float32, labels []int, inputs int) *nn.Tensor {
		n := len(logits) / 2
		return nn.CTC(tensor.New(logits, 1, n, 2), tensor.FromInts(labels, 1, len(labels)), tensor.FromInts([]int{inputs}, 1), tensor.FromInts([]int{len(labels)}, 1))
	}
	half, never := float32(-math.Ln2), float32(math.Inf(-1))
	for name, row := range map[string]struct {
		got  *nn.Tensor
		want float64
	}{
		"gaussian, exact":                  {nn.GaussianNLL(one(2), one(2), one(1)), 0},
		"gaussian, no variance":            {nn.GaussianNLL(one(2), one(2), one(0)), math.Log(1e-6) / 2},
		"gaussian, negative":               {nn.GaussianNLL(one(2), one(2), one(-1)), nan},
		"gaussian, NaN":                    {nn.GaussianNLL(one(2), one(2), one(nan)), nan},
		"gaussian, infinite variance":      {nn.GaussianNLL(one(2), one(2), one(inf)), inf},
		"divergence, none":                 {nn.GaussianKL(one(0), one(0)), 0},
		"divergence, one value":            {nn.GaussianKL(one(2), one(1)), (4 + math.E - 2) / 2},
		"divergence, no variance":          {nn.GaussianKL(one(0), one(-inf)), inf},
		"divergence, NaN":                  {nn.GaussianKL(one(nan), one(0)), nan},
		"poisson of nothing":               {nn.PoissonNLL(one(-inf), one(1)), inf},
		"poisson, NaN":                     {nn.PoissonNLL(one(nan), one(1)), nan},
		"quantile, exact":                  {nn.QuantileLoss(0.1)(one(3), one(3)), 0},
		"quantile, below":                  {nn.QuantileLoss(0.1)(one(3), one(5)), 0.2},
		"quantile, above":                  {nn.QuantileLoss(0.1)(one(3), one(1)), 1.8},
		"quantiles of two times":           {nn.QuantileLoss(0.1, 0.9)(tensor.New([]float32{1, 2, 5, 6}, 1, 4), tensor.New([]float32{2, 4}, 1, 2)), 0.2},
		"quantile, NaN":                    {nn.QuantileLoss(0.1)(one(nan), one(1)), nan},
		"ranking, equal":                   {nn.MarginRanking(one(3), one(3), one(1), 0), 0},
		"ranking, NaN":                     {nn.MarginRanking(one(nan), one(3), one(1), 0), nan},
		"CTC, one position":                {steps([]float32{half, half}, []int{1}, 1), math.Ln2},
		"CTC, no position, no label":       {steps([]float32{half, half}, nil, 0), 0},
		"CTC, no position":                 {steps([]float32{half, half}, []int{1}, 0), inf},
		"CTC, too short":                   {steps([]float32{half, half, half, half}, []int{1, 1}, 2), inf},
		"CTC, just long enough":            {steps([]float32{half, half, half, half, half, half}, []int{1, 1}, 3), 3 * math.Ln2 / 2},
		"CTC, impossible":                  {steps([]float32{0, never, 0, never}, []int{1}, 2), inf},
		"CTC, impossible at one of two":    {steps([]float32{0, never, half, half}, []int{1}, 2), math.Ln2},
		"CTC, NaN":                         {steps([]float32{half, float32(nan)}, []int{1}, 1), nan},
		"cross entropy of one pixel":       {nn.CrossEntropy(tensor.Zeros(1, 2, 1, 1), tensor.FromInts([]int{1}, 1, 1, 1)), math.Ln2},
		"smoothed, classes without weight": {nn.CrossEntropyLoss(nn.ClassWeights(0, 2), nn.LabelSmoothing(0.5))(tensor.Zeros(1, 2), tensor.FromInts([]int{0}, 1)), 0},
		"cross entropy of ignored pixel":   {nn.CrossEntropyLoss(nn.IgnoreIndex(1))(tensor.Zeros(1, 2, 1, 1), tensor.FromInts([]int{1}, 1, 1, 1)), 0},
	} {
		got := row.got.Item()
		if same := got == row.want || math.IsNaN(got) && math.IsNaN(row.want); !same && !(math.Abs(got-row.want) <= 1e-6) {
			t.Errorf("%s: %v, want %v", name, got, row.want)
		}
	}
	// An impossible sequence has no gradient, and that of others is finite.
	x := tensor.Parameter(tensor.New([]float32{0, never, 0, never, half, half, half, half}, 2, 2, 2))
	labels, both := tensor.FromInts([]int{1, 1}, 2, 1), tensor.FromInts([]int{2, 2}, 2)
	nn.CTC(x, labels, both, tensor.FromInts([]int{1, 1}, 2)).Backward()
	if g := x.Grad().Data(); !slices.Equal(g[:4], make([]float32, 4)) || g[5] >= 0 {
		t.Errorf("gradient %v", g)
	}
	finiteAll(t, "gradient of CTC", x.Grad())
}

// TestGaussianKLEqualsPyTorch has the value and gradients of torch.distributions.kl_divergence(Normal(m, (l/2).exp()),
// Normal(0, 1)).sum(1).mean().
func TestGaussianKLEqualsPyTorch(t *testing.T) {
	m := tensor.Parameter(tensor.New([]float32{0.5, -1, 0, 2, 0, 3}, 2, 3))
	l := tensor.Parameter(tensor.New([]float32{0, 1, -2, 0.5, 0, -0.5}, 2, 3))
	loss := nn.GaussianKL(m, l)
	loss.Backward()
	for _, row := range []struct {
		got  []float32
		want []float64
	}{
		{loss.Data(), []float64{4.089717388153076}},
		{m.Grad().Data(), []float64{0.25, -0.5, 0, 1, 0, 1.5}},
		{l.Grad().Data(), []float64{0, 0.42957040667533875, -0.216166153550148, 0.1621803492307663, 0, -0.09836732596158981}},
	} {
		for i, v := range row.got {
			if math.Abs(float64(v)-row.want[i]) > 1e-6 {
				t.Errorf("%v, want %v", row.got, row.want)
			}
		}
	}
}

func TestMoreLossErrors(t *testing.T) {
	a, b := tensor.Zeros(4, 5), tensor.Zeros(4, 1)
	ints := func(shape ...int) *nn.Tensor { return tensor.Zeros(shape...).Cast(tensor.Int32) }
	ones := func(n int) *nn.Tensor { return tensor.Ones(n).Cast(tensor.Int32) }
	for _, row := range []struct {
		want string
		f    func()
	}{
		{"CrossEntropy: [2 3 4 5] and [2 4 4]: scores of pixels must be [N C H W] and classes [N H W]", func() { nn.CrossEntropy(tensor.Zeros(2, 3, 4, 5), ints(2, 4, 4)) }},
		{"CrossEntropy: [2 3 4 5] and [2]: logits must be [N C] and labels [N]; is Flatten missing in the model?", func() { nn.CrossEntropy(tensor.Zeros(2, 3, 4, 5), ints(2)) }},
		{"CrossEntropy: [2 3 4 5] and [2 20]: scores for the classes of pixels in one row must be [N H*W C]: x.Reshape(n, c, h*w).Permute(0, 2, 1) as the last step of the model makes them of [N C H W]", func() { nn.CrossEntropy(tensor.Zeros(2, 3, 4, 5), ints(2, 20)) }},
		{"NLL: [2 3 4 5] and [2]: scores must be [N C] and classes [N], or [N T C] and [N T]; is Flatten missing in the model?", func() { nn.NLL(tensor.Zeros(2, 3, 4, 5), ints(2)) }},
		{"NLLLoss: [2 3 4 5] and [2 4 5]: there are 2 class weights for 3 classes", func() { nn.NLLLoss(nn.ClassWeights(1, 2))(tensor.Zeros(2, 3, 4, 5), ints(2, 4, 5)) }},
		{"CrossEntropy: [0 3 4 5] and [0 4 5]: an empty batch has no mean loss", func() { nn.CrossEntropy(tensor.Zeros(0, 3, 4, 5), ints(0, 4, 5)) }},
		{"GaussianNLL: [4 5] and [4 1]: the shapes must be equal", func() { nn.GaussianNLL(a, b, a) }},
		{"GaussianNLL: [4 5] and [4 5] and [1 5]: the variances must have the shape of the means", func() { nn.GaussianNLL(a, a, tensor.Zeros(1, 5)) }},
		{"GaussianNLL: [0 5] and [0 5]: an empty batch", func() { nn.GaussianNLL(tensor.Zeros(0, 5), tensor.Zeros(0, 5), tensor.Zeros(0, 5)) }},
		{"GaussianKL: [4 5] and [4 1]: the shapes must be equal", func() { nn.GaussianKL(a, b) }},
		{"GaussianKL: [0 5] and [0 5]: an empty batch", func() { nn.GaussianKL(tensor.Zeros(0, 5), tensor.Zeros(0, 5)) }},
		{"GaussianKL: the tensors need a batch dimension", func() { nn.GaussianKL(tensor.Zeros(), tensor.Zeros()) }},
		{"PoissonNLL: [4 5] and [4 1]: the shapes must be equal", func() { nn.PoissonNLL(a, b) }},
		{"QuantileLoss: the quantile 1 must be strictly between 0 and 1", func() { nn.QuantileLoss(0.5, 1) }},
		{"QuantileLoss: the quantile NaN must be", func() { nn.QuantileLoss(math.NaN()) }},
		{"QuantileLoss: it needs at least one quantile", func() { nn.QuantileLoss() }},
		{"QuantileLoss: [4 5] and [4 1]: the shapes must be equal", func() { nn.QuantileLoss(0.5)(a, b) }},
		{"QuantileLoss: [4 5] and [4 1]: with 2 quantiles, the prediction must have 2 times as many elements", func() { nn.QuantileLoss(0.1, 0.9)(a, b) }},
		{"QuantileLoss: [0 2] and [0 1]: an empty batch", func() { nn.QuantileLoss(0.1, 0.9)(tensor.Zeros(0, 2), tensor.Zeros(0, 1)) }},
		{"MarginRanking: the margin -1 is negative or NaN", func() { nn.MarginRanking(a, a, a, -1) }},
		{"MarginRanking: [4 5] and [4 5] and [4 1]: the shapes must be equal", func() { nn.MarginRanking(a, a, b, 0) }},
		{"CTC: [2 3 4] and [2 1] and [3] and [2]: the shapes must be [N T C], [N S], [N] and [N]", func() { nn.CTC(tensor.Zeros(2, 3, 4), ints(2, 1), ones(3), ones(2)) }},
		{"CTC: [2 0 4] and [2 1] and [2] and [2]: an empty batch", func() { nn.CTC(tensor.Zeros(2, 0, 4), ints(2, 1), ones(2), ones(2)) }},
		{"CTC: float32 and float32: labels and lengths must be integers", func() { nn.CTC(tensor.Zeros(2, 3, 4), tensor.Zeros(2, 1), ones(2), ones(2)) }},
		{"label 0 of sequence 0 is 0: it must be from 0 to 3, and not the blank 0", func() { nn.CTC(tensor.Zeros(2, 3, 4), ints(2, 1), ones(2), ones(2)) }},
		{"label 0 of sequence 0 is 4: it must be from 0 to 3", func() { nn.CTC(tensor.Zeros(1, 3, 4), tensor.FromInts([]int{4}, 1, 1), ones(1), ones(1)) }},
		{"the blank 4 is not one of 4 classes", func() { nn.CTC(tensor.Zeros(1, 3, 4), ints(1, 1), ones(1), ones(1), nn.Blank(4)) }},
		{"the length 4 of sequence 0 is not from 0 to 3", func() { nn.CTC(tensor.Zeros(1, 3, 4), ints(1, 1), tensor.FromInts([]int{4}, 1), ones(1)) }},
		{"the number of labels 2 of sequence 0 is not from 0 to 1", func() { nn.CTC(tensor.Zeros(1, 3, 4), ints(1, 1), ones(1), tensor.FromInts([]int{2}, 1)) }},
	} {
		err := lossError(row.f)
		var shape *tensor.ShapeError
		var dtype *tensor.DTypeError
		if err == nil || !strings.Contains(err.Error(), row.want) || !errors.As(err, &shape) && !errors.As(err, &dtype) {
			t.Errorf("want %s\ngot  %v", row.want, err)
		}
	}
}

// TestReverseGradient requires the input as the result, and its gradient times -scale.
func TestReverseGradient(t *testing.T) {
	x := tensor.Parameter(tensor.New([]float32{1, -2, 1e30, 0}, 4))
	y := nn.ReverseGradient(0.5).Forward(x)
	if !slices.Equal(y.Data(), x.Data()) {
		t.Errorf("the result is %v", y)
	}
	y.Mul(tensor.New([]float32{1, 2, 3, 4}, 4)).Sum().Backward()
	if got, want := x.Grad().Data(), []float32{-0.5, -1, -1.5, -2}; !slices.Equal(got, want) {
		t.Errorf("the gradient is %v, want %v", got, want)
	}
}

// TestNewLossesReject checks the errors of losses for embeddings and teachers.
func TestNewLossesReject(t *testing.T) {
	a, classes := tensor.Ones(3, 2), tensor.FromInts([]int{0, 1}, 2)
	for want, f := range map[string]func(){
		"the margin 0 must be positive":        func() { nn.BatchHardTriplet(0) },
		"embeddings must be [N D]":             func() { nn.BatchHardTriplet(1)(a, classes) },
		"the temperature NaN must be positive": func() { nn.Distillation(math.NaN()) },
		"Distillation: [3 2] and [2]":          func() { nn.Distillation(2)(a, tensor.Ones(2)) },
		"the logits must be [N C]":             func() { nn.Distillation(2)(tensor.Ones(2), tensor.Ones(2)) },
	} {
		err := func() (err error) {
			defer nn.Catch(&err)
			f()
			return nil
		}()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
