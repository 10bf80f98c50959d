package metrics_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/metrics"
	"github.com/quernlab/quern/accel/tensor"
)

// TestCurves has two equal scores, which are one point of the curves.
func TestCurves(t *testing.T) {
	scores, positive := []float64{0.9, 0.8, 0.8, 0.1}, []bool{true, true, false, false}
	inf := math.Inf(1)
	roc, err := metrics.ROC(scores, positive)
	if err != nil || !slices.Equal(roc.FalsePositiveRate, []float64{0, 0, 0.5, 1}) || !slices.Equal(roc.TruePositiveRate, []float64{0, 0.5, 1, 1}) ||
		!slices.Equal(roc.Thresholds, []float64{inf, 0.9, 0.8, 0.1}) || roc.AUC() != 0.875 {
		t.Errorf("%v, %v", roc, err)
	}
	pr, err := metrics.PrecisionRecall(scores, positive)
	if err != nil || !slices.Equal(pr.Precision, []float64{1, 1, 2. / 3, 0.5}) || !slices.Equal(pr.Recall, []float64{0, 0.5, 1, 1}) ||
		math.Abs(pr.AveragePrecision()-(0.5+0.5*2/3)) > 1e-15 {
		t.Errorf("%v, %v", pr, err)
	}
}

func TestCurveErrors(t *testing.T) {
	var undefined *metrics.UndefinedError
	for _, positive := range [][]bool{nil, {true, true}, {false, false}} {
		if _, err := metrics.ROC(make([]float64, len(positive)), positive); !errors.As(err, &undefined) {
			t.Errorf("ROC of %v: %v", positive, err)
		}
	}
	for _, positive := range [][]bool{nil, {false, false}} {
		if _, err := metrics.PrecisionRecall(make([]float64, len(positive)), positive); !errors.As(err, &undefined) {
			t.Errorf("PrecisionRecall of %v: %v", positive, err)
		}
	}
	var finite *metrics.NonFiniteError
	if _, err := metrics.ROC([]float64{1, math.NaN()}, []bool{true, false}); !errors.As(err, &finite) || finite.Example != 1 {
		t.Errorf("a score that is NaN: %v", err)
	}
	if _, err := metrics.ROC([]float64{1}, []bool{true, false}); err == nil {
		t.Error("different lengths are taken")
	}
}

// TestDetails reads what a collection has measured besides the values.
func TestDetails(t *testing.T) {
	c, err := metrics.NewCollection(metrics.ROCAUC(), metrics.ECE(metrics.Bins(2)), metrics.ConfusionMatrix())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Update(tensor.New([]float32{-2, -1, 1, 2}, 4), tensor.FromInts([]int{0, 1, 0, 1}, 4)); err != nil {
		t.Fatal(err)
	}
	roc, err := c.ROC(1)
	if err != nil || roc.AUC() != 0.75 {
		t.Errorf("%v, %v", roc, err)
	}
	b, err := c.Calibration()
	if err != nil || len(b) != 2 || b[0].Examples != 2 || b[0].Share != 0.5 || b[1].Low != 0.5 || math.Abs(b[0].Confidence-(1/(1+math.Exp(2))+1/(1+math.E))/2) > 1e-12 {
		t.Errorf("%v, %v", b, err)
	}
	pr, err := c.PrecisionRecall(1)
	if err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprint(roc.Figure(), pr.Figure(), b.Figure()); !strings.Contains(text, "AUC 0.750") || !strings.Contains(text, "average precision 0.833") || !strings.Contains(text, "largest difference") {
		t.Error(text)
	}
	if m, err := c.ConfusionMatrix(); err != nil || m[0][0] != 1 || m[0][1] != 1 {
		t.Errorf("%v, %v", m, err)
	}
	var undefined *metrics.UndefinedError
	if _, err := c.ROC(0); !errors.As(err, &undefined) {
		t.Errorf("class 0 of one logit: %v", err)
	}
	none, err := metrics.NewCollection(metrics.Accuracy())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := none.ROC(1); err == nil || err.Error() != "metrics: the ROC curve was not measured: add metrics.ROCAUC() or metrics.AveragePrecision()" {
		t.Errorf("got %v", err)
	}
	if _, err := none.ConfusionMatrix(); err == nil {
		t.Error("there is a confusion matrix")
	}
}

// TestCurvesOfClassesKeepTies has two logits for which one logit, their difference, has the same curve: also for certain predictions, whose
// probability rounds to 1, and for rows that differ by a constant or in the order of the other classes, whose scores are equal.
func TestCurvesOfClassesKeepTies(t *testing.T) {
	measure := func(m metrics.Metric, x, y *tensor.Tensor) float64 {
		t.Helper()
		c, err := metrics.NewCollection(m)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Update(x, y); err != nil {
			t.Fatal(err)
		}
		values, err := c.Values()
		if err != nil {
			t.Fatal(err)
		}
		return values[0].Value
	}
	of := metrics.OfClass(1)
	certain, classes := []float32{40, 45, 50, 60}, tensor.FromInts([]int{0, 0, 1, 1}, 4)
	pairs := make([]float32, 0, 8)
	for _, v := range certain {
		pairs = append(pairs, 0, v)
	}
	for _, m := range []func(...metrics.Option) metrics.Metric{metrics.ROCAUC, metrics.AveragePrecision} {
		if one, two := measure(m(), tensor.New(certain, 4), classes), measure(m(of), tensor.New(pairs, 4, 2), classes); one != 1 || two != 1 {
			t.Errorf("%v of certain predictions: %v with one logit, %v with two", m(), one, two)
		}
		x := tensor.New([]float32{0.25, 1.75, 1, 5.25, 6.75, 6, 1, 1.75, 0.25, -2.75, -1.25, -2}, 4, 3)
		if got := measure(m(of), x, tensor.FromInts([]int{1, 0, 0, 1}, 4)); got != 0.5 {
			t.Errorf("%v of equal scores is %v, want 0.5", m(), got)
		}
	}
}
