package loop

import (
	"fmt"
	"math"
	"slices"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// nonFiniteExamples returns the indices of the examples of a batch whose input or targets are
// not finite, and a description of the first such value.
func nonFiniteExamples(set *data.Dataset, b data.Batch) (examples []int, where string, err error) {
	defer nn.Catch(&err)
	if finite(b.X) && finite(b.Y) {
		return nil, "", nil
	}
	for _, t := range []*tensor.Tensor{b.X, b.Y} {
		if !t.DType().IsFloat() {
			continue
		}
		values := t.Float64s()
		size := len(values) / max(len(b.Index), 1)
		for row, index := range b.Index {
			at := slices.IndexFunc(values[row*size:(row+1)*size], notANumber)
			if at < 0 || slices.Contains(examples, index) {
				continue
			}
			if examples = append(examples, index); where == "" {
				where = describeNonFinite(set, index, at, t == b.Y, values[row*size+at])
			}
		}
	}
	return examples, where + others(len(examples)), nil
}

// describeNonFinite says where an example is not finite.
func describeNonFinite(set *data.Dataset, index, at int, target bool, v float64) string {
	what, names := "number", set.Schema().Columns
	if target {
		what, names = "target", set.Schema().Targets
	}
	if at < len(names) {
		what = "column"
		if target {
			what = "target"
		}
		what += fmt.Sprintf(" %q", names[at])
	} else {
		what += fmt.Sprintf(" %d", at)
	}
	text := fmt.Sprintf("example %d of %s: %s is %v", index, set.Name(), what, v)
	if !target && !slices.ContainsFunc(set.Example(index), func(x float32) bool { return notANumber(float64(x)) }) {
		text += " after its transforms"
	}
	return text
}

// nonFiniteSource is [nonFiniteExamples] for the stored examples, before transforms.
func nonFiniteSource(set *data.Dataset, indices []int) (examples []int, where string, err error) {
	part, err := set.Subset(indices)
	if err != nil {
		return nil, "", err
	}
	defer func() { // a file that cannot be read panics
		if p, ok := recover().(error); ok {
			err = p
		}
	}()
	for i, index := range indices {
		for target, values := range [][]float32{part.Example(i), part.Target(i)} {
			at := slices.IndexFunc(values, func(x float32) bool { return notANumber(float64(x)) })
			if at < 0 || slices.Contains(examples, index) {
				continue
			}
			if examples = append(examples, index); where == "" {
				where = describeNonFinite(set, index, at, target == 1, float64(values[at]))
			}
		}
	}
	return examples, where + others(len(examples)), nil
}

// others counts the further examples that are not finite.
func others(n int) string {
	switch {
	case n < 2:
		return ""
	case n == 2:
		return "; one more example is not finite"
	}
	return fmt.Sprintf("; %d more examples are not finite", n-1)
}

// finite reports whether all elements of a tensor are finite.
func finite(t *tensor.Tensor) (yes bool) {
	if !t.DType().IsFloat() {
		return true
	}
	tensor.NoGrad(func() { yes = t.MulScalar(0).Sum().Item() == 0 }) // x·0 is NaN if x is NaN or infinite
	return yes
}

// notANumber reports whether a loss is NaN or infinite.
func notANumber(loss float64) bool { return math.IsNaN(loss) || math.IsInf(loss, 0) }
