package data

import (
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/accel/tensor"
)

// Sequences makes a data set of sequences of different lengths, such as sentences of tokens, with a
// class each. The sequences of a batch are padded at the end to its longest one, T, with the token
// padding: X is [N, T], and [Batch.Lengths] has the lengths. In accel.Fit, Evaluate and Predict the
// layers of package nn that work on sequences ignore the padding: attention and recurrent layers,
// nn.MeanPositions and nn.LastPosition. Others, such as nn.Conv1D and nn.GlobalAvgPool1D, see it as
// PyTorch does, so that results depend on the longest sequence of the batch. [GroupByLength] makes batches of similar lengths.
//
//	set, err := data.Sequences(tokens, labels, 0)
//	model := nn.Sequential(nn.Embedding(words, 32), nn.LSTM(48, nn.LastOutput()), nn.Dense(2))
//
// An empty sequence is an error. [Dataset.Shape] has the length of the longest sequence.
// [SequenceTargets] and [TokenClasses] make data sets of sequences with other labels.
func Sequences(tokens [][]int, labels []int, padding int) (*Dataset, error) {
	source, err := newSequences("Sequences", tokens, len(labels), "labels", padding)
	if err != nil {
		return nil, err
	}
	classes, err := countClasses(labels)
	if err != nil {
		return nil, err
	}
	source.labels = slices.Clone(labels)
	return &Dataset{name: "sequences", shape: []int{source.longest}, classes: numberedClasses(classes), source: source}, nil
}

// SequenceTargets is [Sequences] with a vector of targets for each sequence instead of a class: for
// regression, or for several labels that are 0 or 1, with nn.BCEWithLogits.
func SequenceTargets(tokens [][]int, targets [][]float32, padding int) (*Dataset, error) {
	source, err := newSequences("SequenceTargets", tokens, len(targets), "vectors of targets", padding)
	if err != nil {
		return nil, err
	}
	if source.wanted, source.outputs, err = flatten("target", targets); err != nil {
		return nil, err
	}
	return &Dataset{name: "sequences", shape: []int{source.longest}, source: source}, nil
}

// TokenClasses is [Sequences] with a class for each token instead of one for the sequence, such as
// the kind of a name that a word belongs to. The class of a token may be [Ignored], and that of the
// padding is: Y is [N, T]. A model has the outputs [N, T, C].
//
//	set, err := data.TokenClasses(tokens, tags, 0)
//	model := nn.Sequential(nn.Embedding(words, 32), nn.LSTM(48, nn.Bidirectional()), nn.Dense(tags))
func TokenClasses(tokens, classes [][]int, padding int) (*Dataset, error) {
	source, err := newSequences("TokenClasses", tokens, len(classes), "lists of classes", padding)
	if err != nil {
		return nil, err
	}
	most := 0
	for i, s := range classes {
		if len(s) != len(tokens[i]) {
			return nil, &ExampleError{Dataset: "sequences", Example: i, Err: fmt.Errorf("there are %d tokens, but %d classes", len(tokens[i]), len(s))}
		}
		n, _, err := countPositionClasses(s)
		if err != nil {
			return nil, &ExampleError{Dataset: "sequences", Example: i, Err: err}
		}
		most = max(most, n)
		source.classes = append(source.classes, slices.Clone(s))
	}
	return &Dataset{name: "sequences", shape: []int{source.longest}, classes: numberedClasses(most), source: source}, nil
}

// countPositionClasses returns one more than the highest class, and whether positions are [Ignored].
func countPositionClasses(labels []int) (classes int, ignores bool, err error) {
	for k, c := range labels {
		switch {
		case c == Ignored:
			ignores = true
		case c < 0 || c >= maxClasses:
			return 0, false, fmt.Errorf("label %d of position %d: labels are class indices from 0 to %d, or data.Ignored", c, k, maxClasses-1)
		}
		classes = max(classes, c+1)
	}
	return classes, ignores, nil
}

// newSequences returns sequences without labels, of which there are n.
func newSequences(function string, tokens [][]int, n int, labels string, padding int) (*sequences, error) {
	switch {
	case n != len(tokens):
		return nil, fmt.Errorf("data: %s: %d sequences, but %d %s", function, len(tokens), n, labels)
	case len(tokens) == 0:
		return nil, fmt.Errorf("data: %s: there are no sequences", function)
	}
	source := &sequences{padding: padding}
	for i, s := range tokens {
		if len(s) == 0 {
			return nil, &ExampleError{Dataset: "sequences", Example: i, Err: errors.New("the sequence is empty")}
		}
		for _, t := range append(s[:len(s):len(s)], padding) {
			if t < 0 || t >= maxClasses {
				return nil, &ExampleError{Dataset: "sequences", Example: i, Err: fmt.Errorf("token %d is not from 0 to %d", t, maxClasses-1)}
			}
		}
		source.longest = max(source.longest, len(s))
		source.tokens = append(source.tokens, slices.Clone(s))
	}
	return source, nil
}

// sequences is a source of padded sequences.
type sequences struct {
	tokens           [][]int
	padding, longest int

	answers         // a class each, or targets,
	classes [][]int // or a class for each token
}

func (s *sequences) len() int         { return len(s.tokens) }
func (s *sequences) length(i int) int { return len(s.tokens[i]) }

func (s *sequences) form() form {
	f := s.answers.form()
	f.positions, f.padding = s.longest, s.padding
	if s.classes != nil {
		f.sequence, f.ignores = s.longest, true
	}
	return f
}

func (s *sequences) read(i int, v values) error {
	if s.classes != nil {
		fill(v.labels[copy(v.labels, s.classes[i]):], Ignored)
	} else {
		s.answers.read(i, &v)
	}
	for k := range v.x {
		v.x[k] = float32(s.padding)
		if k < len(s.tokens[i]) {
			v.x[k] = float32(s.tokens[i][k])
		}
	}
	return nil
}

// Length returns the length of example i of a data set of [Sequences], the number of tokens of a row of
// [Dataset.PackSequences], and 0 for others. It panics if i is not in [0, Len).
func (s *Dataset) Length(i int) int { return lengthOf(s.source, s.at(i)) }

// paddingOf returns the lengths of padded sequences, and the number of positions to which a batch of
// them is padded; nil and 0 for other examples.
func (s *Dataset) paddingOf(index []int) (lengths []int, positions int) {
	all := s.positions()
	if all == 0 {
		return nil, 0
	}
	longest := 0
	for _, i := range index {
		lengths = append(lengths, s.Length(i))
		longest = max(longest, lengths[len(lengths)-1])
	}
	if s.cutsPadding() {
		return lengths, longest
	}
	return lengths, all
}

// cutsPadding reports whether an example is a padded sequence and nothing else, so that batches are
// padded only to their longest sequence.
func (s *Dataset) cutsPadding() bool {
	return len(s.shape) == 1 && s.shape[0] == s.positions()
}

// errPadded is why sequences have no other shape.
var errPadded = errors.New("the examples are sequences of different lengths, whose shape cannot change")

// cut moves the rows of a matrix together that are cut to a smaller number of columns.
func cut[T any](rows []T, columns, to int) []T {
	n := len(rows) / columns
	for i := range n {
		copy(rows[i*to:(i+1)*to], rows[i*columns:])
	}
	return rows[:n*to]
}

// WithLengths runs f, a pass of a model, with the lengths of the sequences of the batch, so that the
// layers of package nn ignore the padding, or with the positions of packed sequences, so that they are
// kept apart. accel.Fit, Evaluate and Predict do this; your own training loop has to. For other batches
// it only runs f.
func (b Batch) WithLengths(f func()) {
	switch {
	case len(b.Positions) > 0:
		tensor.WithPositions(tensor.FromInts(slices.Concat(b.Positions...), len(b.Positions), len(b.Positions[0])), f)
		return
	case b.Lengths == nil:
		f()
		return
	}
	tensor.WithLengths(tensor.FromInts(b.Lengths, len(b.Lengths)), b.Padded, f)
}

// GroupByLength makes batches of examples of similar lengths, so that they have little padding, in a
// data set of [Sequences]. It divides the shuffled examples into parts of 50 batches, sorts each
// part by length, and shuffles its batches. [Shuffle] sets the seed; each example is used once.
func GroupByLength() Option {
	return Option{option.New(func(l *loader) { l.byLength = true }, "GroupByLength")}
}

// lengthOrder sorts an order of the examples for [GroupByLength].
func (s *Dataset) lengthOrder(order []int, size int, seed uint64, epoch int) []int {
	const batches = 50 // in a part, as in Hugging Face's LengthGroupedSampler
	random := rand.New(rand.NewPCG(seed, uint64(epoch)))
	for from := 0; from < len(order); from += batches * size {
		part := order[from:min(from+batches*size, len(order))]
		slices.SortStableFunc(part, func(a, b int) int { return s.Length(b) - s.Length(a) })
		whole := len(part) / size // a smaller last batch stays at the end
		sorted := slices.Clone(part)
		for k, from := range random.Perm(whole) {
			copy(part[k*size:(k+1)*size], sorted[from*size:])
		}
	}
	return order
}

// PackSequences returns a data set whose examples are rows of a fixed length, each with several sequences
// of this data set one after the other, so that little of a batch is padding. The data set is one of
// [TokenClasses]. The sequences are put, from the longest to the shortest, into the row in which they
// leave the least space (best-fit decreasing), so all are used once and the rows are the same in each epoch;
// [Shuffle] changes their order. A longer sequence is an [*ExampleError].
//
//	padded, err := data.TokenClasses(tokens, next, 0)
//	packed, err := padded.PackSequences(256)
//	fmt.Println(padded.PaddingShare(32), packed.PaddingShare(32))
//
// X is [N, length] and Y, with [Ignored] behind the last sequence of a row, too. [Batch.Positions] has the
// position of each token in its sequence. With them, in accel.Fit, Evaluate and Predict, the attention of
// package nn stays within a sequence, and nn.PositionEmbedding restarts with each, so loss and gradients are
// those of the padded sequences. Layers that would mix the sequences of a row, such as recurrent
// layers and nn.MeanPositions, panic with a *tensor.StateError, and so does attention without a mask.
// Convolutions, pooling and your own layers are not checked: they must not look at other positions.
//
// Transforms and [Dataset.Cached] come after it. An example is now a row: with 4 sequences in a row, a
// quarter of the batch size has as many tokens in a batch.
func (s *Dataset) PackSequences(length int) (*Dataset, error) {
	if s == nil {
		return nil, errors.New("data: PackSequences: the data set is nil: check the error returned where it was created")
	}
	from, ok := s.source.(*sequences)
	switch {
	case !ok || from.classes == nil || s.resident != nil:
		return nil, fmt.Errorf("data: PackSequences: %s is not a data set of TokenClasses: pack it before other changes, such as Cached, Inputs or OnDevice", s.name)
	case len(s.transforms) > 0:
		return nil, fmt.Errorf("data: PackSequences: %s has transforms: map them afterwards", s.name)
	case s.Len() == 0:
		return nil, fmt.Errorf("data: PackSequences: %s is empty", s.name)
	case length < 1 || length > maxPacked:
		return nil, fmt.Errorf("data: PackSequences: the length %d of a row must be from 1 to %d", length, maxPacked)
	}
	lengths := make([]int, s.Len())
	for i := range lengths {
		if lengths[i] = s.Length(i); lengths[i] > length {
			return nil, s.exampleError(i, fmt.Errorf("its %d tokens are more than a row of PackSequences(%d) has", lengths[i], length))
		}
	}
	p := &packed{from: from, rows: bestFit(lengths, length), columns: length}
	for _, row := range p.rows {
		for k, i := range row {
			row[k] = s.at(i)
		}
	}
	t := *s
	t.name, t.source, t.index, t.shape = s.name+", packed", p, nil, []int{length}
	return &t, nil
}

// maxPacked limits a row: positions are computed in float32, which has all integers up to this one.
const maxPacked = 1 << 24

// bestFit divides items among rows of a length: from the largest to the smallest, each into the row with
// the least space that is enough. Rows of equal space are used in the order in which they got it.
func bestFit(sizes []int, length int) (rows [][]int) {
	order := identity(len(sizes))
	slices.SortStableFunc(order, func(a, b int) int { return sizes[b] - sizes[a] })
	spaces := make([][]int, length+1)        // the rows with a space
	some := make([]uint64, (length+1+63)/64) // one bit for each space: there are such rows
	for _, i := range order {
		space := nextBit(some, sizes[i])
		row := len(rows)
		if space < 0 {
			rows, space = append(rows, nil), length
		} else {
			row, spaces[space] = spaces[space][0], spaces[space][1:]
			if len(spaces[space]) == 0 {
				some[space/64] &^= 1 << (space % 64)
			}
		}
		rows[row] = append(rows[row], i)
		space -= sizes[i]
		spaces[space] = append(spaces[space], row)
		some[space/64] |= 1 << (space % 64)
	}
	return rows
}

// nextBit returns the first bit that is set from i on, -1 if there is none.
func nextBit(set []uint64, i int) int {
	for w, mask := i/64, ^uint64(0)<<(i%64); w < len(set); w, mask = w+1, ^uint64(0) {
		if bitsFrom := set[w] & mask; bitsFrom != 0 {
			return 64*w + bits.TrailingZeros64(bitsFrom)
		}
	}
	return -1
}

// packed is a source of rows of sequences.
type packed struct {
	from    *sequences
	rows    [][]int // the sequences of each
	columns int
}

func (p *packed) len() int { return len(p.rows) }

func (p *packed) form() form { // the rows are no padded sequences
	return form{sequence: p.columns, ignores: true, packed: true, memory: true, padding: p.from.padding}
}

func (p *packed) length(i int) (tokens int) {
	for _, s := range p.rows[i] {
		tokens += len(p.from.tokens[s])
	}
	return tokens
}

func (p *packed) read(i int, v values) error {
	at := 0
	for _, s := range p.rows[i] {
		for k, token := range p.from.tokens[s] {
			if v.x != nil {
				v.x[at] = float32(token)
			}
			if v.labels != nil {
				v.labels[at] = p.from.classes[s][k]
			}
			if v.positions != nil {
				v.positions[at] = k
			}
			at++
		}
	}
	for k := at; k < p.columns; k++ { // each token of the padding is a sequence of its own
		if v.x != nil {
			v.x[k] = float32(p.from.padding)
		}
		if v.labels != nil {
			v.labels[k] = Ignored
		}
		if v.positions != nil {
			v.positions[k] = 0
		}
	}
	return nil
}

// PaddingShare returns which share of the positions of all batches of a size is padding, in a data set of
// [Sequences] or of [Dataset.PackSequences]; 0 for others. The options are those of [Dataset.Batches]. It
// reads no examples.
func (s *Dataset) PaddingShare(size int, options ...Option) (float64, error) {
	it := s.Batches(size, options...)
	if it.Err() != nil {
		return 0, it.Err()
	}
	tokens, positions := 0, 0
	for k := it.taken; k < it.count; k++ {
		index := it.examples(k)
		_, columns := s.paddingOf(index)
		if s.source.form().packed {
			columns = s.SequenceLength()
		}
		for _, i := range index {
			tokens += min(s.Length(i), columns)
		}
		positions += len(index) * columns
	}
	if positions == 0 {
		return 0, nil
	}
	return 1 - float64(tokens)/float64(positions), nil
}

var errPacked = errors.New("the rows are packed sequences, whose shape cannot change")
