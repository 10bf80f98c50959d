package plots

import (
	"math"
	"strings"
	"testing"
)

// longRun returns a run of n steps whose loss falls from 2.5 toward 0.2.
func longRun(n int) TrainingData {
	var d TrainingData
	raw := noise(n, 7)
	for i := range n {
		at := float64(i) / float64(n)
		base := .2 + 2.3*math.Exp(-6*at)
		d.Loss.Y = append(d.Loss.Y, base*(.8+.4*raw[i]))
		d.Accuracy.Y = append(d.Accuracy.Y, 1-base/2.6)
		if i%(n/5) == n/5-1 {
			d.ValidationLoss.X = append(d.ValidationLoss.X, float64(i))
			d.ValidationLoss.Y = append(d.ValidationLoss.Y, base+.1+.3*at)
			d.ValidationAccuracy.X = append(d.ValidationAccuracy.X, float64(i))
			d.ValidationAccuracy.Y = append(d.ValidationAccuracy.Y, 1-base/2.4)
		}
	}
	return d
}

func TestTraining(t *testing.T) {
	d := longRun(150)
	d.Title, d.LossName = "Digits", "cross-entropy"
	d.Loss.Y[60] = math.NaN()
	d.Loss.Y[90] = math.Inf(1)
	pinned(t, "training", Training(d))
}

// Early in a run there are few points: no smoothing, and an axis that extends
// to the end of the run.
func TestTrainingBegins(t *testing.T) {
	pinned(t, "training-begins", Training(TrainingData{
		Status: "epoch 1 of 3", Loss: Series{Y: []float64{2.3, 2.2, 2.25, 2.1}}, Total: 40,
	}))
}

func TestTrainingFinding(t *testing.T) {
	loss := []float64{2, 1, .5}
	tests := []struct {
		name string
		data TrainingData
		want string
	}{
		{"validation", TrainingData{Loss: Series{Y: loss}, ValidationLoss: Series{X: []float64{1000, 2999, 3500}, Y: []float64{.4, .267, .3}}},
			"best validation loss 0.267 at step 2999"},
		{"the first of equals is best", TrainingData{ValidationLoss: Series{Y: []float64{.3, .3}}}, "best validation loss 0.300 at step 0"},
		{"epochs", TrainingData{XName: "epoch", ValidationLoss: Series{Y: []float64{.5, .3}}}, "best validation loss 0.300 at epoch 1"},
		{"validation that is NaN", TrainingData{Loss: Series{Y: loss}, ValidationLoss: Series{Y: []float64{math.NaN()}}}, "loss from 2.00 to 0.500"},
		{"accuracy", TrainingData{Loss: Series{Y: loss}, Accuracy: Series{Y: []float64{.5, .913}}}, "loss from 2.00 to 0.500, training accuracy 91.3 %"},
		{"validation accuracy", TrainingData{Accuracy: Series{Y: []float64{.5}}, ValidationAccuracy: Series{Y: []float64{.8, .9, .7}}}, "best accuracy 90.0 %"},
		{"status", TrainingData{Status: "epoch 2 of 5", Loss: Series{Y: []float64{1.5}}}, "epoch 2 of 5, loss 1.50"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Training(tt.data).String(); got != "Training: "+tt.want {
				t.Errorf("want %q, got %q", tt.want, got)
			}
		})
	}
}

// The labeled best validation values are the lowest loss and the highest
// accuracy.
func TestTrainingNamesTheBest(t *testing.T) {
	svg := Training(longRun(500)).SVG()
	d := longRun(500)
	bestLoss, bestAccuracy := 0, 0
	for i := range d.ValidationLoss.Y {
		if d.ValidationLoss.Y[i] < d.ValidationLoss.Y[bestLoss] {
			bestLoss = i
		}
		if d.ValidationAccuracy.Y[i] > d.ValidationAccuracy.Y[bestAccuracy] {
			bestAccuracy = i
		}
	}
	for _, want := range []string{
		">best " + value(d.ValidationLoss.Y[bestLoss]) + " @ " + whole(d.ValidationLoss.X[bestLoss]) + "<",
		">best " + ratio(d.ValidationAccuracy.Y[bestAccuracy]) + " @ " + whole(d.ValidationAccuracy.X[bestAccuracy]) + "<",
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("the SVG lacks %q", want)
		}
	}
}

// One loss of a million does not flatten the curve.
func TestTrainingSurvivesASpike(t *testing.T) {
	k := training{loss: metric{better: math.Min}}
	d := longRun(1000)
	d.Loss.Y[500] = 10
	k.loss.raw = d.Loss.points()
	y, _ := k.loss.smoothed().height(false, false)
	if y.hi > 5 {
		t.Errorf("the axis extends to %v", y.hi)
	}
}

func BenchmarkTraining(b *testing.B) {
	d := longRun(50_000)
	b.Run("SVG", func(b *testing.B) {
		for b.Loop() {
			Training(d).SVG()
		}
	})
	b.Run("PNG", func(b *testing.B) {
		for b.Loop() {
			Training(d).PNG()
		}
	})
}
