package accel

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/internal/training/loop"
)

// DropLast leaves out the last batch of each epoch if it is smaller than the others, like
// drop_last of PyTorch's DataLoader. Since each epoch has another order, other examples are left
// out each time. [nn.BatchNorm] needs it if the last batch would have a single example. A data set
// that is smaller than a batch is one batch, which is used.
func DropLast() Option {
	return plain("DropLast()", func(c *loop.Settings) { c.DropLast = true })
}

// WeightedRandomSampler draws the examples of each epoch at random with replacement, each with a
// probability proportional to its weight; see [data.WeightedRandomSampler].
func WeightedRandomSampler(weights []float64) Option {
	text := fmt.Sprintf("WeightedRandomSampler(%d weights)", len(weights))
	hash := fnv.New64a()
	_ = binary.Write(hash, binary.LittleEndian, weights) // never fails
	name := fmt.Sprintf("%s %x", text, hash.Sum64())
	return plain(text, func(c *loop.Settings) {
		c.Weights, c.SamplerName = append([]float64{}, weights...), name // not nil, which stands for no sampler
	}).sharedAs(name)
}

// ClassBalancedSampler draws the examples of each epoch at random with replacement, so that each class that occurs
// is drawn equally often: [WeightedRandomSampler] with the weight 1/n for the examples of a class that has n. An
// epoch has as many examples as the data set, so that those of rare classes are seen several times. It needs one
// class for each example.
func ClassBalancedSampler() Option {
	const text = "ClassBalancedSampler()"
	return plain(text, func(c *loop.Settings) { c.Balanced, c.SamplerName = true, text })
}

// HardExampleSampler draws the examples of each epoch at random with replacement, each with a probability
// proportional to its loss, or another score that is high for hard examples, and a share of the draws from 0 to 1
// uniformly; see [data.HardExampleWeights]. At the start of each epoch, Fit calls loss with the index of each
// example of the training set. The loss must be finite and not negative.
//
// The losses may be those of an earlier model, or last ones that an [Observer] computes in Begin and at the
// end of an epoch, when the model has the weights with which the next epoch starts. With [Resume] the file has
// the probabilities of the epoch, so that a training that is resumed within an epoch has the same batches; after an
// epoch, loss must return the same values as without interruption. It needs a training in one process.
func HardExampleSampler(loss func(i int) float64, uniform float64) Option {
	text := fmt.Sprintf("HardExampleSampler(loss, %g)", uniform)
	return fitOption(text, func(c *loop.Settings) error {
		if _, err := data.HardExampleWeights(nil, uniform); err != nil {
			return fmt.Errorf("accel: %s: %w", text, err)
		}
		c.Hardness, c.Uniform, c.SamplerName = loss, uniform, text
		return nil
	}).require(loss != nil, "the function is nil")
}

// GroupByLength makes batches of sequences of similar lengths, so that they have little padding; see
// [data.GroupByLength]. It needs a data set of data.Sequences, and cannot be combined with
// [WeightedRandomSampler].
func GroupByLength() Option {
	const text = "GroupByLength()"
	return plain(text, func(c *loop.Settings) { c.ByLength, c.SamplerName = true, text })
}

// Mixup trains on mixtures of examples (Zhang et al., arXiv:1710.09412): each batch is mixed
// with a permutation of itself,
//
//	x = λ·x + (1-λ)·x',   loss = λ·loss(y) + (1-λ)·loss(y')
//
// where λ is drawn for each batch from the distribution Beta(alpha, alpha): 0.2 mixes a little,
// 1 evenly. The mixing runs on the device; [Seed] determines the random numbers. Training
// accuracy is measured against y. Mixup needs numeric examples, not tokens.
//
// With [DataParallel] each rank mixes its part of a batch, with random numbers of its own, so that the result depends on the number of
// ranks. With [Accumulate] each batch is mixed by itself.
func Mixup(alpha float64) Option {
	return mixing(fmt.Sprintf("Mixup(%g)", alpha), loop.Mixer{Alpha: alpha})
}

// CutMix trains on images with a rectangle of another image (Yun et al., arXiv:1905.04899): each
// batch is combined with a permutation of itself. A share of about 1-λ of the area comes from the
// other image, at the same place, where λ is drawn for each batch from the distribution
// Beta(alpha, alpha), and the loss is that of [Mixup] with the exact share of the area. The
// rectangle is that of torchvision's CutMix: its center is anywhere, so a part of it may be
// outside. It needs examples of shape [C, H, W] or [H, W].
func CutMix(alpha float64) Option {
	return mixing(fmt.Sprintf("CutMix(%g)", alpha), loop.Mixer{Alpha: alpha, Cut: true})
}

func mixing(text string, m loop.Mixer) Option {
	return fitOption(text, func(c *loop.Settings) error {
		if c.Mixer.Alpha > 0 && c.Mixer.Cut != m.Cut {
			return errors.New("accel: Mixup and CutMix cannot be combined: use one of them")
		}
		c.Mixer = m
		return nil
	}).require(positive(m.Alpha), "alpha must be positive and finite")
}
