package active

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// Probabilities of three classes, and their measures computed by hand:
//
//	example          1 - max p   p₁ - p₂   entropy
//	0 .90 .05 .05       .10        .85       .394
//	1 .50 .49 .01       .50        .01       .742
//	2 .40 .30 .30       .60        .10      1.089
//	3 .55 .44 .01       .45        .11       .736
var byHand = [][]float64{{.90, .05, .05}, {.50, .49, .01}, {.40, .30, .30}, {.55, .44, .01}}

func TestByHand(t *testing.T) {
	for _, row := range []struct {
		strategy Strategy
		want     []int
	}{
		{LeastConfident(), []int{2, 1, 3, 0}},
		{Margin(), []int{1, 2, 3, 0}},
		{nil, []int{1, 2, 3, 0}},
		{Entropy(), []int{2, 1, 3, 0}},
		{Func("third", func(p []float64) float64 { return p[2] }), []int{2, 0}},
	} {
		pick, err := Query(t.Context(), identity(), asked(t, byHand), row.strategy, len(row.want))
		if err != nil || !slices.Equal(pick, row.want) {
			t.Errorf("%v: %v, %v; want %v", row.strategy, pick, err, row.want)
		}
	}
}

// Two members that are confident of different classes have ln 2 of mutual information; two that
// agree have none, however uncertain.
func TestDisagreementByHand(t *testing.T) {
	draws := [][][]float64{
		{{1, 0}, {.5, .5}, {1, 0}},
		{{0, 1}, {.5, .5}, {.5, .5}},
	}
	want := []float64{math.Ln2, 0, stat.Entropy([]float64{.75, .25}) - math.Ln2/2}
	for i, got := range disagreement(draws) {
		if !isClose(got, want[i], 1e-12) {
			t.Errorf("example %d: %v, want %v", i, got, want[i])
		}
	}
	// The second copy of an example adds nothing to the first.
	twice := [][][]float64{{{1, 0}, {1, 0}, {1, 0}}, {{0, 1}, {0, 1}, {.5, .5}}, {{0, 1}, {0, 1}, {1, 0}}}
	chosen, err := jointDisagreement(t.Context(), twice, 2, maxJoint, asked(t, byHand).random())
	if err != nil || !slices.Contains(chosen, 2) {
		t.Errorf("chosen are %v, %v: the two that say the same", chosen, err)
	}
}

// digits trains a small model on some digits.
func digits(t *testing.T, labels int) (*Pool, *nn.SequentialLayer, *data.Dataset) {
	t.Helper()
	train, test, err := data.Digits()
	if err != nil {
		t.Fatal(err)
	}
	accel.Seed(1)
	p := NewPool(train, labels, 3)
	model := nn.Sequential(nn.Flatten(), nn.Dense(32), nn.ReLU(), nn.Dropout(0.3), nn.Dense(10))
	if _, err := accel.Fit(t.Context(), model, p.Labeled(), accel.Epochs(30), accel.AdamW(5e-3), accel.Quiet()); err != nil {
		t.Fatal(err)
	}
	return p, model, test
}

// every returns all strategies that select examples.
func every() []Strategy {
	return []Strategy{Random(), LeastConfident(), Margin(), Entropy(), BALD(), BatchBALD(4), CoreSet(), BADGE(), TypiClust(), ExpectedError(3)}
}

func TestEveryStrategyOnDigits(t *testing.T) {
	p, model, _ := digits(t, 40)
	for _, s := range every() {
		t.Run(s.String(), func(t *testing.T) {
			accel.Seed(5)
			pick, err := Query(t.Context(), model, p, s, 6)
			if err != nil {
				t.Fatal(err)
			}
			sorted := slices.Sorted(slices.Values(pick))
			if len(pick) != 6 || len(slices.Compact(sorted)) != 6 {
				t.Fatalf("chosen are %v", pick)
			}
			for _, i := range pick {
				if _, known := p.Known(i); known || i < 0 || i >= p.Dataset().Len() {
					t.Errorf("example %d is labeled or does not exist", i)
				}
			}
			accel.Seed(6) // must not matter
			again, err := Query(t.Context(), model, p, s, 6)
			if err != nil || !slices.Equal(again, pick) {
				t.Errorf("the same question gives %v and %v, %v", pick, again, err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := Query(ctx, model, p, s, 6); !errors.Is(err, context.Canceled) {
				t.Errorf("interrupted: %v", err)
			}
			if a, b := model.Forward(tensor.Ones(1, 1, 8, 8)).Data(), model.Forward(tensor.Ones(1, 1, 8, 8)).Data(); slices.Equal(a, b) {
				t.Error("the model is not left in training mode")
			}
		})
	}
}

func TestTiesBySeed(t *testing.T) {
	same := make([][]float32, 50)
	for i := range same {
		same[i] = []float32{1, 1, float32(i) * 1e-3} // different examples with equal scores
	}
	s := set(t, append(same, []float32{9, 0, 0}, []float32{0, 9, 0}), append(make([]int, 50), 0, 2))
	choose := func(seed uint64) []int {
		p := NewPool(s, 0, seed)
		if err := p.Label([]int{50, 51}); err != nil {
			t.Fatal(err)
		}
		pick, err := Query(t.Context(), identity(), p, Func("constant", func([]float64) float64 { return 1 }), 10)
		if err != nil {
			t.Fatal(err)
		}
		return pick
	}
	if !slices.Equal(choose(1), choose(1)) {
		t.Error("one seed breaks ties in two ways")
	}
	if slices.Equal(choose(1), choose(2)) || slices.IsSorted(choose(1)) {
		t.Errorf("ties are not broken by chance: %v, %v", choose(1), choose(2))
	}
}

func TestDuplicatesComeLast(t *testing.T) {
	negative := float32(math.Copysign(0, -1))
	s := set(t, [][]float32{{0, 1}, {1, 0}, {negative, 1}, {2, 2}, {2, 2}, {3, 2}, {2, 2}}, []int{0, 1, 0, 0, 0, 1, 0})
	p := labeledAs(t, s, 0, 1)
	for _, strategy := range []Strategy{Random(), Margin(), CoreSet(func(x *tensor.Tensor) *tensor.Tensor { return x })} {
		pick, err := Query(t.Context(), identity(), p, strategy, 5)
		if err != nil {
			t.Fatal(err)
		}
		groups := map[int]int{3: 3, 4: 3, 6: 3, 5: 5, 2: 2}
		if groups[pick[0]]+groups[pick[1]] != 8 {
			t.Errorf("%v: %v: the first two should be one of 3, 4 and 6, and 5", strategy, pick)
		}
		if sorted := slices.Sorted(slices.Values(pick)); !slices.Equal(sorted, []int{2, 3, 4, 5, 6}) {
			t.Errorf("%v: %v", strategy, pick)
		}
	}
}

func TestQueryRefuses(t *testing.T) {
	ctx := t.Context()
	ok := func() *Pool { return asked(t, byHand) }
	s := ok().Dataset()
	var tooFew *TooFewError
	var one *OneClassError
	var notFinite *NotFiniteError
	nan := func(x *nn.Tensor) *nn.Tensor { return x.Log().Log() }
	huge, _ := data.FromSlices([][]float32{{1}, {2}}, []int{0, 0})
	plain := nn.Sequential(nn.Flatten(), nn.Dense(3))
	for _, row := range []struct {
		name  string
		query func() ([]int, error)
		is    error
		as    any
	}{
		{"no pool", func() ([]int, error) { return Query(ctx, plain, nil, Margin(), 1) }, ErrNoPool, nil},
		{"pool of nothing", func() ([]int, error) { return Query(ctx, plain, NewPool(nil, 0, 1), Margin(), 1) }, ErrNoPool, nil},
		{"pool of an empty set", func() ([]int, error) { return Query(ctx, plain, NewPool(s.First(0), 0, 1), Margin(), 1) }, ErrNoPool, nil},
		{"too many initial labels", func() ([]int, error) { return Query(ctx, plain, NewPool(s, 7, 1), Margin(), 1) }, ErrNoPool, &tooFew},
		{"fewer unlabeled than asked", func() ([]int, error) { return Query(ctx, identity(), ok(), Margin(), 5) }, nil, &tooFew},
		{"all labeled", func() ([]int, error) { return Query(ctx, identity(), NewPool(s, s.Len(), 1), Random(), 1) }, nil, &tooFew},
		{"no examples asked for", func() ([]int, error) { return Query(ctx, identity(), ok(), Margin(), 0) }, nil, nil},
		{"no model", func() ([]int, error) { return Query(ctx, nil, ok(), Margin(), 1) }, errNoModel, nil},
		{"set of one class", func() ([]int, error) { return Query(ctx, identity(), NewPool(huge, 1, 1), Margin(), 1) }, nil, &one},
		{"labels of one class", func() ([]int, error) { return Query(ctx, identity(), labeledAs(t, s, 0, 1), Entropy(), 1) }, nil, &one},
		{"no labels", func() ([]int, error) { return Query(ctx, identity(), NewPool(s, 0, 1), BADGE(), 1) }, nil, nil},
		{"NaN from the model", func() ([]int, error) { return Query(ctx, nn.Lambda(nan), ok(), Margin(), 1) }, nil, &notFinite},
		{"NaN from a measure", func() ([]int, error) {
			return Query(ctx, identity(), ok(), Func("log", func([]float64) float64 { return math.Inf(-1) }), 1)
		}, nil, &notFinite},
		{"no measure", func() ([]int, error) { return Query(ctx, identity(), ok(), Func("none", nil), 1) }, nil, nil},
		{"NaN in a feature", func() ([]int, error) { return Query(ctx, nil, ok(), CoreSet(nan), 1) }, nil, &notFinite},
		{"BALD without Dropout", func() ([]int, error) { return Query(ctx, plain, ok(), BALD(), 1) }, ErrNoDropout, nil},
		{"BatchBALD without Dropout", func() ([]int, error) { return Query(ctx, plain, ok(), BatchBALD(), 1) }, ErrNoDropout, nil},
		{"BALD of one", func() ([]int, error) { return Query(ctx, plain, ok(), BALD(1), 1) }, nil, nil},
		{"wrong number of logits", func() ([]int, error) { return Query(ctx, nn.Sequential(nn.Dense(7)), ok(), Margin(), 1) }, nil, nil},
		{"logits of a wrong rank", func() ([]int, error) {
			return Query(ctx, nn.Lambda(func(x *nn.Tensor) *nn.Tensor { return x.Reshape(-1, 3, 1) }), ok(), Margin(), 1)
		}, nil, new(*tensor.ShapeError)},
		{"features unknown", func() ([]int, error) { return Query(ctx, identity(), ok(), BADGE(), 1) }, errNoFeatures, nil},
		{"a layer that does not fit", func() ([]int, error) {
			return Query(ctx, nn.Sequential(nn.Conv2D(4, 3), nn.Dense(3)), ok(), Margin(), 1)
		}, nil, new(*nn.LayerError)},
		{"a strategy that chooses too few", func() ([]int, error) { return Query(ctx, identity(), ok(), broken{}, 2) }, nil, nil},
		{"a strategy that chooses one twice", func() ([]int, error) { return Query(ctx, identity(), ok(), broken{0, 0}, 2) }, nil, nil},
		{"a strategy that chooses what there is not", func() ([]int, error) { return Query(ctx, identity(), ok(), broken{9}, 1) }, nil, nil},
	} {
		pick, err := row.query()
		if err == nil || pick != nil {
			t.Errorf("%s: %v and no error", row.name, pick)
			continue
		}
		if row.is != nil && !errors.Is(err, row.is) || row.as != nil && !errors.As(err, row.as) {
			t.Errorf("%s: %v is of the wrong kind", row.name, err)
		}
		t.Logf("%s: %v", row.name, err)
	}
}

func TestQueryLeavesTheMode(t *testing.T) {
	for _, strategy := range []Strategy{Margin(), BALD(), BADGE(), CoreSet()} {
		for _, training := range []bool{false, true} {
			model := nn.Sequential(identity(), nn.Dense(3), nn.Dropout(0.9))
			nn.Train(model, training)
			if _, err := Query(t.Context(), model, asked(t, byHand), strategy, 1); err != nil {
				t.Fatalf("%v: %v", strategy, err)
			}
			x := tensor.Ones(1, 64)
			got := model.Layers()[2].Forward(x).Sum().Item() != 64
			if got != training {
				t.Errorf("%v: a model in training mode %v is in %v afterwards", strategy, training, got)
			}
		}
	}
}

type broken []int

func (b broken) Select(context.Context, *Candidates, int) ([]int, error) { return b, nil }
func (broken) String() string                                            { return "broken" }

func TestSynthesizeOnTheBoundary(t *testing.T) {
	// The model predicts the side of x + y = 1; the end points are the two labeled examples.
	s := set(t, [][]float32{{0, 0}, {1, 0.5}, {5, 5}}, []int{0, 1, 1})
	p := labeledAs(t, s, 0, 1)
	model := nn.Lambda(func(x *nn.Tensor) *nn.Tensor {
		side := x.Sum(1).AddScalar(-1).Reshape(-1, 1)
		return tensor.Concat(1, side.Neg(), side)
	})
	pick, err := Query(t.Context(), model, p, Synthesize(), 3)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(pick, []int{3, 4, 5}) || p.Dataset().Len() != 6 || p.Left() != 4 {
		t.Fatalf("made are %v, the set has %d examples, %d are left", pick, p.Dataset().Len(), p.Left())
	}
	for _, i := range pick {
		x := p.Dataset().Example(i)
		if !isClose(float64(x[0]), 2./3, 1e-5) || !isClose(float64(x[1]), 1./3, 1e-5) {
			t.Errorf("example %d is %v, on the boundary is (2/3, 1/3)", i, x)
		}
	}
	var wrong *LabelError
	if err := p.Label(pick); !errors.As(err, &wrong) {
		t.Errorf("labels that nobody knows: %v", err)
	}
	if err := p.Label(pick, 0, 1, 1); err != nil || p.Labeled().Label(4) != 1 || p.Labeled().Len() != 5 {
		t.Errorf("%v; %v", err, p)
	}
	pick, err = Query(t.Context(), identity(), p, Random(), 1)
	if err != nil || pick[0] != 2 {
		t.Errorf("what is left is chosen as %v, %v", pick, err)
	}
	certain := nn.Lambda(func(x *nn.Tensor) *nn.Tensor {
		return tensor.Concat(1, x.Sum(1).Abs().Reshape(-1, 1).AddScalar(1), x.Sum(1).MulScalar(0).Reshape(-1, 1))
	})
	if _, err := Query(t.Context(), certain, p, Synthesize(), 1); err == nil {
		t.Error("a boundary where there is none")
	}
}
