package models_test

import (
	"math"
	"testing"

	"github.com/quernlab/quern/accel/models"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// TestRandomWeightsAreUncertain requires a language model with random weights to predict every token with about the same
// probability. If the weight of the embedding, which is that of the output layer, too, is too large, it predicts its own input, and
// the gradients are denormal numbers, with which a CPU computes ten times slower.
func TestRandomWeightsAreUncertain(t *testing.T) {
	const vocabulary = 64
	tokens := tensor.RandInt(tensor.NewGenerator(1), 0, vocabulary, 2, 16)
	for name, m := range map[string]nn.Module{
		"GPT2":  models.GPT2(models.GPT2Config{VocabSize: vocabulary, Positions: 16, Width: 64, Layers: 2, Heads: 2}),
		"Llama": models.Llama(models.LlamaConfig{VocabSize: vocabulary, Positions: 16, Width: 64, Inner: 96, Layers: 2, Heads: 2, Tied: true}),
	} {
		loss := nn.CrossEntropy(m.Forward(tokens), tokens).Item()
		if want := math.Log(vocabulary); math.Abs(loss-want) > 1 { // its input is somewhat more probable
			t.Errorf("%s: the loss is %.2f, want about ln %d = %.2f", name, loss, vocabulary, want)
		}
	}
}
