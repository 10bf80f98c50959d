package examine

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
)

// Course is what a training has measured.
type Course struct {
	Losses  []float64 // of each step
	Epochs  []float64 // mean loss of each pass over the data
	Chance  float64   // loss of a prediction that does not look at the example; 0 if unknown
	Guess   string    // which one: "guessing among 10 classes"
	Own     bool      // the loss is a function of the user, which may change
	Batch   int       // examples of a step
	Rate    float64   // highest learning rate
	Moved   float64   // change of the weights relative to their size; NaN if unknown
	Trained bool      // the model had been trained before
}

// farLoss is the factor between the first loss and that of guessing above which something is too large.
const farLoss = 20

// fewSteps is the number of steps below which a curve says nothing.
const fewSteps = 30

// Find examines the curve of a training that has ended.
func (c Course) Find() []string {
	n := len(c.Losses)
	if n > 0 && !c.Own && !c.Trained && c.Guess != "" && c.Losses[0] > farLoss*c.Chance && strings.HasPrefix(c.Guess, "guessing") {
		return []string{fmt.Sprintf("the loss of the first step is %.3g, but %s gives %.3g: the weights or the examples are far too large at the beginning", c.Losses[0], c.Guess, c.Chance)}
	}
	if n < fewSteps || len(c.Epochs) < 2 {
		return nil
	}
	part := max(n/10, 3)
	first, last := stat.Mean(c.Losses[:min(part, 10)], nil), stat.Mean(c.Losses[n-part:], nil)
	begin := max(c.Losses[0], c.Chance/2) // before the first update
	const advice = "check the labels, the learning rate (accel.FindLR), and with accel.Check and OverfitBatch whether the model can learn one batch"
	switch {
	case !finite(first) || !finite(last):
		return nil
	case c.Moved > 0 && c.Moved < 1e-5 && c.Rate < 1e-4:
		return []string{fmt.Sprintf("in %d steps the weights changed by %.1g of their size: the learning rate, at most %g, is too low; accel.FindLR suggests one", n, c.Moved, c.Rate)}
	case c.Own || c.Trained:
	case last > 2*begin+1e-6 && begin > 0 && c.Batch >= 8:
		return []string{fmt.Sprintf("the loss rose from %.3g in the first step to %.3g in the last ones: the learning rate, at most %g, is too high; accel.FindLR suggests one", c.Losses[0], last, c.Rate)}
	case c.Chance > 0 && last > 0.97*c.Chance:
		return []string{fmt.Sprintf("the model has learned nothing that helps: the loss is %.3g in the last steps, and %s gives %.3g; %s", last, c.Guess, c.Chance, advice)}
	case c.Chance == 0 && last >= first && first > 0:
		return []string{fmt.Sprintf("the loss did not fall: %.3g in the first steps, %.3g in the last ones; %s", first, last, advice)}
	}
	return c.oscillation(first)
}

// oscillation finds a loss that goes up and down from epoch to epoch instead of falling.
func (c Course) oscillation(first float64) []string {
	half := c.Epochs[len(c.Epochs)/2:]
	if len(half) < 5 || !(stat.Mean(half, nil) > 0.1*first) {
		return nil
	}
	turns, jumps := 0, 0.
	for i := 1; i < len(half); i++ {
		jumps += math.Abs(half[i] - half[i-1])
		if i > 1 && (half[i]-half[i-1])*(half[i-1]-half[i-2]) < 0 {
			turns++
		}
	}
	jump := jumps / float64(len(half)-1)
	if float64(turns) < 0.5*float64(len(half)-2) || jump < 0.25*stat.Mean(half, nil) {
		return nil
	}
	return []string{fmt.Sprintf("the loss goes up and down by %.3g from epoch to epoch, between %.3g and %.3g: lower the learning rate, at most %g, or use a schedule that does", jump, slices.Min(half), slices.Max(half), c.Rate)}
}

// Gradient is the gradient of a weight.
type Gradient struct {
	Name string
	RMS  float64 // root mean square of its elements
}

// Gradients finds gradients that vanish on their way to the first layers, or are extremely large.
// They are those of the weights in the order of the model.
func Gradients(all []Gradient) []string {
	if len(all) < 4 {
		return nil
	}
	first, last := all[0], all[len(all)-1]
	switch {
	case first.RMS > 0 && first.RMS < 1e-5*last.RMS:
		return []string{fmt.Sprintf("the gradient vanishes on its way to the first layers: %.1g at %s, %.1g at %s; use ReLU instead of sigmoid or tanh, normalization layers, or nn.Residual", first.RMS, first.Name, last.RMS, last.Name)}
	case first.RMS > 1e5*last.RMS && last.RMS > 0:
		return []string{fmt.Sprintf("the gradient explodes on its way to the first layers: %.1g at %s, %.1g at %s; use normalization layers, smaller initial weights, or ClipGradNorm", first.RMS, first.Name, last.RMS, last.Name)}
	}
	return nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
