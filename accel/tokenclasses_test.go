package accel_test

import (
	"math"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/metrics"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// tagged returns sentences with a class for each token, of which some are ignored.
func tagged(sentences int) (tokens, tags [][]int) {
	for i := range sentences {
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
	return tokens, tags
}

// taggedTokens returns the data set of tagged.
func taggedTokens(sentences int) (*data.Dataset, error) {
	tokens, tags := tagged(sentences)
	return data.TokenClasses(tokens, tags, 11)
}

// TestTokenClasses compares loss, accuracy and metrics of tokens with those that are computed one by
// one, and trains a tagger: the padding and ignored tokens count nowhere.
func TestTokenClasses(t *testing.T) {
	tokens, tags := tagged(40)
	set, err := taggedTokens(40)
	if err != nil {
		t.Fatal(err)
	}
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

// TestLossOfBatchesWithIgnoredTokens requires that tokens count equally, however they are divided into
// batches: in the loss and the accuracy of an epoch and of an evaluation, and in the gradients of
// accumulated batches.
func TestLossOfBatchesWithIgnoredTokens(t *testing.T) {
	train := func(sentences int, options ...accel.Option) (nn.Module, *accel.Run) {
		t.Helper()
		set, err := taggedTokens(sentences)
		if err != nil {
			t.Fatal(err)
		}
		accel.Seed(1)
		model := nn.Sequential(nn.Embedding(12, 4), nn.Dense(3))
		run, err := accel.Fit(t.Context(), model, set, append(options, accel.Quiet())...)
		must(t, run, err)
		return model, run
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) < 1e-5) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	model, run := train(40, accel.Epochs(1), accel.BatchSize(7), accel.SGD(1e-9, 0))
	set, err := taggedTokens(40)
	if err != nil {
		t.Fatal(err)
	}
	result, err := accel.Evaluate(t.Context(), model, set)
	if err != nil {
		t.Fatal(err)
	}
	near("the loss of an epoch", run.Epochs[0].Loss, result.Loss())
	near("the accuracy of an epoch", run.Epochs[0].Accuracy, result.Accuracy())

	if set, err = taggedTokens(515); err != nil { // two batches of an evaluation, the second with few tokens
		t.Fatal(err)
	}
	if result, err = accel.Evaluate(t.Context(), model, set, accel.Metrics(metrics.Perplexity())); err != nil {
		t.Fatal(err)
	}
	near("the loss of an evaluation", result.Loss(), math.Log(result.Metric("perplexity")))

	options := []accel.Option{accel.Epochs(2), accel.SGD(0.5, 0)}
	whole, _ := train(40, append(options, accel.BatchSize(40))...)
	parts, _ := train(40, append(options, accel.BatchSize(8), accel.Accumulate(5))...)
	for i, p := range nn.Parameters(parts) {
		for k, v := range p.Float64s() {
			near("a weight after accumulated batches", v, nn.Parameters(whole)[i].Float64s()[k])
		}
	}
}

// TestBatchOfIgnoredTokens trains with a batch that has no token to learn from: it changes nothing,
// alone, in a step of accumulated batches, and if a whole step has none.
func TestBatchOfIgnoredTokens(t *testing.T) {
	train := func(tokens, tags [][]int, options ...accel.Option) ([]float64, *accel.Run) {
		t.Helper()
		set, err := data.TokenClasses(tokens, tags, 11)
		if err != nil {
			t.Fatal(err)
		}
		accel.Seed(1)
		model := nn.Sequential(nn.Embedding(12, 4), nn.Dense(3))
		run, err := accel.Fit(t.Context(), model, set, append(options, accel.Steps(3), accel.SGD(0.5, 0), accel.Quiet())...)
		must(t, run, err)
		var all []float64
		for _, p := range nn.Parameters(model) {
			all = append(all, p.Float64s()...)
		}
		return all, run
	}
	none := []int{data.Ignored, data.Ignored}
	some := [][]int{{1, 2}, {3, 4}}
	for _, options := range [][]accel.Option{{accel.BatchSize(1)}, {accel.BatchSize(1), accel.Accumulate(2)}} {
		got, run := train(append(some, []int{5, 6}), [][]int{{0, 1}, none, none}, options...)
		for i, v := range got {
			if math.IsNaN(v) {
				t.Fatalf("weight %d is NaN", i)
			}
		}
		empty := 0
		for _, s := range run.Steps {
			if s.Loss == 0 {
				empty++
			}
		}
		if empty == 0 {
			t.Errorf("%v: no step without tokens: %v", options, run.Steps)
		}
	}
	got, _ := train(some, [][]int{{0, 1}, none}, accel.BatchSize(1), accel.Accumulate(2))
	want, _ := train(some[:1], [][]int{{0, 1}}, accel.BatchSize(1))
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-6 {
			t.Errorf("weight %d is %v, want %v as without the ignored tokens", i, got[i], want[i])
		}
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
	result, err := accel.Evaluate(t.Context(), nn.Sequential(), set, accel.Minimize(nn.BCEWithLogits), accel.Metrics(metrics.F1(metrics.PerClass), metrics.Recall(metrics.OfClass(1))))
	if err != nil {
		t.Fatal(err)
	}
	if all := result.Metrics(); len(all) != 3 || all[2].Name != "recall (music)" || all[0].Name != "F1 (sport)" || all[1].Name != "F1 (music)" || all[0].Value != 1 {
		t.Errorf("%v", all)
	}
	run, err := accel.Fit(t.Context(), nn.Dense(2), set, accel.Minimize(nn.BCEWithLogits), accel.Epochs(1), accel.Validate(set), accel.BestBy(metrics.Recall(metrics.OfClass(1))), accel.Quiet())
	must(t, run, err)
	if all := run.Validations[0].Metrics; len(all) != 1 || all[0].Name != "recall (music)" {
		t.Errorf("%v", all)
	}
}

// TestAccuracyOfRightSequencesIsOne trains a model that predicts each token, of lengths whose reciprocals are not exact.
func TestAccuracyOfRightSequencesIsOne(t *testing.T) {
	model := nn.Embedding(4, 4)
	model.Forward(tensor.FromInts([]int{0}, 1, 1))
	nn.Parameters(model)[0].SetData([]float32{9, 0, 0, 0, 0, 9, 0, 0, 0, 0, 9, 0, 0, 0, 0, 9}) // the logits of the same token
	for _, length := range []int{3, 7, 41, 47, 49, 55, 61} {
		for _, examples := range []int{1, 2, 3, 5, 32} {
			set, err := data.Windows(slices.Repeat([]int{3}, length+examples), length, 1)
			if err != nil {
				t.Fatal(err)
			}
			run, err := accel.Fit(t.Context(), model, set, accel.Steps(1), accel.BatchSize(examples), accel.SGD(1e-6, 0), accel.Quiet())
			must(t, run, err)
			if got := run.Steps[0].Accuracy; got != 1 {
				t.Errorf("%d sequences of %d tokens: accuracy %v", set.Len(), length, got)
			}
		}
	}
}
