package accel

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"

	"github.com/quernlab/quern/accel/data"
)

// DropLast leaves out the last batch of each epoch if it is smaller than the others, like
// drop_last of PyTorch's DataLoader. Since each epoch has another order, other examples are left
// out each time. [nn.BatchNorm] needs it if the last batch would have a single example. A data set
// that is smaller than a batch is one batch, which is used.
func DropLast() Option {
	return plain("DropLast()", func(c *options) { c.dropLast = true })
}

// WeightedRandomSampler draws the examples of each epoch at random with replacement, each with a
// probability proportional to its weight; see [data.WeightedRandomSampler].
func WeightedRandomSampler(weights []float64) Option {
	text := fmt.Sprintf("WeightedRandomSampler(%d weights)", len(weights))
	hash := fnv.New64a()
	for _, w := range weights {
		hash.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(w)))
	}
	name := fmt.Sprintf("%s %x", text, hash.Sum64())
	return plain(text, func(c *options) {
		c.weights, c.samplerName = slices.Concat([]float64{}, weights), name
	}).sharedAs(name)
}

// ClassBalancedSampler draws the examples of each epoch at random with replacement, so that each class that occurs
// is drawn equally often: [WeightedRandomSampler] with the weight 1/n for the examples of a class that has n. An
// epoch has as many examples as the data set, so that those of rare classes are seen several times. It needs one
// class for each example.
func ClassBalancedSampler() Option {
	const text = "ClassBalancedSampler()"
	return plain(text, func(c *options) { c.balanced, c.samplerName = true, text })
}

// balanceClasses sets the weights of ClassBalancedSampler.
func (c *options) balanceClasses(set *data.Dataset) error {
	switch {
	case !c.balanced:
		return nil
	case c.weights != nil:
		return errors.New("accel: Fit: ClassBalancedSampler and WeightedRandomSampler both set the weights of the examples: leave one out")
	case set.Targets() > 0 || set.SequenceLength() > 0:
		return fmt.Errorf("accel: Fit: ClassBalancedSampler: the examples of %s do not have one class each", set.Name())
	}
	counts := set.Counts()
	c.weights = make([]float64, set.Len())
	for i := range c.weights {
		c.weights[i] = 1 / float64(counts[set.Label(i)])
	}
	return nil
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
	return fitOption(text, func(c *options) error {
		if loss == nil {
			return fmt.Errorf("accel: %s: the function is nil", text)
		}
		if _, err := data.HardExampleWeights(nil, uniform); err != nil {
			return fmt.Errorf("accel: %s: %w", text, err)
		}
		c.hardness, c.uniform, c.samplerName = loss, uniform, text
		return nil
	})
}

// checkHardness returns an error if HardExampleSampler cannot be used with the other options.
func (c *options) checkHardness() error {
	switch {
	case c.hardness == nil:
		return nil
	case c.weights != nil || c.balanced || c.byLength:
		return errors.New("accel: Fit: HardExampleSampler and another sampler both set the order of the examples: leave one out")
	case c.group != nil && c.group.Size() > 1:
		return errors.New("accel: Fit: HardExampleSampler needs a training in one process: the ranks would draw by different losses")
	}
	return nil
}

// weighHard sets the weights of HardExampleSampler for an epoch.
func (c *options) weighHard(set *data.Dataset) (err error) {
	if c.hardness == nil {
		return nil
	}
	losses := make([]float64, set.Len())
	for i := range losses {
		losses[i] = c.hardness(i)
	}
	if c.weights, err = data.HardExampleWeights(losses, c.uniform); err != nil {
		return fmt.Errorf("accel: Fit: HardExampleSampler: %w", err)
	}
	return nil
}

// GroupByLength makes batches of sequences of similar lengths, so that they have little padding; see
// [data.GroupByLength]. It needs a data set of data.Sequences, and cannot be combined with
// [WeightedRandomSampler].
func GroupByLength() Option {
	const text = "GroupByLength()"
	return plain(text, func(c *options) { c.byLength, c.samplerName = true, text })
}

// examplesPerEpoch returns the number of examples of an epoch.
func (c *options) examplesPerEpoch(set *data.Dataset) int {
	n := set.Len()
	if c.dropLast && n > c.batchSize {
		n -= n % c.batchSize
	}
	return n
}

// sampler returns the option for the batches of an epoch.
func (c *options) sampler() data.Option {
	switch {
	case c.byLength:
		return data.GroupByLength()
	case c.weights != nil:
		return data.WeightedRandomSampler(c.weights)
	}
	return data.Option{}
}
