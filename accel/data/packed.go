package data

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
)

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
	order := make([]int, len(sizes))
	for i := range order {
		order[i] = i
	}
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

func (p *packed) len() int       { return len(p.rows) }
func (p *packed) form() form     { return form{sequence: p.columns, ignores: true, packed: true} }
func (p *packed) positions() int { return 0 } // the rows are no padded sequences

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
