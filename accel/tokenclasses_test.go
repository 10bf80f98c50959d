package accel_test

import (
	"math"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/metrics"
	"github.com/quernlab/quern/accel/nn"
)

// tagged returns sentences with a class for each token, of which some are ignored.
func tagged(t *testing.T) (set *data.Dataset, tokens, tags [][]int) {
	t.Helper()
	for i := range 40 {
		var sentence, classes []int
		for k := range 1 + i%7 {
			token := (3*i + 5*k) % 11
			sentence, classes = append(sentence, token), append(classes, token%3)
			if (i+k)%4 == 0 {
				classes[k] = data.Ignored
			}
		}
		tokens, tags = append(tokens, sentence), append(tags, classes)
	}
	set, err := data.TokenClasses(tokens, tags, 11)
	if err != nil {
		t.Fatal(err)
	}
	return set, tokens, tags
}

// TestTokenClasses compares loss, accuracy and metrics of tokens with those that are computed one by
// one, and trains a tagger: the padding and ignored tokens count nowhere.
func TestTokenClasses(t *testing.T) {
	set, tokens, tags := tagged(t)
	accel.Seed(1)
	embedding := nn.Embedding(12, 3) // its rows are the logits
	run, err := accel.Fit(t.Context(), embedding, set, accel.Steps(3), accel.BatchSize(40), accel.SGD(2, 0), accel.Quiet())
	must(t, run, err)
	weights := nn.Parameters(embedding)[0].Float64s()
	var loss, right, all float64
	var truePositive, predictedPositive, positive float64
	for i, sentence := range tokens {
		for k, token := range sentence {
			class := tags[i][k]
			if class == data.Ignored {
				continue
			}
			row, sum, best := weights[3*token:3*token+3], 0.0, 0
			for c, v := range row {
				if sum += math.Exp(v); v > row[best] {
					best = c
				}
			}
			all++
			loss += math.Log(sum) - row[class]
			if best == class {
				right++
			}
			if class == 2 {
				positive++
			}
			if best == 2 {
				predictedPositive++
				if class == 2 {
					truePositive++
				}
			}
		}
	}
	result, err := accel.Evaluate(t.Context(), embedding, set, accel.Metrics(metrics.F1(metrics.OfClass(2)), metrics.Perplexity()))
	if err != nil {
		t.Fatal(err)
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) < 1e-5) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	near("the loss", result.Loss(), loss/all)
	near("the accuracy", result.Accuracy(), right/all)
	near("F1", result.Metric("F1 (class 2)"), 2*truePositive/(positive+predictedPositive))
	near("the perplexity", result.Metric("perplexity"), math.Exp(loss/all))

	tagger := nn.Sequential(nn.Embedding(12, 8), nn.LSTM(8, nn.Bidirectional()), nn.Dense(3))
	run, err = accel.Fit(t.Context(), tagger, set, accel.Epochs(60), accel.BatchSize(8), accel.GroupByLength(), accel.Adam(0.02), accel.Validate(set), accel.Quiet())
	must(t, run, err)
	if got := run.Epochs[len(run.Epochs)-1].Accuracy; got != 1 {
		t.Errorf("the accuracy of the training is %v", got)
	}
	if result, err := accel.Evaluate(t.Context(), tagger, set); err != nil || result.Accuracy() != 1 {
		t.Errorf("after the training: %v, %v", result, err)
	}
}

// TestTargetNames names the values of metrics for each label by the targets of the data set.
func TestTargetNames(t *testing.T) {
	set, err := data.FromTargets([][]float32{{1, -1}, {-1, 1}, {1, 1}}, [][]float32{{1, 0}, {0, 1}, {1, 0}})
	if err != nil {
		t.Fatal(err)
	}
	if set, err = set.WithTargets("sport", "music"); err != nil {
		t.Fatal(err)
	}
	result, err := accel.Evaluate(t.Context(), nn.Sequential(), set, accel.Minimize(nn.BCEWithLogits), accel.Metrics(metrics.F1(metrics.PerClass)))
	if err != nil {
		t.Fatal(err)
	}
	if all := result.Metrics(); len(all) != 2 || all[0].Name != "F1 (sport)" || all[1].Name != "F1 (music)" || all[0].Value != 1 {
		t.Errorf("%v", all)
	}
}
