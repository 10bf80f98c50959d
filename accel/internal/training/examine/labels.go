package examine

import (
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"unsafe"
)

// Set is a data set; *data.Dataset implements it.
type Set interface {
	Name() string
	Len() int
	Classes() []string
	Targets() int
	SequenceLength() int
	Unlabeled() bool
	InMemory() bool
	Label(i int) int
	Target(i int) []float32
	Example(i int) []float32
}

// Limits of what is read before a training.
const (
	mostLabels   = 20_000     // labels
	mostValues   = 16_000_000 // values of examples of the training set
	mostExamples = 500        // examples of the validation set
	fewExamples  = 50         // fewer say nothing about the shares of classes
)

// Labels finds a data set with one class only, and one in which a class is so frequent that accuracy
// says little. balanced says that the training weights examples or classes.
func Labels(set Set, balanced bool) []string {
	classes, counts := set.Classes(), counts(set, mostLabels)
	if counts == nil || set.Len() < 2 {
		return nil
	}
	frequent, read := 0, 0
	for class, n := range counts {
		if read += n; n > counts[frequent] {
			frequent = class
		}
	}
	share := float64(counts[frequent]) / float64(read)
	switch {
	case counts[frequent] == read && read == set.Len():
		return []string{fmt.Sprintf("all %d examples of %s have the class %s: there is nothing to distinguish; check the labels, or add examples of other classes", read, set.Name(), classes[frequent])}
	case share >= 0.9 && read >= fewExamples && !balanced:
		return []string{fmt.Sprintf("%.0f %% of the examples have the class %s, and a model that always answers that has this accuracy: "+
			"judge it by Metrics(metrics.F1(), metrics.Recall()), and train with ClassBalancedSampler or class weights", 100*share, classes[frequent])}
	}
	return nil
}

// mostTargets is the number of examples whose targets are read.
const mostTargets = 2000

// Targets finds targets that are far from 1, unless these are counts, and returns the mean squared error of their
// mean, 0 if it is unknown, and their range.
func Targets(set Set, counts bool) (spread float64, r Range, found []string) {
	width := set.Targets()
	if width == 0 || !set.InMemory() || set.Len() == 0 {
		return 0, r, nil
	}
	r = Range{math.Inf(1), math.Inf(-1)}
	sums, squares, n := make([]float64, width), make([]float64, width), 0.
	for i := range places(set.Len(), mostTargets) {
		for k, v := range set.Target(i) {
			r.Low, r.High = min(r.Low, float64(v)), max(r.High, float64(v))
			sums[k] += float64(v)
			squares[k] += float64(v) * float64(v)
		}
		n++
	}
	largest := 0.
	for k := range sums {
		spread += max(squares[k]/n-sums[k]*sums[k]/(n*n), 0) / float64(width)
		largest = max(largest, math.Sqrt(squares[k]/n))
	}
	if largest > largestColumn && !counts {
		found = append(found, fmt.Sprintf("the targets are large, %.3g in the root mean square, and a model begins with predictions near 0: subtract their mean and divide by their deviation, and do the reverse with the predictions", largest))
	}
	return spread, r, found
}

// places yields at most n indices below length, at equal distances.
func places(length, n int) func(yield func(int) bool) {
	n = min(n, length)
	return func(yield func(int) bool) {
		for k := range n {
			if !yield(int(int64(k) * int64(length) / int64(n))) {
				return
			}
		}
	}
}

// Overlap finds examples of the validation set that are in the training set, with the same label: the
// validation then measures what the model remembers. Of large sets it compares a part.
func Overlap(train, validation Set) []string {
	if train == validation {
		return []string{fmt.Sprintf("the validation set is the training set (%s): it measures what the model remembers, not what it has learned; "+
			"divide the data with RandomSplit", train.Name())}
	}
	if !train.InMemory() || !validation.InMemory() || size(train) != size(validation) || train.Targets() != validation.Targets() || size(train) == 0 {
		return nil
	}
	h := hasher{seed: maphash.MakeSeed(), set: train}
	seen, read, repeated := map[uint64]bool{}, 0, 0
	for i := range places(train.Len(), max(1, mostValues/size(train))) {
		id := h.of(i)
		if seen[id] {
			repeated++
		}
		seen[id] = true
		read++
	}
	if float64(repeated) > 0.02*float64(read) && discrete(train, len(seen)) { // few values are possible, and equal examples say nothing
		return nil
	}
	h.set = validation
	tried, found := 0, 0
	for i := range places(validation.Len(), mostExamples) {
		if tried++; seen[h.of(i)] {
			found++
		}
	}
	share := float64(found) / float64(tried) * float64(train.Len()) / float64(read)
	if found < 2 || share < 0.05 {
		return nil
	}
	return []string{fmt.Sprintf("about %.0f %% of the examples of the validation set (%s) are also in the training set: it measures what the model remembers; "+
		"divide the data with RandomSplit, and remove duplicates before", 100*min(share, 1), validation.Name())}
}

// discrete reports whether no column has half as many values as there are different examples.
func discrete(set Set, different int) bool {
	const mostColumns, mostRows = 64, 1000
	rows, columns := min(set.Len(), mostRows), slices.Collect(places(size(set), mostColumns))
	values := make([]map[float32]bool, len(columns))
	for k := range values {
		values[k] = map[float32]bool{}
	}
	for i := range places(set.Len(), rows) {
		row := set.Example(i)
		for k, column := range columns {
			values[k][row[column]] = true
		}
	}
	return !slices.ContainsFunc(values, func(v map[float32]bool) bool { return 2*len(v) > min(different, rows) })
}

// size returns the number of values of an example before transforms.
func size(set Set) int {
	if set.Len() == 0 {
		return 0
	}
	return len(set.Example(0))
}

// hasher identifies examples by their content.
type hasher struct {
	seed maphash.Seed
	set  Set
}

// of returns a number that is the same for examples with equal values and labels, and else differs.
func (h *hasher) of(i int) uint64 {
	content := [2]uint64{h.bits(h.set.Example(i))}
	if h.set.Targets() > 0 {
		content[1] = h.bits(h.set.Target(i))
	} else if !h.set.Unlabeled() {
		content[1] = uint64(h.set.Label(i))
	}
	return maphash.Comparable(h.seed, content)
}

// bits returns the hash of the bits of values, which are not copied: a large set has millions.
func (h *hasher) bits(values []float32) uint64 {
	return maphash.Bytes(h.seed, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), 4*len(values)))
}
