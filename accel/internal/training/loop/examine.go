package loop

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/history"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/training/examine"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// examiner adds notes on typical mistakes to a run. What it needs of the model, it takes from the first
// steps as they are computed, and reads it when these have ended: the training computes the same, and
// functions of the user are not called again.
type examiner struct {
	history.NopObserver
	run     *history.Run
	model   nn.Module
	answers answers
	record  *history.Recorder
	found   []string // so far
	o       *Settings
	earlier bool    // the model has been trained before
	chance  float64 // mean squared error of the mean of the targets; 0 if unknown
	targets examine.Range

	idle     []nn.Parameter // parameters that no step has given a gradient
	minus    bool           // the loss is a negative cross-entropy
	negative bool           // a finding says that the loss is negative

	sample    *sample // of the first batch; nil when it has been read
	gradients []gradientMean
	rectified []examine.Rectified
	batch     int            // examples of the last batch
	dead      []string       // findings on the gradients of the last step
	weight    *tensor.Tensor // whose movement is measured; nil for none
	before    *tensor.Tensor // some of its values before the first update
}

// sample is a part of the first batch.
type sample struct {
	x, prediction *tensor.Tensor // the prediction is nil unless it is [N, C]
	model         examine.Model
	logits        bool // the loss takes logits
}

// gradientMean is the mean square of the gradient of a parameter.
type gradientMean struct {
	name string
	mean *tensor.Tensor
}

// Limits of what is copied to the host.
const (
	sampledValues   = 1 << 16 // of a batch
	sampledExamples = 64
	sampledWeights  = 4096
	GradientStep    = 2 // whose gradients are examined: the parameters exist
)

func newExaminer(run *history.Run, model nn.Module, a answers, record *history.Recorder, o *Settings) *examiner {
	return &examiner{run: run, model: model, answers: a, record: record, o: o, earlier: TrainedWith(model) != nil}
}

// alone reports whether this process computes the whole step.
func (e *examiner) alone() bool { return e.run.Ranks == 1 }

func (e *examiner) note(findings []string) {
	for _, f := range findings {
		e.record.Finding(f)
		e.found = append(e.found, f)
	}
}

// Begin examines the data sets.
func (e *examiner) Begin(t *history.Training) (err error) {
	if len(t.Run.Steps) > 0 { // resumed
		return nil
	}
	defer func() {
		if recover() != nil { // an example that cannot be read is an error of the training, if it needs the example
			err = nil
		}
	}()
	e.note(examine.Labels(t.Dataset, e.o.Weights != nil || len(e.o.Metrics) > 0 || e.o.Measured || e.o.Loss != nil))
	var large []string
	e.chance, e.targets, large = examine.Targets(t.Dataset, e.answers.loss == "PoissonNLL")
	e.note(large)
	e.note(e.targets.Outside(e.answers.loss))
	if e.o.Validate != nil {
		e.note(examine.Overlap(t.Dataset, e.o.Validate))
		e.note(examine.NewClasses(t.Dataset, e.o.Validate))
	}
	return nil
}

// forward keeps a part of the first batch, before its gradients are computed.
func (e *examiner) forward(b data.Batch, prediction, loss *tensor.Tensor) {
	if e.batch = b.Len(); !e.alone() || e.seen() {
		return
	}
	given := []*tensor.Tensor{b.X}
	for _, p := range nn.NamedParameters(e.model) {
		given = append(given, p.Tensor)
	}
	s := &sample{model: examine.Prediction(tensors.Tape(prediction, given...))}
	e.rectified = s.model.Rectified
	width := 0
	if n := prediction.NDim(); n > 0 {
		width = prediction.Size(n - 1)
	}
	tape := tensors.Tape(loss, prediction, b.Y)
	l := examine.Loss(tape, s.model, width)
	s.logits = l.Logits
	e.minus = e.ownLoss() && examine.Minus(tape)
	if e.regression() {
		e.note(e.targets.Beyond(s.model.Ends))
	}
	e.note(s.model.Findings)
	e.note(l.Findings)
	tensor.NoGrad(func() {
		s.x = part(b.X)
		if prediction.NDim() == 2 && prediction.Size(0) > 0 {
			s.prediction = part(prediction)
		}
		for _, p := range nn.Parameters(e.model) {
			if p.NDim() > 1 {
				e.weight = p
			}
		}
		if e.weight != nil {
			e.before = some(e.weight)
		}
	})
	e.sample = s
}

// seen reports whether the first batch has been seen.
func (e *examiner) seen() bool {
	return e.sample != nil || len(e.run.Steps) > 0 || e.weight != nil
}

// part returns a copy of the first examples of a batch.
func part(t *tensor.Tensor) *tensor.Tensor {
	n := t.Size(0)
	if n == 0 {
		return t.Clone()
	}
	each := max(t.Numel()/n, 1)
	return first(t, max(1, min(n, sampledExamples, sampledValues/each)))
}

// some returns a copy of some values of a parameter.
func some(p *tensor.Tensor) *tensor.Tensor {
	line := p.Reshape(p.Numel())
	defer line.Release()
	return first(line, min(p.Numel(), sampledWeights))
}

// first returns a copy of the first n rows of a tensor.
func first(t *tensor.Tensor, n int) *tensor.Tensor {
	rows := t.Slice(0, 0, n)
	defer rows.Release() // so that the rest is not kept
	return rows.Clone()
}

// updated keeps the size of the gradients of a step, after the update, in whose list of ops a loss that is
// not finite would leave it undefined.
func (e *examiner) updated(step int) {
	if !e.alone() {
		return
	}
	if step == 1 {
		e.idle = nn.NamedParameters(e.model)
	}
	e.idle = slices.DeleteFunc(e.idle, func(p nn.Parameter) bool {
		g := p.Grad()
		if g != nil {
			g.Release()
		}
		return g != nil
	})
	if step != GradientStep {
		return
	}
	tensor.NoGrad(func() {
		for _, p := range nn.NamedParameters(e.model) {
			if g := p.Grad(); p.NDim() > 1 && g != nil {
				square := g.Square()
				e.gradients = append(e.gradients, gradientMean{p.Name, square.Mean()})
				square.Release()
				g.Release()
			}
		}
	})
}

// Step examines what has been computed by now.
func (e *examiner) Step(t *history.Training, step history.Step) error {
	defer func() {
		if recover() != nil { // values that cannot be read are an error of the step
			e.sample, e.gradients = nil, nil
		}
	}()
	if !e.negative {
		found := examine.Negative(step.Loss, e.answers.loss, len(t.Run.Steps), e.minus)
		e.negative = len(found) > 0
		e.note(found)
	}
	if s := e.sample; s != nil {
		e.note(e.examineSample(t, s))
		e.sample = nil
	}
	if len(e.gradients) > 0 && len(t.Run.Steps) >= GradientStep {
		var all []examine.Gradient
		for _, g := range e.gradients {
			all = append(all, examine.Gradient{Name: g.name, RMS: math.Sqrt(g.mean.Cast(tensor.Float32).Item())})
			g.mean.Release()
		}
		e.gradients = nil
		e.note(examine.Gradients(all))
	}
	return nil
}

func (e *examiner) examineSample(t *history.Training, s *sample) (found []string) {
	if s.x.DType().IsFloat() {
		found = examine.Inputs(examine.Batch{Shape: t.Dataset.Shape(), X: s.x.Float64s(), Columns: t.Dataset.Columns()}, s.model.Raw, s.model.Image)
	}
	if s.prediction != nil {
		o := examine.Outputs{Values: s.prediction.Float64s(), Width: s.prediction.Size(1), Logits: s.logits, Logs: e.takesLogs()}
		if e.answers.classification() {
			o.Classes = len(t.Dataset.Classes())
		}
		s.prediction.Release()
		for _, f := range o.Find() {
			if !slices.Contains(e.found, f) {
				found = append(found, f)
			}
		}
	}
	return found
}

// takesLogs reports whether the loss takes logarithms of probabilities.
func (e *examiner) takesLogs() bool {
	return slices.Contains([]string{"NLL", "NLLLoss", "KLDiv"}, e.answers.loss)
}

// ownLoss reports whether the loss is a function of the user, which may change during the training.
func (e *examiner) ownLoss() bool { return e.answers.loss == "" }

// End examines the course of the training.
func (e *examiner) End(t *history.Training, err error) {
	if err != nil || len(t.Run.Steps) == 0 {
		return
	}
	c := examine.Course{Batch: e.o.BatchSize * e.o.Accumulate, Moved: math.NaN(), Trained: e.earlier}
	for _, s := range t.Run.Steps {
		c.Losses, c.Rate = append(c.Losses, s.Loss), max(c.Rate, s.LearningRate)
	}
	for _, epoch := range t.Run.Epochs {
		c.Epochs = append(c.Epochs, epoch.Loss)
	}
	c.Own = e.ownLoss()
	if e.o.Loss == nil {
		c.Chance, c.Guess = e.chance, "always predicting the mean of the targets"
	}
	if n := len(t.Dataset.Classes()); e.o.Loss == nil && t.Dataset.Targets() == 0 {
		c.Chance, c.Guess = math.Log(float64(n)), fmt.Sprintf("guessing among %d classes", n)
	}
	if e.weight != nil {
		tensor.NoGrad(func() { c.Moved = moved(e.before, some(e.weight)) })
	}
	e.note(c.Find())
	e.note(e.dead)
	e.note(e.unused(t))
	e.note(e.judge(t))
}

// regression reports whether the loss compares predictions with targets.
func (e *examiner) regression() bool {
	return slices.Contains([]string{"MSE", "L1", "HuberLoss", "SmoothL1Loss", "QuantileLoss"}, e.answers.loss)
}

// unused finds parts of the model that take no part in the training.
func (e *examiner) unused(t *history.Training) []string {
	if !e.alone() || len(t.Run.Steps) < GradientStep {
		return nil
	}
	var parameters []string
	for _, p := range e.idle {
		if p.RequiresGrad() {
			parameters = append(parameters, p.Name)
		}
	}
	return examine.NoGradient(parameters, nn.UnusedLayers(e.model))
}

// judge compares the last validation with the training.
func (e *examiner) judge(t *history.Training) (found []string) {
	if e.o.Validate == nil || e.o.Loss != nil || e.o.judgesAverage() || len(t.Run.Epochs) == 0 || !validated(t.Run) {
		return nil
	}
	defer func() { _ = recover() }() // an example that cannot be read is an error of the validation
	v, last := t.Run.Validations[len(t.Run.Validations)-1], t.Run.Epochs[len(t.Run.Epochs)-1]
	j := examine.Judged{Loss: v.Loss, Accuracy: v.Accuracy, Trained: last.Loss, Correct: last.Accuracy, Spread: e.chance, Steps: len(t.Run.Steps)}
	return j.Far(t.Dataset, e.o.Validate)
}

// moved returns how far values have moved relative to their size.
func moved(before, after *tensor.Tensor) float64 {
	from, to := before.Cast(tensor.Float32).Float64s(), after.Cast(tensor.Float32).Float64s()
	change, size := 0., 0.
	for i, v := range from {
		change += (to[i] - v) * (to[i] - v)
		size += v * v
	}
	return math.Sqrt(change / size)
}

// trained reads the gradients of the last step.
func (e *examiner) trained() {
	if !e.alone() || len(e.rectified) == 0 {
		return
	}
	defer func() { _ = recover() }() // values that cannot be read are an error of the training
	tensor.NoGrad(func() {
		named := nn.NamedParameters(e.model)
		rows := map[int]*tensor.Tensor{} // largest gradient of each unit, by the place of the parameter: recorded first, then run as one list
		for _, r := range e.rectified {
			for _, at := range slices.Concat(r.Parameters, r.Next) {
				if g := named[at-1].Grad(); g != nil && rows[at] == nil {
					rows[at] = g.Cast(tensor.Float32).Reshape(g.Size(0), g.Numel()/g.Size(0)).Abs().Max(1)
				}
			}
		}
		read := map[int][]float64{}
		for at, t := range rows {
			read[at] = t.Float64s()
		}
		for _, r := range e.rectified {
			name := named[r.Parameters[0]-1].Name
			weight := named[r.Parameters[0]-1].Tensor
			d := examine.DeadLayer{Name: name[:max(strings.LastIndex(name, "."), 0)], Examples: e.batch, Zero: func() bool { return zero(weight) }}
			for _, at := range r.Parameters {
				for i, v := range read[at] {
					if i == len(d.Largest) {
						d.Largest = append(d.Largest, 0)
					}
					d.Largest[i] = max(d.Largest[i], v)
				}
			}
			for _, at := range r.Next {
				for _, v := range read[at] {
					d.Next = max(d.Next, v)
				}
			}
			e.dead = append(e.dead, d.Find()...)
		}
	})
}

// zero reports whether all values of a parameter are 0.
func zero(p *tensor.Tensor) bool { return p.Cast(tensor.Float32).Abs().Max().Item() == 0 }
