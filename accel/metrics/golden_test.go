package metrics_test

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/metrics"
	"github.com/quernlab/quern/accel/tensor"
)

// goldenCase is a case of testdata/golden.json.
type goldenCase struct {
	Name        string
	Shape       []int
	Prediction  []float64
	TargetShape []int `json:"target_shape"`
	Target      []float64
	Values      map[string][]float64 // by metric, as Go code without the package
}

func readGolden(t *testing.T) []goldenCase {
	t.Helper()
	b, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct{ Cases []goldenCase }
	if err := json.Unmarshal(b, &golden); err != nil {
		t.Fatal(err)
	}
	return golden.Cases
}

// batch returns the examples from begin to end. Targets are class indices unless there is one for
// each element of the prediction.
func (g goldenCase) batch(begin, end int) (prediction, target *tensor.Tensor) {
	part := func(shape []int, values []float64) ([]float64, []int) {
		row := len(values) / shape[0]
		return values[begin*row : end*row], append([]int{end - begin}, shape[1:]...)
	}
	values, shape := part(g.Shape, g.Prediction)
	floats := make([]float32, len(values))
	for i, v := range values {
		floats[i] = float32(v)
	}
	prediction = tensor.New(floats, shape...)
	values, shape = part(g.TargetShape, g.Target)
	if slices.Equal(g.Shape, g.TargetShape) {
		floats := make([]float32, len(values))
		for i, v := range values {
			floats[i] = float32(v)
		}
		return prediction, tensor.New(floats, shape...)
	}
	ints := make([]int, len(values))
	for i, v := range values {
		ints[i] = int(v)
	}
	return prediction, tensor.FromInts(ints, shape...)
}

// update adds the examples from begin to end in batches of seven.
func (g goldenCase) update(t *testing.T, c *metrics.Collection, begin, end int) {
	t.Helper()
	for ; begin < end; begin += 7 {
		if err := c.Update(g.batch(begin, min(begin+7, end))); err != nil {
			t.Fatal(err)
		}
	}
}

// measured are metrics whose values are in golden.json.
func measured() []metrics.Metric {
	all := []metrics.Metric{
		metrics.Accuracy(), metrics.Accuracy(metrics.Threshold(0.3)), metrics.Accuracy(metrics.IgnoreIndex(-100)),
		metrics.F1(metrics.Macro, metrics.IgnoreIndex(-100)),
		metrics.ConfusionMatrix(), metrics.ConfusionMatrix(metrics.IgnoreIndex(-100)),
	}
	for _, of := range []func(...metrics.Option) metrics.Metric{metrics.Precision, metrics.Recall, metrics.F1} {
		all = append(all, of(), of(metrics.Micro), of(metrics.Macro), of(metrics.Weighted), of(metrics.PerClass), of(metrics.OfClass(1)), of(metrics.Threshold(0.3)))
	}
	fBeta := func(options ...metrics.Option) metrics.Metric { return metrics.FBeta(2, options...) }
	for _, of := range []func(...metrics.Option) metrics.Metric{fBeta, metrics.Jaccard, metrics.Dice, metrics.Specificity} {
		all = append(all, of(), of(metrics.Micro), of(metrics.Macro), of(metrics.Weighted), of(metrics.PerClass))
	}
	for _, of := range []func(...metrics.Option) metrics.Metric{metrics.ROCAUC, metrics.AveragePrecision} {
		all = append(all, of(), of(metrics.Micro), of(metrics.Macro), of(metrics.Weighted), of(metrics.PerClass), of(metrics.OfClass(1)),
			of(metrics.IgnoreIndex(-100)), of(metrics.Macro, metrics.Probabilities()))
	}
	return append(all,
		metrics.LogLoss(), metrics.LogLoss(metrics.IgnoreIndex(-100)), metrics.LogLoss(metrics.Probabilities()),
		metrics.Perplexity(), metrics.Perplexity(metrics.IgnoreIndex(-100)),
		metrics.ECE(), metrics.ECE(metrics.Bins(5)), metrics.ECE(metrics.IgnoreIndex(-100)), metrics.ECE(metrics.Bins(10), metrics.Probabilities()),
		metrics.TopK(2), metrics.TopK(2, metrics.IgnoreIndex(-100)),
		metrics.MAE(), metrics.MSE(), metrics.RMSE(), metrics.R2(),
		metrics.MatthewsCorrCoef(), metrics.CohenKappa(), metrics.MAPE(), metrics.Pearson(), metrics.Spearman(),
		metrics.RecallAtK(1), metrics.RecallAtK(3),
	)
}

// metrics returns the metrics that have values in a case.
func (g goldenCase) metrics(t *testing.T) []metrics.Metric {
	t.Helper()
	var found []metrics.Metric
	for _, m := range measured() {
		if _, ok := g.Values[code(m)]; ok {
			found = append(found, m)
		}
	}
	if len(found) != len(g.Values) {
		t.Fatalf("%d of the %d metrics are measured", len(found), len(g.Values))
	}
	return found
}

func code(m metrics.Metric) string { return strings.ReplaceAll(m.String(), "metrics.", "") }

// check compares what a collection has measured with the golden values.
func (g goldenCase) check(t *testing.T, c *metrics.Collection) {
	t.Helper()
	got := map[string][]float64{}
	values, err := c.Values()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range values {
		got[code(v.Metric)] = append(got[code(v.Metric)], v.Value)
	}
	for _, m := range c.Metrics() {
		if strings.HasPrefix(code(m), "ConfusionMatrix") {
			counts, err := c.ConfusionMatrix()
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range slices.Concat(counts...) {
				got[code(m)] = append(got[code(m)], float64(n))
			}
		}
		want := g.Values[code(m)]
		if !slices.EqualFunc(got[code(m)], want, func(a, b float64) bool { return math.Abs(a-b) <= 1e-6*max(1, math.Abs(b)) }) {
			t.Errorf("%v: want %v, got %v", m, want, got[code(m)])
		}
	}
}

func TestGolden(t *testing.T) {
	for _, g := range readGolden(t) {
		t.Run(g.Name, func(t *testing.T) {
			c, err := metrics.NewCollection(g.metrics(t)...)
			if err != nil {
				t.Fatal(err)
			}
			g.update(t, c, 0, g.Shape[0])
			g.check(t, c)
		})
	}
}

// TestMerge measures parts of the examples in three collections, one of them none, and merges
// them.
func TestMerge(t *testing.T) {
	for _, g := range readGolden(t) {
		t.Run(g.Name, func(t *testing.T) {
			var parts []*metrics.Collection
			n := g.Shape[0]
			for _, part := range [][2]int{{0, 0}, {0, n / 3}, {n / 3, n}} {
				c, err := metrics.NewCollection(g.metrics(t)...)
				if err != nil {
					t.Fatal(err)
				}
				g.update(t, c, part[0], part[1])
				parts = append(parts, c)
			}
			for _, other := range parts[1:] {
				b, err := other.MarshalBinary()
				if err != nil {
					t.Fatal(err)
				}
				if err := parts[0].Merge(b); err != nil {
					t.Fatal(err)
				}
			}
			g.check(t, parts[0])
		})
	}
}

func TestErrors(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	classes := tensor.FromInts([]int{0, 1}, 2)
	tests := map[string]struct {
		metric             metrics.Metric
		prediction, target *tensor.Tensor
		want               string
		typed              any
	}{
		"NaN":                    {metrics.F1(), tensor.New([]float32{1, 2, 3, nan}, 2, 2), classes, "the prediction of example 1 is NaN", new(*metrics.NonFiniteError)},
		"NaN of one logit":       {metrics.F1(), tensor.New([]float32{nan, 2}, 2), classes, "the prediction of example 0 is NaN", new(*metrics.NonFiniteError)},
		"NaN of labels":          {metrics.F1(), tensor.New([]float32{1, 2, 3, nan}, 2, 2), tensor.Zeros(2, 2), "the prediction of example 1 is NaN", new(*metrics.NonFiniteError)},
		"NaN target":             {metrics.F1(), tensor.New([]float32{1, 2}, 2), tensor.New([]float32{0, nan}, 2), "the target of example 1 is NaN", new(*metrics.NonFiniteError)},
		"class too large":        {metrics.F1(), tensor.Zeros(2, 2), tensor.FromInts([]int{0, 2}, 2), "the target of example 1 is 2, but it must be a class from 0 to 1", new(*metrics.TargetError)},
		"negative class":         {metrics.F1(), tensor.Zeros(2, 2), tensor.FromInts([]int{-100, 1}, 2), "the target of example 0 is -100, but it must be a class from 0 to 1", new(*metrics.TargetError)},
		"not a label":            {metrics.F1(), tensor.Zeros(2), tensor.New([]float32{0, 0.5}, 2), "the target of example 1 is 0.5, but it must be 0 or 1", new(*metrics.TargetError)},
		"other shape":            {metrics.F1(), tensor.Zeros(3, 2), classes, "logits [N, C] and classes [N]", new(*tensor.ShapeError)},
		"no examples":            {metrics.F1(), tensor.Zeros(0, 2), tensor.FromInts(nil, 0), "the batch is empty", new(*tensor.ShapeError)},
		"matrix of labels":       {metrics.ConfusionMatrix(), tensor.Zeros(2, 2), tensor.Zeros(2, 2), "one class for each example", new(*tensor.ShapeError)},
		"class out of range":     {metrics.F1(metrics.OfClass(2)), tensor.Zeros(2, 2), classes, "F1 (class 2) is undefined: there are only 2 classes", new(*metrics.UndefinedError)},
		"all left out":           {metrics.F1(metrics.IgnoreIndex(1)), tensor.Zeros(1, 2), tensor.FromInts([]int{1}, 1), "F1 (without 1) is undefined: there are no examples", new(*metrics.UndefinedError)},
		"infinite loss":          {metrics.LogLoss(), tensor.New([]float32{1, 2, 3, -inf}, 2, 2), classes, "the prediction of example 1 is +Inf", new(*metrics.NonFiniteError)},
		"NaN loss":               {metrics.Perplexity(), tensor.New([]float32{1, 2, 3, nan}, 2, 2), classes, "the prediction of example 1 is NaN", new(*metrics.NonFiniteError)},
		"NaN confidence":         {metrics.ECE(), tensor.New([]float32{1, 2, 3, -inf}, 2, 2), classes, "the confidence of example 1 is NaN", new(*metrics.NonFiniteError)},
		"NaN score":              {metrics.ROCAUC(), tensor.New([]float32{1, 2, 3, nan}, 2, 2), classes, "the prediction of example 1 is NaN", new(*metrics.NonFiniteError)},
		"NaN of the top":         {metrics.TopK(1), tensor.New([]float32{1, 2, 3, nan}, 2, 2), classes, "the prediction of example 1 is NaN", new(*metrics.NonFiniteError)},
		"top of too few":         {metrics.TopK(3), tensor.Zeros(2, 2), classes, "logits of at least 3 classes", new(*tensor.ShapeError)},
		"class without examples": {metrics.ROCAUC(), tensor.Zeros(2, 3), classes, "ROC AUC is undefined: there are no positive examples of class 2", new(*metrics.UndefinedError)},
		"one class only":         {metrics.ROCAUC(), tensor.Zeros(2), tensor.FromInts([]int{1, 1}, 2), "ROC AUC is undefined: there are no negative examples", new(*metrics.UndefinedError)},
		"one class only, PR":     {metrics.AveragePrecision(), tensor.Zeros(2), tensor.FromInts([]int{0, 0}, 2), "there are no positive examples", new(*metrics.UndefinedError)},
		"average of one logit":   {metrics.ROCAUC(metrics.Macro), tensor.Zeros(2), classes, "leave out the average", new(*metrics.UndefinedError)},
		"NaN regression":         {metrics.MAE(), tensor.New([]float32{1, nan}, 2), tensor.Zeros(2), "the prediction of example 1 is NaN", new(*metrics.NonFiniteError)},
		"infinite target":        {metrics.R2(), tensor.Zeros(2, 2), tensor.New([]float32{1, 2, inf, 1}, 2, 2), "the target of example 1 is -Inf", new(*metrics.NonFiniteError)},
		"column and vector":      {metrics.MSE(), tensor.Zeros(2, 1), tensor.Zeros(2), "the same shape", new(*tensor.ShapeError)},
		"R2 of one example":      {metrics.R2(), tensor.Zeros(1), tensor.Zeros(1), "R2 is undefined: there is only one example", new(*metrics.UndefinedError)},
		"calibration of labels":  {metrics.ECE(), tensor.Zeros(2, 2), tensor.Zeros(2, 2), "one class for each example", new(*tensor.ShapeError)},
		"pixels of other size":   {metrics.Jaccard(), tensor.Zeros(1, 2, 3, 4), tensor.Zeros(1, 3, 3).Cast(tensor.Int32), "logits [N, C, H, W] and classes [N, H, W]", new(*tensor.ShapeError)},
		"no pixels":              {metrics.Jaccard(), tensor.Zeros(1, 2, 0, 4), tensor.Zeros(1, 0, 4).Cast(tensor.Int32), "the batch is empty", new(*tensor.ShapeError)},
		"NaN of a pixel":         {metrics.Dice(), tensor.New([]float32{1, 2, 3, nan}, 1, 2, 1, 2), tensor.FromInts([]int{0, 1}, 1, 1, 2), "the prediction of example 1 is NaN", new(*metrics.NonFiniteError)},
		"kappa of one class":     {metrics.CohenKappa(), tensor.Zeros(2, 2), tensor.FromInts([]int{0, 0}, 2), "kappa is undefined: all predictions and targets are of one class", new(*metrics.UndefinedError)},
		"MAPE of 0":              {metrics.MAPE(), tensor.Ones(2), tensor.New([]float32{0, 1}, 2), "MAPE is undefined: of the targets, 1 are 0: use MAE", new(*metrics.UndefinedError)},
		"Pearson of one example": {metrics.Pearson(), tensor.Ones(1), tensor.Ones(1), "Pearson is undefined: there is only one example", new(*metrics.UndefinedError)},
		"constant targets":       {metrics.Pearson(), tensor.New([]float32{1, 2}, 2), tensor.Ones(2), "Pearson is undefined: all targets are equal", new(*metrics.UndefinedError)},
		"constant predictions":   {metrics.Spearman(), tensor.Ones(2), tensor.New([]float32{1, 2}, 2), "Spearman is undefined: all predictions are equal", new(*metrics.UndefinedError)},
		"NaN rank":               {metrics.Spearman(), tensor.New([]float32{1, nan}, 2), tensor.Zeros(2), "the prediction of example 1 is NaN", new(*metrics.NonFiniteError)},
		"NaN embedding":          {metrics.RecallAtK(1), tensor.New([]float32{1, 2, 3, nan}, 2, 2), classes, "the prediction of example 1 is NaN", new(*metrics.NonFiniteError)},
		"infinite embedding":     {metrics.RecallAtK(1), tensor.New([]float32{1, inf, 3, 4}, 2, 2), classes, "the prediction of example 0 is -Inf", new(*metrics.NonFiniteError)},
		"half a class":           {metrics.RecallAtK(1), tensor.Ones(2, 2), tensor.New([]float32{0, 0.5}, 2), "the target of example 1 is 0.5, but it must be a class", new(*metrics.TargetError)},
		"embeddings in a row":    {metrics.RecallAtK(1), tensor.Ones(2), classes, "embeddings [N, D] and classes [N]", new(*tensor.ShapeError)},
		"no neighbors":           {metrics.RecallAtK(1), tensor.Ones(2, 3), classes, "recall@1 is undefined: no two examples have the same class", new(*metrics.UndefinedError)},
		"one embedding":          {metrics.RecallAtK(1), tensor.Ones(1, 3), tensor.FromInts([]int{3}, 1), "no two examples have the same class", new(*metrics.UndefinedError)},
		"all embeddings ignored": {metrics.RecallAtK(1, metrics.IgnoreIndex(3)), tensor.Ones(1, 3), tensor.FromInts([]int{3}, 1), "there are no examples", new(*metrics.UndefinedError)},
		"infinite is allowed":    {metrics.Accuracy(), tensor.New([]float32{1, inf, inf, 2}, 2, 2), classes, "", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c, err := metrics.NewCollection(tt.metric)
			if err != nil {
				t.Fatal(err)
			}
			err = c.Update(tt.prediction, tt.target)
			if err == nil {
				_, err = c.Values()
			}
			switch {
			case tt.want == "":
				if err != nil {
					t.Error(err)
				}
			case err == nil || !strings.Contains(err.Error(), tt.want) || !errors.As(err, tt.typed):
				t.Errorf("want %q and %T, got %v", tt.want, tt.typed, err)
			}
		})
	}
}

func TestNothingMeasured(t *testing.T) {
	for _, m := range measured() {
		c, err := metrics.NewCollection(m)
		if err != nil {
			t.Fatal(err)
		}
		values, err := c.Values()
		var undefined *metrics.UndefinedError
		if len(values) > 0 && (!errors.As(err, &undefined) || !math.IsNaN(values[0].Value)) {
			t.Errorf("%v: %v, %v", m, values, err)
		}
	}
}

func TestOtherModel(t *testing.T) {
	c, err := metrics.NewCollection(metrics.Accuracy())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Update(tensor.Zeros(2, 3), tensor.FromInts([]int{0, 1}, 2)); err != nil {
		t.Fatal(err)
	}
	var shape *tensor.ShapeError
	if err := c.Update(tensor.Zeros(2, 4), tensor.FromInts([]int{0, 1}, 2)); !errors.As(err, &shape) {
		t.Errorf("got %v", err)
	}
}

func TestInvalidMetrics(t *testing.T) {
	for want, ms := range map[string][]metrics.Metric{
		"the zero Metric":                               {{}},
		"Threshold(1): the probability":                 {metrics.F1(metrics.Threshold(1))},
		"OfClass(-1): the class":                        {metrics.F1(metrics.OfClass(-1))},
		"TopK(0): the number":                           {metrics.TopK(0)},
		"Bins(0): the number":                           {metrics.ECE(metrics.Bins(0))},
		"RecallAtK(0): the number":                      {metrics.RecallAtK(0)},
		"RecallAtK has no average":                      {metrics.RecallAtK(1, metrics.Macro)},
		"FBeta(-1): beta must be positive":              {metrics.FBeta(-1)},
		"FBeta(NaN): beta":                              {metrics.FBeta(math.NaN())},
		"FBeta(+Inf): beta":                             {metrics.FBeta(math.Inf(1))},
		"CohenKappa is one value":                       {metrics.CohenKappa(metrics.Macro)},
		"MatthewsCorrCoef is one value":                 {metrics.MatthewsCorrCoef(metrics.OfClass(1))},
		"two metrics named F1 (macro)":                  {metrics.F1(metrics.Macro), metrics.F1(metrics.Macro)},
		"Accuracy does not take Macro: its options are": {metrics.Accuracy(metrics.Macro)},
	} {
		if _, err := metrics.NewCollection(ms...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
