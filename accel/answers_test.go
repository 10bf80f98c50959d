package accel_test

import (
	"math"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/metrics"
	"github.com/quernlab/quern/accel/nn"
)

// twoHeads is a model with two outputs.
type twoHeads struct{ Body, A, B nn.Module }

func (m *twoHeads) Forward(x *nn.Tensor) *nn.Tensor {
	h := m.Body.Forward(x)
	return nn.Pack(m.A.Forward(h), m.B.Forward(h))
}

// twoLosses is the loss of two heads, of which the first has the given number of outputs.
func twoLosses(first, second int) nn.Loss {
	return func(p, y *nn.Tensor) *nn.Tensor {
		parts := nn.Unpack(p, []int{first}, []int{second})
		return nn.CrossEntropy(parts[0], y).Add(parts[1].Square().Mean())
	}
}

// TestAccuracyNeedsScoresOfTheClasses trains models with outputs of several meanings on digits.
func TestAccuracyNeedsScoresOfTheClasses(t *testing.T) {
	train, test := digits(t)
	train, test = train.First(300), test.First(100)
	body := func() nn.Module { return nn.Sequential(nn.Flatten(), nn.Dense(32), nn.ReLU()) }
	few, fewTest := blobs(t, 400, 0.5, 1).Split(0.8)
	for _, c := range []struct {
		name        string
		model       nn.Module
		train, test *data.Dataset
		loss        nn.Loss
		accuracy    bool
	}{
		{"default", mlp(32), train, test, nil, true},
		{"smoothed", mlp(32), train, test, nn.CrossEntropyLoss(nn.LabelSmoothing(0.1)), true},
		{"own loss", mlp(32), train, test, func(p, y *nn.Tensor) *nn.Tensor { return nn.CrossEntropy(p.MulScalar(0.5), y) }, true},
		{"more outputs than classes", twoLayers(7), few, fewTest, nn.CrossEntropy, true},
		{"own loss, more outputs", twoLayers(7), few, fewTest, func(p, y *nn.Tensor) *nn.Tensor { return nn.CrossEntropy(p, y) }, false},
		{"packed", &twoHeads{body(), nn.Dense(10), nn.Dense(2)}, train, test, twoLosses(10, 2), false},
		{"packed, of the width of the classes", &twoHeads{body(), nn.Dense(1), nn.Dense(1)}, few, fewTest, func(p, y *nn.Tensor) *nn.Tensor {
			return nn.Unpack(p, []int{1}, []int{1})[0].Square().Mean()
		}, false},
		{"embeddings", nn.Sequential(body(), nn.Dense(32)), train, test, nn.BatchHardTriplet(1), false},
		{"narrow embeddings", nn.Sequential(body(), nn.Dense(8)), train, test, nn.BatchHardTriplet(1), false},
		{"embeddings of the width of the classes", nn.Sequential(body(), nn.Dense(10)), train, test, nn.BatchHardTriplet(1), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			given := options(accel.Quiet(), accel.BatchSize(32), accel.Epochs(2), accel.Validate(c.test))
			if c.loss != nil {
				given = append(given, accel.Minimize(c.loss))
			}
			run, err := accel.Fit(t.Context(), c.model, c.train, given...)
			if err != nil {
				t.Fatal(err)
			}
			result, err := accel.Evaluate(t.Context(), c.model, c.test)
			if err != nil {
				t.Fatal(err)
			}
			for what, v := range map[string]float64{"run": run.Accuracy(), "step": run.Steps[0].Accuracy, "epoch": run.Epochs[0].Accuracy, "result": result.Accuracy()} {
				if math.IsNaN(v) == c.accuracy {
					t.Errorf("the accuracy of the %s is %v", what, v)
				}
			}
			svg, _ := run.Figure().MIMEBundle()["image/svg+xml"].(string)
			for what, text := range map[string]string{"run": run.String(), "figure": svg, "result": result.String(), "card": run.Card().String()} {
				if strings.Contains(text, "accuracy") != c.accuracy {
					t.Errorf("the %s: %.300s", what, text)
				}
			}
			if (result.ConfusionMatrix() != nil) != c.accuracy {
				t.Error(result.ConfusionMatrix())
			}
		})
	}
	// A metric that was asked for is an error.
	_, err := accel.Fit(t.Context(), nn.Sequential(body(), nn.Dense(8)), train, accel.Quiet(), accel.Steps(1), accel.Minimize(nn.BatchHardTriplet(1)),
		accel.Validate(test), accel.Metrics(metrics.Accuracy()))
	if err == nil || !strings.Contains(err.Error(), "must be a class from 0 to 7") {
		t.Error(err)
	}
}
