package parallel

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/training/layer"
	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// splitting says how the ranks along TP divide some layers.
type splitting struct {
	what    string
	pattern string
	rows    bool
	dense   bool // nn.Dense, of which the columns or rows are divided
}

// Split makes the ranks along TP divide pairs of nn.Dense layers, such as those of an MLP, whose
// names match the patterns of path.Match (Shoeybi et al., Megatron-LM, 2019): the first, up, by its
// outputs (PyTorch's ColwiseParallel), and the second, down, by its inputs (RowwiseParallel), whose
// results are summed. Between them may be only what computes each feature on its own, such as an
// activation or nn.Dropout, but not a Softmax, a normalization or a layer with parameters, which is an
// error if the two are in one nn.Sequential. Names are those of nn.NamedModules.
func Split(up, down string) Option {
	return Option{option.New(func(s *settings) {
		s.splits = append(s.splits, splitting{what: "Split", pattern: up, dense: true}, splitting{what: "Split", pattern: down, dense: true, rows: true})
	}, "Split", up, down)}
}

// SplitHeads makes the ranks along TP divide the heads of attention layers whose names match a
// pattern: those of nn.SelfAttention, nn.MultiHeadAttention and nn.GroupedQueryAttention. For a
// nn.TransformerEncoderLayer it also divides its linear layers, like [Split].
func SplitHeads(pattern string) Option {
	return Option{option.New(func(s *settings) {
		s.splits = append(s.splits, splitting{what: "SplitHeads", pattern: pattern})
	}, "SplitHeads", pattern)}
}

// cut is the part of a parameter that one of several ranks has: that of each of some blocks of
// equal size along a dimension.
type cut struct {
	dimension, blocks int
	rank, ranks       int
}

// shape returns the shape of the part of a tensor of the given shape.
func (c cut) shape(whole []int) []int {
	s := slices.Clone(whole)
	s[c.dimension] /= c.ranks
	return s
}

// each calls f for the pieces of the rank's part: their bytes in the whole and in the part.
func (c cut) each(whole []int, width int, rank int, f func(inWhole, inPart, bytes int)) {
	outer, inner := 1, width
	for i, n := range whole {
		if i < c.dimension {
			outer *= n
		} else if i > c.dimension {
			inner *= n
		}
	}
	block := whole[c.dimension] / c.blocks * inner
	piece := block / c.ranks
	at := 0
	for o := range outer {
		for b := range c.blocks {
			f((o*c.blocks+b)*block+rank*piece, at, piece)
			at += piece
		}
	}
}

// of returns this rank's part of the bytes of a whole tensor.
func (c cut) of(raw []byte, whole []int, width int) []byte {
	out := make([]byte, len(raw)/c.ranks)
	c.each(whole, width, c.rank, func(inWhole, inPart, bytes int) { copy(out[inPart:inPart+bytes], raw[inWhole:]) })
	return out
}

// splitLayers divides the layers that the options name among the ranks along TP.
func (d *distribution) splitLayers() error {
	tp := d.mesh.TP
	if tp.Size() == 1 {
		return nil
	}
	if len(d.splits) == 0 && d.vocabulary == nil {
		return fmt.Errorf("parallel: Distribute: a mesh of %v divides layers, but no option says which: add Split, SplitHeads or SplitVocabulary", d.mesh.Shape)
	}
	modules := map[string]nn.Module{}
	var names []string
	for _, m := range nn.NamedModules(d.model) {
		modules[m.Name] = m.Module
		names = append(names, m.Name)
	}
	pairs := 0
	var ups []string
	for _, s := range d.splits {
		found, err := matching(s.what, s.pattern, names)
		if err != nil {
			return err
		}
		if s.dense && !s.rows {
			pairs += len(found)
			ups = found
		} else if s.dense {
			pairs -= len(found)
		}
		for _, name := range found {
			_, dense := modules[name].(*nn.DenseLayer)
			_, vocabulary := modules[name].(layer.Vocabulary)
			l, ok := modules[name].(layer.Partitioned)
			if !ok || vocabulary || dense != s.dense {
				return fmt.Errorf("parallel: %s(%q): layer %s is %s, which it cannot divide: Split is for nn.Dense, SplitHeads for attention", s.what, s.pattern, name, layer.Name(modules[name]))
			}
			if _, err := d.splitLayer(l, s.rows); err != nil {
				return fmt.Errorf("parallel: %s(%q): layer %s: %w", s.what, s.pattern, name, err)
			}
		}
		if pairs != 0 && s.rows {
			return fmt.Errorf("parallel: Split: %d more layers match the first pattern than the second, %q: they must be pairs", pairs, s.pattern)
		}
		if s.rows {
			for i, down := range found {
				if err := d.between(modules, ups[i], down); err != nil {
					return err
				}
			}
		}
	}
	return d.splitVocabulary(modules, names)
}

// between prepares the layers of an nn.Sequential between two that Split divides: they must compute each feature on its own, and
// those that draw random numbers draw others on each rank.
func (d *distribution) between(modules map[string]nn.Module, up, down string) error {
	chain, from, ok := indexIn(up)
	other, to, alsoOK := indexIn(down)
	if !ok || !alsoOK || chain != other {
		return nil
	}
	around := modules[strings.TrimSuffix(chain, ".")]
	if s, ok := layer.Of(around).(layer.Shortcut); ok {
		around, _ = s.Chain.(nn.Module)
	}
	layers, ok := around.(*nn.SequentialLayer)
	if !ok {
		return nil
	}
	for i, m := range layers.Layers() {
		if i <= from || i >= to {
			continue
		}
		name := chain + strconv.Itoa(i)
		if v, ok := m.(layer.Varied); ok {
			v.Vary(d.mesh.TP.Rank())
			continue
		}
		switch layer.Of(m).(type) {
		case layer.Elementwise, layer.ReLU:
		default:
			return fmt.Errorf("parallel: Split(%q, %q): layer %s, %v, is between them, but only activations without parameters and nn.Dropout can be there, since each rank has only some of the features", up, down, name, m)
		}
	}
	return nil
}

// indexIn returns the name of the chain that a layer is in, with its dot, and the index of the layer.
func indexIn(name string) (chain string, index int, ok bool) {
	at := strings.LastIndexByte(name, '.') + 1
	index, err := strconv.Atoi(name[at:])
	return name[:at], index, err == nil
}

// splitLayer makes a layer compute with this rank's part of its tensors.
func (d *distribution) splitLayer(l layer.Partitioned, rows bool) (*layer.Partition, error) {
	tp := d.mesh.TP
	sum := func(x *tensor.Tensor) *tensor.Tensor {
		total, err := tp.sumTensor(d.ctx, x.Clone())
		if err != nil {
			panic(&tensor.AllReduceError{Op: "Split", Err: err})
		}
		return total
	}
	own := &layer.Partition{
		Rank: tp.Rank(), Size: tp.Size(), Rows: rows,
		Copy: func(x *tensor.Tensor) *tensor.Tensor { return tensors.Exchange(x, nil, sum) },
		Sum:  func(x *tensor.Tensor) *tensor.Tensor { return tensors.Exchange(x, sum, nil) },
	}
	divided, err := l.Partition(own)
	if err != nil {
		return nil, err
	}
	for _, t := range divided {
		whole := *t.At
		c := cut{t.Dimension, t.Blocks, tp.Rank(), tp.Size()}
		raw := c.of(whole.Raw(), whole.Shape(), whole.DType().Size())
		mine := tensor.FromRaw(whole.DType(), raw, c.shape(whole.Shape())...)
		mine.SetRequiresGrad(whole.RequiresGrad())
		*t.At = mine
		for _, p := range d.parts {
			if p.tensor == whole {
				p.cut, p.tensor = &c, mine
			}
		}
	}
	return own, nil
}
