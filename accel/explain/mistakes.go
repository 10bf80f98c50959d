package explain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"slices"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/internal/training/interrupt"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/plots"
)

// Mistakes is what [WorstMistakes] found. It displays itself as the images, or for other examples as a
// table.
type Mistakes struct {
	Dataset  string    // name of the data set
	Examples int       // of the data set
	Wrong    int       // how many of them are predicted wrongly
	Worst    []Mistake // those with the highest loss, in descending order

	classes []string
	images  []image.Image // nil unless the examples are images
}

// Mistake is an example that is predicted wrongly.
type Mistake struct {
	Example     int     // index in the data set
	Label       int     // class in the data set
	Predicted   int     // most probable class for the model
	Probability float64 // that the model gives the label
	Loss        float64 // -ln Probability
}

// WorstMistakes returns the n wrongly predicted examples whose labels are least probable for the model, the
// worst first; fewer if the model makes fewer mistakes. Wrong labels and unusual examples are often among
// them.
func WorstMistakes(ctx context.Context, model nn.Module, set *data.Dataset, n int) (m *Mistakes, err error) {
	if err := interrupt.RequireContext(ctx, "explain: WorstMistakes"); err != nil {
		return nil, err
	}
	const call = "WorstMistakes"
	if err := check(call, model, set); err != nil {
		return nil, err
	}
	if set.Targets() > 0 {
		return nil, fmt.Errorf("explain: %s: %w", call, errNoClasses)
	}
	if n < 1 {
		return nil, fmt.Errorf("explain: %s: the number of mistakes must be at least 1, got %d", call, n)
	}
	y, err := accel.PredictDataset(ctx, model, set)
	if err != nil {
		return nil, err
	}
	defer nn.Catch(&err)
	classes, err := predicted(call, y)
	if err != nil {
		return nil, err
	}
	logs, width := y.LogSoftmax(1).Float64s(), y.Size(1)
	m = &Mistakes{Dataset: set.Name(), Examples: set.Len(), classes: set.Classes()}
	for i, class := range classes {
		label := set.Label(i)
		if label >= width {
			return nil, fmt.Errorf("explain: %s: example %d of %s has class %d, but the model has %d classes", call, i, set.Name(), label, width)
		}
		log := logs[i*width+label]
		if math.IsNaN(log) {
			return nil, fmt.Errorf("explain: %s: the prediction for example %d of %s is NaN", call, i, set.Name())
		}
		if class != label {
			m.Worst = append(m.Worst, Mistake{Example: i, Label: label, Predicted: class, Probability: math.Exp(log), Loss: -log})
		}
	}
	m.Wrong = len(m.Worst)
	slices.SortStableFunc(m.Worst, func(a, b Mistake) int { return cmp.Compare(b.Loss, a.Loss) })
	m.Worst = m.Worst[:min(n, len(m.Worst))]
	if _, _, _, err := imageShape(call, set); err == nil {
		for _, w := range m.Worst {
			m.images = append(m.images, set.Image(w.Example))
		}
	}
	return m, nil
}

// Figure draws the images; it is empty for other examples.
func (m *Mistakes) Figure() *plots.Figure {
	var predicted, actual []int
	for _, w := range m.Worst[:len(m.images)] {
		predicted, actual = append(predicted, w.Predicted), append(actual, w.Label)
	}
	return plots.Predictions("Worst mistakes", m.images, predicted, actual, m.classes).Subtitle(m.about() + "; below each: actual → predicted")
}

func (m *Mistakes) name(class int) string {
	if class < len(m.classes) {
		return m.classes[class]
	}
	return fmt.Sprint(class)
}

func (m *Mistakes) about() string {
	return fmt.Sprintf("%d of %d examples of %s are predicted wrongly", m.Wrong, m.Examples, m.Dataset)
}

// table returns the mistakes as a table.
func (m *Mistakes) table() *display.Report {
	out := new(display.Report)
	if len(m.Worst) > 0 {
		out.Table("example", "label", "predicted", "probability of the label")
	}
	for _, w := range m.Worst {
		out.Row(w.Example, m.name(w.Label), m.name(w.Predicted), fmt.Sprintf("%.2g", w.Probability))
	}
	return out.Text(m.about())
}

// String returns the mistakes as a table.
func (m *Mistakes) String() string { return m.table().String() }

// Report returns the images, or for other examples the table.
func (m *Mistakes) Report() *display.Report {
	if len(m.images) == 0 {
		return m.table()
	}
	return new(display.Report).Figure(m.Figure()).Alt(m.String())
}

// check reports what every function rejects.
func check(call string, model nn.Module, set *data.Dataset) error {
	switch {
	case model == nil:
		return fmt.Errorf("explain: %s: the model is nil", call)
	case set == nil:
		return fmt.Errorf("explain: %s: the data set is nil: check the error returned where it was created", call)
	case set.Len() == 0:
		return fmt.Errorf("explain: %s: %s is empty", call, set.Name())
	case set.Unlabeled():
		return fmt.Errorf("explain: %s: the examples of %s have no labels", call, set.Name())
	case set.SequenceLength() > 0:
		return fmt.Errorf("explain: %s: %s has a label for each position of a sequence, not one for each example", call, set.Name())
	}
	return nil
}

// selected returns some examples as one batch, unless ctx is done.
func selected(ctx context.Context, call string, set *data.Dataset, indices []int) (data.Batch, error) {
	if len(indices) == 0 {
		return data.Batch{}, fmt.Errorf("explain: %s: no examples: give their indices in %s", call, set.Name())
	}
	part, err := set.Subset(indices)
	if err != nil {
		return data.Batch{}, fmt.Errorf("explain: %s: %w", call, err)
	}
	batch, err := part.Tensors()
	if err == nil {
		err = ctx.Err()
	}
	return batch, err
}

// predicted returns the predicted class of each row of logits [N, C].
func predicted(call string, logits *tensor.Tensor) ([]int, error) {
	if logits.NDim() != 2 {
		return nil, fmt.Errorf("explain: %s: the model returned shape %v, but a classifier returns logits [N, C]", call, logits.Shape())
	}
	return logits.ArgMax(1).Ints(), nil
}

// lossFor returns the function, or the default for the labels of a data set.
func lossFor(given nn.Loss, set *data.Dataset) nn.Loss {
	switch {
	case given != nil:
		return given
	case set.Targets() > 0:
		return nn.MSE
	}
	return nn.CrossEntropy
}

// errNoClasses is returned by functions for classifiers.
var errNoClasses = errors.New("the data set has targets, not classes")
