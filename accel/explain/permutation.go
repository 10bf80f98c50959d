package explain

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/internal/training/interrupt"
	"github.com/quernlab/quern/accel/internal/training/seeds"
	"github.com/quernlab/quern/accel/metrics"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/internal/quantity"
	"github.com/quernlab/quern/plots"
)

// Importance is what [PermutationImportance] measured. It displays itself as a figure with the most
// important columns.
type Importance struct {
	Dataset string             // name of the data set
	Score   string             // accuracy, or R² for targets
	Base    float64            // score with the columns as they are
	Rounds  int                // how many times each column was shuffled
	Columns []ColumnImportance // in the order of the data set
}

// ColumnImportance is the importance of one column: how much the score falls when its values are
// shuffled. It is about 0 for a column that the model does not use, and may be negative by chance.
type ColumnImportance struct {
	Name            string  // of the column
	Mean, Deviation float64 // over the rounds; standard deviation of the sample, 0 for one round
}

// PermutationImportance measures how much a model needs each column of a table: how much its accuracy, or R²
// for targets, falls when the values of the column are shuffled between the examples (Breiman, Random
// Forests, 2001). It shuffles each column as many times as there are rounds; 5 is a good number. Use a data
// set that the model was not trained on.
//
// Of two columns with the same information, each alone seems to have little importance. The random numbers
// are the same in each call.
func PermutationImportance(ctx context.Context, model nn.Module, set *data.Dataset, rounds int) (*Importance, error) {
	if err := interrupt.RequireContext(ctx, "explain: PermutationImportance"); err != nil {
		return nil, err
	}
	const call = "PermutationImportance"
	if err := check(call, model, set); err != nil {
		return nil, err
	}
	if shape := set.Shape(); len(shape) != 1 {
		return nil, fmt.Errorf("explain: %s: the examples of %s have shape %v, but a table has vectors; Saliency and GradCAM explain images", call, set.Name(), shape)
	}
	if set.Length(0) > 0 {
		return nil, fmt.Errorf("explain: %s: the examples of %s are sequences of different lengths, which have no columns", call, set.Name())
	}
	if rounds < 1 {
		return nil, fmt.Errorf("explain: %s: the number of rounds must be at least 1, got %d", call, rounds)
	}
	all, err := set.Tensors()
	if err != nil {
		return nil, err
	}
	result := &Importance{Dataset: set.Name(), Score: "accuracy", Rounds: rounds}
	metric := metrics.Accuracy()
	if set.Targets() > 0 {
		result.Score, metric = "R²", metrics.R2()
	}
	score := func(x *tensor.Tensor) (float64, error) {
		y, err := accel.Predict(ctx, model, x)
		if err != nil {
			return 0, err
		}
		return measure(metric, y, all.Y)
	}
	if result.Base, err = score(all.X); err != nil {
		return nil, fmt.Errorf("explain: %s: %w", call, err)
	}
	n, width := set.Len(), set.Shape()[0]
	values := all.X.Data()
	random := rand.New(rand.NewPCG(0, 0))
	names := set.Columns()
	for column := range width {
		c := ColumnImportance{Name: fmt.Sprintf("column %d", column)}
		if column < len(names) {
			c.Name = names[column]
		}
		falls := make([]float64, rounds)
		for round := range rounds {
			shuffled := slices.Clone(values)
			for i, from := range random.Perm(n) {
				shuffled[i*width+column] = values[from*width+column]
			}
			s, err := score(tensor.New(shuffled, n, width))
			if err != nil {
				return nil, fmt.Errorf("explain: %s: %w", call, err)
			}
			falls[round] = result.Base - s
		}
		if c.Mean, c.Deviation = seeds.Mean(falls); rounds == 1 {
			c.Deviation = 0
		}
		result.Columns = append(result.Columns, c)
	}
	return result, nil
}

// measure returns the value of a metric.
func measure(metric metrics.Metric, prediction, target *tensor.Tensor) (float64, error) {
	c, err := metrics.NewCollection(metric)
	if err != nil {
		return 0, err
	}
	if err := c.Update(prediction, target); err != nil {
		return 0, err
	}
	values, err := c.Values()
	if err != nil {
		return 0, err
	}
	return values[0].Value, nil
}

// Sorted returns the columns, the most important first.
func (r *Importance) Sorted() []ColumnImportance {
	return slices.SortedStableFunc(slices.Values(r.Columns), func(a, b ColumnImportance) int { return cmp.Compare(b.Mean, a.Mean) })
}

// maxBars is the number of columns in the figure.
const maxBars = 20

// Figure draws the importance of the most important columns.
func (r *Importance) Figure() *plots.Figure {
	var names []string
	var values []float64
	for _, c := range r.Sorted()[:min(maxBars, len(r.Columns))] {
		names, values = append(names, c.Name), append(values, c.Mean)
	}
	return plots.Bar("Importance of the columns", names, values).XLabel("fall of the " + r.Score).Subtitle(r.about())
}

func (r *Importance) about() string {
	text := fmt.Sprintf("%s, %s %.4g", r.Dataset, r.Score, r.Base)
	if r.Rounds > 1 {
		text += ", mean of"
	}
	return strings.Replace(text+", "+quantity.Plural(r.Rounds, "round"), "of, ", "of ", 1)
}

// String returns the columns, the most important first, one in a line.
func (r *Importance) String() string {
	var b strings.Builder
	b.WriteString(r.about())
	for _, c := range r.Sorted() {
		fmt.Fprintf(&b, "\n%s: %.4g", c.Name, c.Mean)
		if r.Rounds > 1 {
			fmt.Fprintf(&b, " ± %.2g", c.Deviation)
		}
	}
	return b.String()
}

// Report returns the figure and the text.
func (r *Importance) Report() *display.Report {
	return new(display.Report).Figure(r.Figure()).Alt(r.String())
}
