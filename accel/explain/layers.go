package explain

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/internal/training/interrupt"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
)

// LayerTable is what [Layers] measured. It displays itself as a table.
type LayerTable struct {
	Dataset string            // name of the data set
	Rows    []LayerStatistics // in the order in which the layers run
}

// LayerStatistics describes the outputs of one layer for all examples.
type LayerStatistics struct {
	Path            string  // index of the layer, such as "2", or "2.0" in a nested nn.Sequential
	Layer           string  // the layer as Go code
	Shape           []int   // of the output of one example
	Mean, Deviation float64 // of all outputs; standard deviation
	Units           int     // channels of images, features of vectors and sequences
	// Dead is the number of units that return the same value for all examples, and at all positions: a ReLU
	// whose inputs are all negative, or a saturated sigmoid. Nothing after the layer learns from them, and
	// with ReLU they get no gradient.
	Dead int
}

// Layers returns what each layer of an nn.Sequential returns for the examples of a data set, with the number of
// dead units. Layers of nested chains have rows of their own; other modules are one row.
func Layers(ctx context.Context, model nn.Module, set *data.Dataset) (_ *LayerTable, err error) {
	if err := interrupt.RequireContext(ctx, "explain: Layers"); err != nil {
		return nil, err
	}
	const call = "Layers"
	if err := check(call, model, set); err != nil {
		return nil, err
	}
	chain, ok := model.(*nn.SequentialLayer)
	if !ok {
		return nil, fmt.Errorf("explain: %s: the model is a %T, but only the layers of an nn.Sequential are known", call, model)
	}
	defer nn.Catch(&err)
	defer nn.Eval(model)()
	layers := flatten("", chain)
	sums := make([]outputs, len(layers))
	it := set.Batches(layersBatch, data.Context(ctx))
	for it.Next() {
		x := it.Batch().X
		for i, l := range layers {
			tensor.NoGrad(func() {
				it.Batch().WithLengths(func() { x = nn.Sequential(l.module).Forward(x) })
			})
			if err := sums[i].add(x); err != nil {
				return nil, fmt.Errorf("explain: %s: layer %s, %v: %w", call, l.path, l.module, err)
			}
		}
	}
	if err := it.Err(); err != nil {
		return nil, err
	}
	t := &LayerTable{Dataset: set.Name()}
	for i, l := range layers {
		s := &sums[i]
		mean := s.sum / s.count
		t.Rows = append(t.Rows, LayerStatistics{
			Path: l.path, Layer: fmt.Sprint(l.module), Shape: s.shape,
			Mean: mean, Deviation: math.Sqrt(max(s.squares/s.count-mean*mean, 0)),
			Units: len(s.low), Dead: s.dead(),
		})
	}
	return t, nil
}

// layersBatch is the number of examples computed at once; the outputs of a layer are copied to the CPU.
const layersBatch = 256

type namedLayer struct {
	path   string
	module nn.Module
}

// flatten returns the layers of a chain and of the chains in it.
func flatten(prefix string, chain *nn.SequentialLayer) (all []namedLayer) {
	for i, m := range chain.Layers() {
		path := prefix + strconv.Itoa(i)
		if inner, ok := m.(*nn.SequentialLayer); ok {
			all = append(all, flatten(path+".", inner)...)
			continue
		}
		all = append(all, namedLayer{path, m})
	}
	return all
}

// outputs collects the outputs of one layer.
type outputs struct {
	shape               []int
	count, sum, squares float64
	low, high           []float64 // of each unit
}

// add adds the outputs of a batch.
func (o *outputs) add(y *tensor.Tensor) error {
	shape := y.Shape()
	if len(shape) < 2 {
		return fmt.Errorf("the output has shape %v, but the first dimension must be the examples", shape)
	}
	o.shape = shape[1:]
	units, inner := unitsOf(shape)
	if o.low == nil {
		o.low, o.high = make([]float64, units), make([]float64, units)
		for u := range units {
			o.low[u], o.high[u] = math.Inf(1), math.Inf(-1)
		}
	}
	if units != len(o.low) {
		return fmt.Errorf("the output has %d units, and for other examples %d", units, len(o.low))
	}
	for i, v := range y.Float64s() {
		u := i / inner % units
		o.low[u], o.high[u] = min(o.low[u], v), max(o.high[u], v)
		o.sum += v
		o.squares += v * v
		o.count++
	}
	return nil
}

// unitsOf returns the number of units in the outputs of a layer and how many elements of each follow each other
// in memory: a unit is a channel of images [N, C, H, W], and otherwise an index of the last dimension.
func unitsOf(shape []int) (units, inner int) {
	if len(shape) == 4 {
		return shape[1], shape[2] * shape[3]
	}
	return shape[len(shape)-1], 1
}

func (o *outputs) dead() (n int) {
	for u := range o.low {
		if o.low[u] == o.high[u] {
			n++
		}
	}
	return n
}

// Report returns the table.
func (t *LayerTable) Report() *display.Report {
	out := new(display.Report).Table("", "layer", "output", "mean", "deviation", "units", "dead")
	for _, r := range t.Rows {
		out.Row(r.Path, r.Layer, fmt.Sprint(r.Shape), fmt.Sprintf("%.3g", r.Mean), fmt.Sprintf("%.3g", r.Deviation), r.Units, r.Dead)
	}
	return out
}

// String returns the table as text.
func (t *LayerTable) String() string { return t.Report().String() }
