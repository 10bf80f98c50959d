package loop

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/history"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/internal/atomicfile"
	"github.com/quernlab/quern/internal/failpoint"
)

// resumption loads and saves the file of [Resume]. As an observer it saves after each epoch.
// The loop calls it at other times itself, because a checkpoint is the state between two steps.
// A nil resumption does nothing.
type resumption struct {
	history.NopObserver
	o         *Settings
	training  *history.Training
	record    *history.Recorder
	position  *position // of the loop
	processes strategy
	optimizer *optim.Optimizer
	scaler    *optim.GradScaler // nil unless gradients are float16
	stopping  *earlyStopping    // nil without EarlyStopping
}

// position is how far a training has come, apart from its history.
type position struct {
	epoch        int           // from 1
	examplesSeen int           // examples of this epoch that were trained on
	firstStep    int           // number of steps before this epoch
	sum          sums          // of this epoch
	began        time.Time     // start of the training; a resumed one starts earlier by the time before
	epochBegan   time.Time     // start of this epoch; a resumed epoch starts earlier by spent
	spent        time.Duration // time spent on this epoch before the training was resumed
	resumed      bool          // the training was resumed within this epoch
	complete     bool          // this epoch covered the whole data set
}

// due reports whether [SaveEvery] asks for a save after this step.
func (r *resumption) due(made int) bool {
	return r != nil && r.o.SaveEvery > 0 && made%r.o.SaveEvery == 0
}

// Epoch saves the training after a complete epoch.
func (r *resumption) Epoch(*history.Training, history.Epoch) error {
	if !r.position.complete {
		return nil
	}
	return r.save()
}

// skip is called instead of save if the training was interrupted within a step: continuing from there
// would give other results than without the interruption.
func (r *resumption) skip() {
	if r != nil && r.processes.writes() {
		r.record.Note("not saved in %s: the last step was interrupted before its end, so resuming continues from an earlier one", r.o.Checkpoint)
	}
}

// save writes the state of the training between two steps.
func (r *resumption) save() error {
	if r == nil {
		return nil
	}
	known, err := r.processes.wholeState(r.optimizer)
	if err != nil || !r.processes.writes() {
		return err
	}
	text, err := json.Marshal(r.state(known))
	if err != nil {
		return fmt.Errorf("accel: Resume(%q): save the training: %w", r.o.Checkpoint, err)
	}
	if err := failpoint.Do(failpoint.CheckpointTensors, func() error { return nil }); err != nil {
		return fmt.Errorf("accel: Resume(%q): save the training: %w", r.o.Checkpoint, err)
	}
	tensors, notes := r.tensors(known), map[string]string{checkpointNote: string(text)}
	err = atomicfile.Replace(r.o.Checkpoint, func(w io.Writer) error { return nn.WriteTensors(w, tensors, notes) })
	if err != nil {
		return fmt.Errorf("accel: Resume(%q): save the training: %w", r.o.Checkpoint, err)
	}
	return nil
}

// state returns the state of the training apart from its tensors, and its history. known is that of the optimizer.
func (r *resumption) state(known optim.State) checkpoint {
	run, at := r.training.Run, r.position
	seed, drawn := r.processes.random()
	weightSeed, weightsDrawn := tensor.WeightGenerator().State()
	c := r.identity()
	c.Seed, c.Random, c.Weights = run.Seed, [2]uint64{seed, drawn}, &[2]uint64{weightSeed, weightsDrawn}
	c.Epoch, c.ExamplesSeen, c.FirstStep = at.epoch, at.examplesSeen, at.firstStep
	c.Sums, c.Summed, c.Spent = [2]exact{exact(at.sum.lossSum), exact(at.sum.right)}, at.sum.counted, time.Since(at.epochBegan)
	if weight := exact(at.sum.weight); at.sum.weight != float64(at.sum.counted) {
		c.SummedWeight = &weight
	}
	c.OptimizerSteps, c.Updates = known.Steps, known.Updates
	c.Best, c.ExamplesTrained, c.Time = run.Best, run.Examples, run.Time
	c.Time.Total = time.Since(at.began)
	if r.scaler != nil {
		s := r.scaler.State()
		c.Scaler = &s
	}
	for _, s := range run.Steps {
		skipped := 0.0
		if s.Skipped {
			skipped = 1
		}
		c.Steps = append(c.Steps, row(float64(s.Epoch), s.Loss, s.Accuracy, s.LearningRate, s.Seconds, skipped, s.LossScale, s.GradNorm))
	}
	for _, e := range run.Epochs {
		c.Epochs = append(c.Epochs, row(float64(e.Steps), e.Loss, e.Accuracy, e.Seconds))
	}
	for _, v := range run.Validations {
		c.Validations = append(c.Validations, row(float64(v.Step), float64(v.Epoch), v.Loss, v.Accuracy))
		if len(r.o.Metrics) > 0 {
			saved := make([]savedMetric, len(v.Metrics))
			for i, m := range v.Metrics {
				saved[i] = savedMetric{m.Name, exact(m.Value), m.Share}
			}
			c.Metrics = append(c.Metrics, saved)
		}
	}
	return c
}

// tensors returns the tensors of the training by their names in the file.
func (r *resumption) tensors(known optim.State) map[string]*tensor.Tensor {
	tensors := map[string]*tensor.Tensor{}
	for _, p := range nn.State(r.training.Model) {
		tensors[modelPart+p.Name] = p.Tensor
	}
	for name, t := range known.Tensors {
		tensors[optimizerPart+name] = t
	}
	if r.o.Average != nil {
		for name, t := range r.o.Average.State() {
			tensors[averagePart+name] = t
		}
	}
	if r.o.Hardness != nil && r.o.Weights != nil {
		tensors[samplerPart+"weights"] = tensor.FromFloat64s(r.o.Weights, len(r.o.Weights))
	}
	if r.stopping != nil {
		for name, t := range r.stopping.best.tensors {
			tensors[bestPart+name] = t
		}
	}
	return tensors
}

func row(values ...float64) []exact {
	r := make([]exact, len(values))
	for i, v := range values {
		r[i] = exact(v)
	}
	return r
}

// share makes a file before the first step of an elastic group, so that the next one continues from the same state, and
// verifies that any of its ranks can do so.
func (r *resumption) share() error {
	if r == nil || r.o.Group == nil || !r.o.Group.Elastic() {
		return nil
	}
	if len(r.training.Run.Steps) == 0 {
		if err := r.processes.runOnAll(r.save); err != nil {
			return err
		}
	}
	return r.processes.shareFile(r.o.Checkpoint)
}

// load continues the training from the file, if it exists.
func (r *resumption) load() error {
	if r == nil {
		return nil
	}
	path := r.o.Checkpoint
	var tensors map[string]*tensor.Tensor
	var notes map[string]string
	err := r.processes.runOnAll(func() (err error) {
		if !r.processes.writes() {
			return nil
		}
		if _, missing := os.Stat(path); errors.Is(missing, fs.ErrNotExist) {
			return nil
		}
		if tensors, notes, err = nn.LoadTensors(path); err != nil {
			return fmt.Errorf("accel: Resume(%q): %w", path, err)
		}
		return nil
	})
	if err == nil {
		tensors, notes, err = r.processes.broadcastFile(tensors, notes)
	}
	if err != nil || notes == nil {
		return err
	}
	return r.processes.runOnAll(func() error {
		if err := r.restore(tensors, notes); err != nil {
			return fmt.Errorf("accel: Resume(%q): %w: use another path, or delete the file to start again", path, err)
		}
		return nil
	})
}

// restore sets the training to the state in the file.
func (r *resumption) restore(saved map[string]*tensor.Tensor, notes map[string]string) error {
	var c checkpoint
	if err := json.Unmarshal([]byte(notes[checkpointNote]), &c); err != nil {
		return errors.New("the file is not a saved training")
	}
	if err := c.fits(r.identity()); err != nil {
		return err
	}
	if c.Schema != nil {
		if err := c.Schema.Check(r.training.Dataset); err != nil {
			return err
		}
	}
	parts := map[string]map[string]*tensor.Tensor{modelPart: {}, optimizerPart: {}, bestPart: {}, averagePart: {}, samplerPart: {}}
	for name, t := range saved {
		part, rest, _ := strings.Cut(name, ".")
		if parts[part+"."] == nil {
			return fmt.Errorf("the file has a tensor %s that does not belong to a saved training", name)
		}
		parts[part+"."][rest] = t
	}
	if err := nn.SetState(r.training.Model, parts[modelPart]); err != nil {
		return err
	}
	for _, p := range nn.Parameters(r.training.Model) { // whole again, also if a training that divided them failed
		tensors.MarkPart(p, false)
	}
	if err := r.optimizer.SetState(optim.State{Steps: c.OptimizerSteps, Updates: c.Updates, Tensors: parts[optimizerPart]}); err != nil {
		return err
	}
	if average := parts[averagePart]; r.o.Average != nil {
		if len(average) == 0 && c.OptimizerSteps > 0 {
			return errors.New("the file has no average of the parameters, but option EMA needs it")
		}
		if err := r.o.Average.SetState(average); err != nil {
			return err
		}
	}
	if c.Scaler != nil && r.scaler != nil {
		if err := r.scaler.SetState(*c.Scaler); err != nil {
			return err
		}
	}
	if len(parts[bestPart]) > 0 && r.stopping != nil {
		r.stopping.best = Weights{tensors: parts[bestPart]}
	}
	if w := parts[samplerPart]["weights"]; r.o.Hardness != nil && c.Epoch > 0 {
		if w == nil || w.DType() != tensor.Float64 || w.Numel() != r.training.Dataset.Len() {
			return errors.New("the file has no probabilities of the examples, but option HardExampleSampler needs them")
		}
		r.o.Weights = w.Float64s()
	}
	run := r.training.Run
	c.addHistory(run)
	*r.position = position{
		epoch: c.Epoch, examplesSeen: c.ExamplesSeen, firstStep: c.FirstStep,
		sum:   sums{lossSum: float64(c.Sums[0]), right: float64(c.Sums[1]), counted: c.Summed, weight: float64(c.Summed)},
		spent: c.Spent, resumed: true,
	}
	if c.SummedWeight != nil {
		r.position.sum.weight = float64(*c.SummedWeight)
	}
	(*tensor.Generator)(nil).SetState(c.Random[0], c.Random[1])
	if w := c.Weights; w != nil {
		tensor.WeightGenerator().SetState(w[0], w[1])
	}
	if len(run.Steps) == 0 { // nothing but the start of an elastic group
		return nil
	}
	r.record.Note("resumed after step %d in epoch %d", len(run.Steps), c.Epoch)
	return nil
}

// identity returns what the file of this training must have in common with it.
func (r *resumption) identity() checkpoint {
	set := r.training.Dataset
	schema := set.Schema()
	return checkpoint{
		Version: checkpointVersion,
		Dataset: set.Name(), Examples: set.Len(), BatchSize: r.o.BatchSize, Accumulate: r.o.Accumulate,
		Optimizer: r.optimizer.Name(), DropLast: r.o.DropLast, Sampler: r.o.SamplerName, Schema: &schema, BestBy: r.o.Criterion.Name,
	}
}

// checkpoint is the state of a training, as JSON in the metadata of the file.
type checkpoint struct {
	Version int

	// These must be equal for the training to continue.
	Dataset    string
	Examples   int // in the data set
	BatchSize  int
	Accumulate int
	Optimizer  string
	DropLast   bool         `json:",omitempty"`
	Sampler    string       `json:",omitempty"` // with a hash of its weights; "" for each example once
	Schema     *data.Schema `json:",omitempty"` // nil in older files

	Seed   uint64    // of the order of the examples
	Random [2]uint64 // seed of the default generator, and the number of values drawn
	// Weights is the same for the generator of initial weights; nil in older files.
	Weights      *[2]uint64    `json:",omitempty"`
	Epoch        int           // from 1
	ExamplesSeen int           // examples of this epoch
	FirstStep    int           // steps before this epoch
	Sums         [2]exact      // of this epoch: losses and correct predictions
	Summed       int           // number of examples in Sums
	SummedWeight *exact        `json:",omitempty"` // of the losses in Sums; nil for Summed
	Spent        time.Duration // on this epoch

	OptimizerSteps int
	Updates        map[string]int
	Scaler         *optim.GradScalerState `json:",omitempty"`

	Steps, Epochs, Validations [][]exact       // the history, one row each
	Metrics                    [][]savedMetric `json:",omitempty"` // of each validation
	Best                       int
	BestBy                     string `json:",omitempty"` // the metric that selects Best; "" for the loss
	ExamplesTrained            int    // number of examples that were trained on, in all epochs
	Time                       history.Timing
}

const (
	checkpointVersion = 3
	checkpointNote    = "quern.training"

	modelPart, optimizerPart, bestPart, averagePart, samplerPart = "model.", "optimizer.", "best.", "average.", "sampler."
)

// savedMetric is a [MetricValue].
type savedMetric struct {
	Name  string
	Value exact
	Share bool `json:",omitempty"`
}

// exact is a float64 that JSON keeps bit for bit: NaN and infinities, which JSON lacks, are
// strings.
type exact float64

func (v exact) MarshalJSON() ([]byte, error) {
	if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
		return json.Marshal(fmt.Sprint(f))
	}
	return json.Marshal(float64(v))
}

func (v *exact) UnmarshalJSON(b []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(b), `"`), 64)
	*v = exact(f)
	return err
}

// fits returns an error if the file does not belong to a training.
func (c *checkpoint) fits(here checkpoint) error {
	for _, row := range []struct {
		what       string
		file, here any
	}{
		{"version", c.Version, here.Version},
		{"data set", c.Dataset, here.Dataset},
		{"number of examples", c.Examples, here.Examples},
		{"batch size", c.BatchSize, here.BatchSize},
		{"number of batches to accumulate", c.Accumulate, here.Accumulate},
		{"optimizer", c.Optimizer, here.Optimizer},
		{"value of DropLast", c.DropLast, here.DropLast},
		{"sampler", cmp.Or(c.Sampler, "none"), cmp.Or(here.Sampler, "none")},
		{"metric of the best validation (BestBy)", cmp.Or(c.BestBy, "loss"), cmp.Or(here.BestBy, "loss")},
	} {
		if row.file != row.here {
			return fmt.Errorf("the %s in the file is %v, but here it is %v", row.what, row.file, row.here)
		}
	}
	for _, part := range []struct {
		rows  [][]exact
		width int
	}{{c.Steps, 8}, {c.Epochs, 4}, {c.Validations, 4}} {
		for _, r := range part.rows {
			if len(r) != part.width {
				return errors.New("the history in the file is damaged")
			}
		}
	}
	if len(c.Metrics) > 0 && len(c.Metrics) != len(c.Validations) {
		return errors.New("the history in the file is damaged")
	}
	if c.Epoch < 0 || c.ExamplesSeen < 0 || c.ExamplesSeen > c.Examples || c.FirstStep < 0 || c.FirstStep > len(c.Steps) || c.Best < -1 || c.Best >= len(c.Validations) {
		return errors.New("the history in the file is damaged")
	}
	return nil
}

// addHistory adds the history in the file to a run.
func (c *checkpoint) addHistory(r *history.Run) {
	for _, v := range c.Steps {
		r.Steps = append(r.Steps, history.Step{
			Epoch: int(v[0]), Loss: float64(v[1]), Accuracy: float64(v[2]),
			LearningRate: float64(v[3]), Seconds: float64(v[4]), Skipped: v[5] != 0, LossScale: float64(v[6]), GradNorm: float64(v[7]),
		})
	}
	for _, v := range c.Epochs {
		r.Epochs = append(r.Epochs, history.Epoch{Steps: int(v[0]), Loss: float64(v[1]), Accuracy: float64(v[2]), Seconds: float64(v[3])})
	}
	for i, v := range c.Validations {
		validation := history.Validation{Step: int(v[0]), Epoch: int(v[1]), Loss: float64(v[2]), Accuracy: float64(v[3])}
		if i < len(c.Metrics) {
			for _, m := range c.Metrics[i] {
				validation.Metrics = append(validation.Metrics, history.MetricValue{Name: m.Name, Value: float64(m.Value), Share: m.Share})
			}
		}
		r.Validations = append(r.Validations, validation)
	}
	r.Seed, r.Best, r.Examples, r.Time = c.Seed, c.Best, c.ExamplesTrained, c.Time
}
