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
