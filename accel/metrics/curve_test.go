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
