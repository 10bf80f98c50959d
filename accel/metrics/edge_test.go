package metrics_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/quernlab/quern/accel/metrics"
	"github.com/quernlab/quern/accel/tensor"
)

// TestMetricsOfDegenerateData measures constant predictions, a single example, classes that never occur and classes
// that are never predicted, with predictions of each float type. The values follow from the definitions: precision
// TP/(TP+FP), recall TP/(TP+FN) and F1 2·TP/(2·TP+FP+FN), which are 0 for 0/0; means leave out classes that occur
// neither in the targets nor in the predictions. What has no value is an error that says why.
func TestMetricsOfDegenerateData(t *testing.T) {
	nan := math.NaN()
	type row struct {
		metric metrics.Metric
		want   float64 // NaN if it is undefined
	}
	for _, c := range []struct {
		name    string
		logits  []float32
		width   int
		classes []int
		rows    []row
	}{
		{"equal logits", []float32{0, 0, 0, 0, 0, 0, 0, 0, 0}, 3, []int{0, 1, 2}, []row{ // the first class is predicted
			{metrics.Accuracy(), 1. / 3}, {metrics.Precision(metrics.Macro), 1. / 9}, {metrics.Recall(metrics.Macro), 1. / 3},
			{metrics.F1(metrics.Macro), 0.5 / 3}, {metrics.F1(metrics.OfClass(0)), 0.5}, {metrics.F1(metrics.OfClass(2)), 0}, {metrics.F1(metrics.Micro), 1. / 3},
			{metrics.ROCAUC(metrics.Macro), 0.5}, {metrics.ROCAUC(metrics.Micro), 0.5}, {metrics.AveragePrecision(metrics.Macro), 1. / 3},
			{metrics.Jaccard(metrics.Macro), 1. / 9}, {metrics.Dice(metrics.Macro), 0.5 / 3}, {metrics.Specificity(metrics.OfClass(0)), 0}, {metrics.Specificity(metrics.OfClass(2)), 1},
			{metrics.Specificity(metrics.Micro), 2. / 3}, {metrics.FBeta(2, metrics.OfClass(0)), 5. / 7}, {metrics.MatthewsCorrCoef(), 0}, {metrics.CohenKappa(), 0},
			{metrics.LogLoss(), math.Log(3)}, {metrics.Perplexity(), 3}, {metrics.ECE(), 0}, {metrics.TopK(2), 2. / 3},
		}},
		{"one example, right", []float32{0, 8, 0}, 3, []int{1}, []row{
			{metrics.Accuracy(), 1}, {metrics.Precision(metrics.Macro), 1}, {metrics.Recall(metrics.Weighted), 1}, {metrics.F1(metrics.Macro), 1},
			{metrics.F1(metrics.OfClass(2)), 0}, {metrics.ROCAUC(metrics.Macro), nan}, {metrics.ROCAUC(metrics.OfClass(1)), nan},
			{metrics.AveragePrecision(metrics.OfClass(1)), 1}, {metrics.AveragePrecision(metrics.OfClass(0)), nan}, {metrics.AveragePrecision(metrics.Macro), nan},
			{metrics.TopK(1), 1},
		}},
		{"one example, wrong", []float32{0, 8, 0}, 3, []int{2}, []row{
			{metrics.Jaccard(), 0}, {metrics.Specificity(metrics.OfClass(0)), 1}, {metrics.Specificity(metrics.OfClass(1)), 0}, {metrics.Specificity(metrics.OfClass(2)), 0},
			{metrics.MatthewsCorrCoef(), 0}, {metrics.CohenKappa(), 0}, {metrics.RecallAtK(1), nan},
			{metrics.Accuracy(), 0}, {metrics.Precision(metrics.Macro), 0}, {metrics.Recall(metrics.Macro), 0}, {metrics.F1(metrics.Macro), 0}, {metrics.F1(metrics.Micro), 0},
			{metrics.LogLoss(), 8 + math.Log1p(2*math.Exp(-8))},
		}},
		{"a class that never occurs", []float32{8, 0, 0, 0, 8, 0, 8, 0, 0, 0, 0, 8}, 3, []int{0, 1, 1, 0}, []row{
			{metrics.Accuracy(), 0.5}, {metrics.Precision(metrics.OfClass(2)), 0}, {metrics.Recall(metrics.OfClass(2)), 0},
			{metrics.Precision(metrics.Macro), 0.5}, {metrics.Recall(metrics.Macro), 1. / 3}, {metrics.Recall(metrics.Weighted), 0.5},
			{metrics.F1(metrics.Macro), (0.5 + 2./3) / 3}, {metrics.ROCAUC(metrics.Macro), nan}, {metrics.ROCAUC(metrics.OfClass(2)), nan},
		}},
		{"a class that neither occurs nor is predicted", []float32{8, 0, 0, 0, 8, 0, 8, 0, 0}, 3, []int{0, 1, 1}, []row{
			{metrics.Precision(metrics.Macro), 0.75}, {metrics.Recall(metrics.Macro), 0.75}, {metrics.F1(metrics.Macro), 2. / 3}, {metrics.F1(metrics.OfClass(2)), 0},
		}},
		{"one class", []float32{8, 0, 8, 0}, 2, []int{0, 0}, []row{
			{metrics.Accuracy(), 1}, {metrics.F1(metrics.Macro), 1}, {metrics.F1(metrics.OfClass(1)), 0}, {metrics.Precision(metrics.OfClass(1)), 0},
			{metrics.MatthewsCorrCoef(), 0}, {metrics.CohenKappa(), nan}, {metrics.Jaccard(metrics.OfClass(0)), 1}, {metrics.Specificity(metrics.OfClass(1)), 1},
			{metrics.RecallAtK(1), 1}, {metrics.RecallAtK(math.MaxInt), 1},
			{metrics.ROCAUC(metrics.Macro), nan}, {metrics.ROCAUC(metrics.Micro), 1},
		}},
		{"one logit, only negative", []float32{-8, -8, -8}, 1, []int{0, 0, 0}, []row{
			{metrics.Accuracy(), 1}, {metrics.F1(), 0}, {metrics.Precision(), 0}, {metrics.Recall(), 0}, {metrics.ROCAUC(), nan}, {metrics.AveragePrecision(), nan},
			{metrics.LogLoss(), math.Log1p(math.Exp(-8))}, {metrics.ECE(), 1 / (1 + math.Exp(8))},
		}},
		{"one logit, only positive", []float32{0, 0, 0}, 1, []int{1, 1, 1}, []row{
			{metrics.Accuracy(), 1}, {metrics.F1(), 1}, {metrics.ROCAUC(), nan}, {metrics.AveragePrecision(), 1}, {metrics.ECE(), 0.5}, {metrics.LogLoss(), math.Ln2},
		}},
		{"one logit, equal", []float32{0.5, 0.5, 0.5, 0.5}, 1, []int{0, 1, 1, 1}, []row{
			{metrics.ROCAUC(), 0.5}, {metrics.AveragePrecision(), 0.75}, {metrics.Accuracy(), 0.75}, {metrics.F1(), 6. / 7},
			{metrics.ECE(), 0.75 - 1/(1+math.Exp(-0.5))},
		}},
		{"certain", []float32{1000, -1000, -1000, 1000}, 2, []int{0, 1}, []row{
			{metrics.LogLoss(), 0}, {metrics.Perplexity(), 1}, {metrics.ECE(), 0}, {metrics.ROCAUC(metrics.Macro), 1}, {metrics.Accuracy(), 1},
		}},
		{"certain and wrong", []float32{1000, -1000, -1000, 1000}, 2, []int{1, 0}, []row{
			{metrics.LogLoss(), 2000}, {metrics.Perplexity(), math.Inf(1)}, {metrics.ECE(), 1}, {metrics.ROCAUC(metrics.Macro), 0}, {metrics.Accuracy(), 0},
		}},
	} {
		for _, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.Float16, tensor.BFloat16} {
			shape := []int{len(c.classes), c.width}
			if c.width == 1 {
				shape = shape[:1]
			}
			logits, target := tensor.New(c.logits, shape...).Cast(d), tensor.FromInts(c.classes, len(c.classes))
			for _, r := range c.rows {
				got, err := measure(t, r.metric, logits, target)
				var undefined *metrics.UndefinedError
				switch {
				case math.IsNaN(r.want):
					if !errors.As(err, &undefined) || undefined.Reason == "" || !math.IsNaN(got) {
						t.Errorf("%s, %v: %s is %v: %v", c.name, d, r.metric.Name(), got, err)
					}
				case err != nil || !(math.Abs(got-r.want) <= tolerance(d)*(1+math.Abs(r.want)) || got == r.want):
					t.Errorf("%s, %v: %s is %v, want %v: %v", c.name, d, r.metric.Name(), got, r.want, err)
				}
			}
		}
	}
}

// tolerance is the rounding error of a value of a type.
func tolerance(d tensor.DType) float64 {
	return map[tensor.DType]float64{tensor.Float16: 1e-3, tensor.BFloat16: 8e-3}[d] + 1e-6
}

// TestDetailsOfDegenerateData reads the confusion matrix, the curves and the calibration of data in which a class
// never occurs and another is never predicted. They can be displayed.
func TestDetailsOfDegenerateData(t *testing.T) {
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float16, tensor.BFloat16} {
		c, err := metrics.NewCollection(metrics.ConfusionMatrix(), metrics.ECE(metrics.Bins(4)), metrics.ROCAUC(metrics.OfClass(0)), metrics.AveragePrecision(metrics.OfClass(0)))
		if err != nil {
			t.Fatal(err)
		}
		// Of the three classes the last never occurs and the second is never predicted.
		logits := tensor.New([]float32{8, 0, 0, 0, 0, 8, 8, 0, 0}, 3, 3).Cast(d)
		if err := c.Update(logits, tensor.FromInts([]int{0, 1, 0}, 3)); err != nil {
			t.Fatal(err)
		}
		matrix, err := c.ConfusionMatrix()
		if want := "[[2 0 0] [0 0 1] [0 0 0]]"; err != nil || fmt.Sprint(matrix) != want {
			t.Errorf("%v: the confusion matrix is %v, want %s: %v", d, matrix, want, err)
		}
		bins, err := c.Calibration()
		if err != nil || len(bins) != 4 {
			t.Fatal(bins, err)
		}
		confidence := 1 / (1 + 2*math.Exp(-8))
		for i, b := range bins {
			switch {
			case i < 3 && (b.Examples != 0 || !math.IsNaN(b.Confidence) || !math.IsNaN(b.Share)):
				t.Errorf("%v: bin %d without examples: %+v", d, i, b)
			case i == 3 && (b.Examples != 3 || math.Abs(b.Share-2./3) > 1e-12 || math.Abs(b.Confidence-confidence) > tolerance(d)):
				t.Errorf("%v: bin %d: %+v, want 3 examples of confidence %v", d, i, b, confidence)
			}
		}
		for class, reason := range map[int]bool{0: false, 2: true} {
			roc, err := c.ROC(class)
			if (err != nil) != reason || err == nil && roc.AUC() != 1 {
				t.Errorf("%v: the ROC curve of class %d: %v, %v", d, class, roc, err)
			}
			pr, err := c.PrecisionRecall(class)
			if (err != nil) != reason || err == nil && pr.AveragePrecision() != 1 {
				t.Errorf("%v: precision and recall of class %d: %v, %v", d, class, pr, err)
			}
			if err == nil && (len(roc.Report().MIMEBundle()) == 0 || len(pr.Report().MIMEBundle()) == 0) {
				t.Errorf("%v: the curves of class %d are not shown", d, class)
			}
		}
		if len(bins.Report().MIMEBundle()) == 0 {
			t.Errorf("%v: the calibration is not shown", d)
		}
	}
}

// TestRegressionOfConstants measures predictions of constants. R² is 1 - Σ(y-ŷ)²/Σ(y-mean)²; for constant targets, whose
// divisor is 0, it is 1 if the predictions are exact, else 0, and undefined for one example.
func TestRegressionOfConstants(t *testing.T) {
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.Float16, tensor.BFloat16} {
		for _, n := range []int{1, 2, 1000} {
			for _, v := range []float64{0, 0.1, -3, 100} {
				x := tensor.Full(v, n).Cast(d)
				given := x.Cast(tensor.Float64).Float64s()[0]
				r2, r2Off := 1.0, 0.0
				if v == 0 {
					r2Off = 1
				}
				if n == 1 {
					r2, r2Off = math.NaN(), math.NaN()
				}
				for _, row := range []struct {
					metric metrics.Metric
					equal  float64 // for equal predictions
					off    float64 // for targets of 0
				}{{metrics.MAE(), 0, math.Abs(given)}, {metrics.MSE(), 0, given * given}, {metrics.RMSE(), 0, math.Abs(given)}, {metrics.R2(), r2, r2Off}} {
					for _, target := range []struct {
						y    *tensor.Tensor
						want float64
					}{{x, row.equal}, {tensor.Zeros(n).Cast(d), row.off}} {
						got, err := measure(t, row.metric, x, target.y)
						var undefined *metrics.UndefinedError
						if math.IsNaN(target.want) {
							if !errors.As(err, &undefined) || !math.IsNaN(got) {
								t.Errorf("%s of %d × %v, %v: %v, %v", row.metric.Name(), n, v, d, got, err)
							}
						} else if err != nil || !(math.Abs(got-target.want) <= 1e-12*(1+target.want)) {
							t.Errorf("%s of %d × %v, %v: %v, want %v: %v", row.metric.Name(), n, v, d, got, target.want, err)
						}
					}
				}
			}
		}
	}
}
