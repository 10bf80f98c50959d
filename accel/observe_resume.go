package accel

import (
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

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/internal/atomicfile"
	"github.com/quernlab/quern/internal/failpoint"
)

// Resume saves the training to a file, and continues from the file if it exists. The result is
// the same bit for bit as without interruption: the file has the parameters, the state of the
// optimizer and the schedule, the order of the examples, the state of the random numbers, and
// the history of the run. Running a program or a cell again therefore continues its training; a
// training that had finished is loaded.
//
// Fit writes the file after each epoch, after every given number of steps with [SaveEvery], and
// when the training ends, also when its context is done. After a kill the training continues
// from the last of these. The file is in safetensors format, with parameters named
// model.0.weight and so on, and is replaced atomically.
//
// Fit fails if the file belongs to another data set, batch size, optimizer or model.
func Resume(path string) Option {
	text := fmt.Sprintf("Resume(%q)", path)
	return fitOption(text, func(c *options) error {
		if path == "" {
			return fmt.Errorf("accel: %s: the path is empty", text)
		}
		c.checkpoint = path
		return nil
	}).sharedAs("Resume") // only rank 0 needs the file
}

// SaveEvery makes [Resume] save the training after every given number of steps too.
func SaveEvery(steps int) Option {
	return count("SaveEvery", steps, func(c *options) *int { return &c.saveEvery })
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

	Seed   uint64    // of the order of the examples
	Random [2]uint64 // seed of the default generator, and the number of values drawn
	// Weights is the same for the generator of initial weights; nil in older files.
	Weights      *[2]uint64    `json:",omitempty"`
	Epoch        int           // from 1
	ExamplesSeen int           // examples of this epoch
	FirstStep    int           // steps before this epoch
	Sums         [2]exact      // of this epoch: losses and correct predictions
	Summed       int           // number of examples in Sums
	Spent        time.Duration // on this epoch

	OptimizerSteps int
	Updates        map[string]int
	Scaler         *optim.GradScalerState `json:",omitempty"`

	Steps, Epochs, Validations [][]exact // the history, one row each
	Best                       int
	ExamplesTrained            int // number of examples that were trained on, in all epochs
	Time                       Timing
}

const (
	checkpointVersion = 3
	checkpointNote    = "quern.training"

	modelPart, optimizerPart, bestPart = "model.", "optimizer.", "best."
)

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

// resumption loads and saves the file of [Resume]. As an observer it saves after each epoch.
// The loop calls it at other times itself, because a checkpoint is the state between two steps.
// A nil resumption does nothing then.
type resumption struct {
	ownObserver
	loop  *loop
	path  string
	every int // in steps; 0 for after every epoch only
}

// due reports whether [SaveEvery] asks for a save after this step.
func (r *resumption) due(made int) bool { return r != nil && r.every > 0 && made%r.every == 0 }

// Epoch saves the training after a complete epoch.
func (r *resumption) Epoch(*Training, Epoch) error {
	if !r.loop.complete {
		return nil
	}
	return r.save()
}

// save writes the state of the training between two steps.
func (r *resumption) save() error {
	if r == nil || !r.loop.strategy.writes() {
		return nil
	}
	l := r.loop
	known := l.optimizer.State()
	seed, drawn := (*tensor.Generator)(nil).State()
	weightSeed, weightsDrawn := tensor.WeightGenerator().State()
	c := checkpoint{
		Version: checkpointVersion,
		Dataset: l.set.Name(), Examples: l.set.Len(), BatchSize: l.o.batchSize, Accumulate: l.o.accumulate,
		Optimizer: l.optimizer.Name(),
		Seed:      l.run.Seed, Random: [2]uint64{seed, drawn}, Weights: &[2]uint64{weightSeed, weightsDrawn},
		Epoch: l.epoch, ExamplesSeen: l.examplesSeen, FirstStep: l.firstStep,
		Sums: [2]exact{exact(l.sum.lossSum), exact(l.sum.right)}, Summed: l.sum.examples, Spent: time.Since(l.epochBegan),
		OptimizerSteps: known.Steps, Updates: known.Updates,
		Best: l.run.Best, ExamplesTrained: l.run.Examples, Time: l.run.Time,
	}
	c.Time.Total = time.Since(l.began)
	if l.precision.scaler != nil {
		s := l.precision.scaler.State()
		c.Scaler = &s
	}
	for _, s := range l.run.Steps {
		skipped := 0.0
		if s.Skipped {
			skipped = 1
		}
		c.Steps = append(c.Steps, row(float64(s.Epoch), s.Loss, s.Accuracy, s.LearningRate, s.Seconds, skipped, s.LossScale))
	}
	for _, e := range l.run.Epochs {
		c.Epochs = append(c.Epochs, row(float64(e.Steps), e.Loss, e.Accuracy, e.Seconds))
	}
	for _, v := range l.run.Validations {
		c.Validations = append(c.Validations, row(float64(v.Step), float64(v.Epoch), v.Loss, v.Accuracy))
	}
	text, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("accel: Resume(%q): save the training: %w", r.path, err)
	}
	if err := failpoint.Do(failpoint.CheckpointTensors, func() error { return nil }); err != nil {
		return fmt.Errorf("accel: Resume(%q): save the training: %w", r.path, err)
	}
	tensors := map[string]*Tensor{}
	for _, p := range nn.State(l.model) {
		tensors[modelPart+p.Name] = p.Tensor
	}
	for name, t := range known.Tensors {
		tensors[optimizerPart+name] = t
	}
	if l.stopping != nil {
		for name, t := range l.stopping.best.tensors {
			tensors[bestPart+name] = t
		}
	}
	notes := map[string]string{checkpointNote: string(text)}
	err = atomicfile.Replace(r.path, func(w io.Writer) error { return nn.WriteTensors(w, tensors, notes) })
	if err != nil {
		return fmt.Errorf("accel: Resume(%q): save the training: %w", r.path, err)
	}
	return nil
}

func row(values ...float64) []exact {
	r := make([]exact, len(values))
	for i, v := range values {
		r[i] = exact(v)
	}
	return r
}

// load continues the training from the file, if it exists.
func (r *resumption) load() error {
	l, path := r.loop, r.path
	var tensors map[string]*Tensor
	var notes map[string]string
	err := l.strategy.runOnAll(func() (err error) {
		if _, missing := os.Stat(path); !l.strategy.writes() || errors.Is(missing, fs.ErrNotExist) {
			return nil
		}
		if tensors, notes, err = nn.LoadTensors(path); err != nil {
			return fmt.Errorf("accel: Resume(%q): %w", path, err)
		}
		return nil
	})
	if err == nil {
		tensors, notes, err = l.strategy.broadcastFile(tensors, notes)
	}
	if err != nil || notes == nil {
		return err
	}
	return l.strategy.runOnAll(func() error {
		if err := r.restore(tensors, notes); err != nil {
			return fmt.Errorf("accel: Resume(%q): %w: use another path, or delete the file to start again", path, err)
		}
		return nil
	})
}

// restore sets the training to the state in the file.
func (r *resumption) restore(tensors map[string]*Tensor, notes map[string]string) error {
	l := r.loop
	var c checkpoint
	if err := json.Unmarshal([]byte(notes[checkpointNote]), &c); err != nil {
		return errors.New("the file is not a saved training")
	}
	if err := c.fits(l); err != nil {
		return err
	}
	parts := map[string]map[string]*Tensor{modelPart: {}, optimizerPart: {}, bestPart: {}}
	for name, t := range tensors {
		part, rest, _ := strings.Cut(name, ".")
		if parts[part+"."] == nil {
			return fmt.Errorf("the file has a tensor %s that does not belong to a saved training", name)
		}
		parts[part+"."][rest] = t
	}
	if err := nn.SetState(l.model, parts[modelPart]); err != nil {
		return err
	}
	if err := l.optimizer.SetState(optim.State{Steps: c.OptimizerSteps, Updates: c.Updates, Tensors: parts[optimizerPart]}); err != nil {
		return err
	}
	if c.Scaler != nil && l.precision.scaler != nil {
		if err := l.precision.scaler.SetState(*c.Scaler); err != nil {
			return err
		}
	}
	if len(parts[bestPart]) > 0 && l.stopping != nil {
		l.stopping.best = weights{tensors: parts[bestPart]}
	}
	c.addHistory(l.run)
	for _, s := range l.run.Steps {
		if !s.Skipped {
			l.scheduleStep++
		}
	}
	l.epoch, l.examplesSeen, l.firstStep = c.Epoch, c.ExamplesSeen, c.FirstStep
	l.sum = sums{lossSum: float64(c.Sums[0]), right: float64(c.Sums[1]), examples: c.Summed}
	l.spent, l.resumed = c.Spent, true
	(*tensor.Generator)(nil).SetState(c.Random[0], c.Random[1])
	if w := c.Weights; w != nil {
		tensor.WeightGenerator().SetState(w[0], w[1])
	}
	l.run.note("resumed after step %d in epoch %d", len(l.run.Steps), c.Epoch)
	return nil
}

// fits returns an error if the file does not belong to this training.
func (c *checkpoint) fits(l *loop) error {
	for _, row := range []struct {
		what       string
		file, here any
	}{
		{"version", c.Version, checkpointVersion},
		{"data set", c.Dataset, l.set.Name()},
		{"number of examples", c.Examples, l.set.Len()},
		{"batch size", c.BatchSize, l.o.batchSize},
		{"number of batches to accumulate", c.Accumulate, l.o.accumulate},
		{"optimizer", c.Optimizer, l.optimizer.Name()},
	} {
		if row.file != row.here {
			return fmt.Errorf("the %s in the file is %v, but here it is %v", row.what, row.file, row.here)
		}
	}
	for _, part := range []struct {
		rows  [][]exact
		width int
	}{{c.Steps, 7}, {c.Epochs, 4}, {c.Validations, 4}} {
		for _, r := range part.rows {
			if len(r) != part.width {
				return errors.New("the history in the file is damaged")
			}
		}
	}
	if c.Epoch < 0 || c.ExamplesSeen < 0 || c.ExamplesSeen > c.Examples || c.FirstStep < 0 || c.FirstStep > len(c.Steps) || c.Best < -1 || c.Best >= len(c.Validations) {
		return errors.New("the history in the file is damaged")
	}
	return nil
}

// addHistory adds the history in the file to a run.
func (c *checkpoint) addHistory(r *Run) {
	for _, v := range c.Steps {
		r.Steps = append(r.Steps, Step{
			Epoch: int(v[0]), Loss: float64(v[1]), Accuracy: float64(v[2]),
			LearningRate: float64(v[3]), Seconds: float64(v[4]), Skipped: v[5] != 0, LossScale: float64(v[6]),
		})
	}
	for _, v := range c.Epochs {
		r.Epochs = append(r.Epochs, Epoch{Steps: int(v[0]), Loss: float64(v[1]), Accuracy: float64(v[2]), Seconds: float64(v[3])})
	}
	for _, v := range c.Validations {
		r.Validations = append(r.Validations, Validation{Step: int(v[0]), Epoch: int(v[1]), Loss: float64(v[2]), Accuracy: float64(v[3])})
	}
	r.Seed, r.Best, r.Examples, r.Time = c.Seed, c.Best, c.ExamplesTrained, c.Time
}
