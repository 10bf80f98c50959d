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

// Resume keeps the training in a file, and goes on from it where there is one,
// bit for bit as if it had not been interrupted: parameters, the optimiser's
// memory, the schedule, the order of the examples, random numbers, and the
// history of the run. Running a program or a cell again thus continues it; what
// is finished is loaded and not trained again.
//
// The file is written after each epoch, every so many steps with [SaveEvery],
// and when training ends, also by its context; a process that is killed
// continues from the last of these. It is a safetensors file, whose parameters
// are named model.0.weight and so on, and is replaced as a whole.
//
// Fit fails when the file is of another set, batch size, optimiser or model.
func Resume(path string) Option {
	text := fmt.Sprintf("Resume(%q)", path)
	return fitOption(text, func(c *options) error {
		if path == "" {
			return fmt.Errorf("accel: %s: there is no path", text)
		}
		c.checkpoint = path
		return nil
	}).sharedAs("Resume") // only rank 0 needs the file
}

// SaveEvery writes the file of [Resume] after every so many steps too.
func SaveEvery(steps int) Option {
	return count("SaveEvery", steps, func(c *options) *int { return &c.saveEvery })
}

// checkpoint is what the notes of a file say about a training.
type checkpoint struct {
	Version int

	// What must be equal for the training to go on.
	Set        string
	Examples   int // in the set
	BatchSize  int
	Accumulate int
	Optimizer  string

	Seed   uint64    // of the order of the examples
	Random [2]uint64 // the default generator's seed, and what was drawn of it
	// Weights are the same of the generator of weights; nil in older files.
	Weights *[2]uint64    `json:",omitempty"`
	Epoch   int           // from 1
	Seen    int           // examples of this epoch
	First   int           // steps before this epoch
	Sums    [2]exact      // of this epoch: losses and right answers
	Summed  int           // examples that they are of
	Spent   time.Duration // on this epoch

	OptimizerSteps int
	Updates        map[string]int
	Scaler         *optim.GradScalerState `json:",omitempty"`

	Steps, Epochs, Checks [][]exact // the history, a row each
	Best                  int
	Trained               int // examples, those of each epoch
	Time                  Timing
}

const (
	checkpointVersion = 2
	checkpointNote    = "quern.training"

	modelPart, optimizerPart, bestPart = "model.", "optimizer.", "best."
)

// exact is a number that JSON keeps bit for bit: NaN and the infinities, which
// JSON has not, as text.
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

// resumption loads and saves the file of [Resume]. As an observer it saves after each
// epoch. The loop asks for it at other times, since the file is of a training between two
// steps; a nil one then does nothing.
type resumption struct {
	ownObserver
	loop  *loop
	path  string
	every int // steps; 0 for every epoch only
}

// due reports whether [SaveEvery] wants the file after so many steps.
func (r *resumption) due(made int) bool { return r != nil && r.every > 0 && made%r.every == 0 }

// Epoch saves the training after a whole epoch.
func (r *resumption) Epoch(*Training, Epoch) error {
	if !r.loop.whole {
		return nil
	}
	return r.save()
}

// save writes the file as the training stands between two steps.
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
		Set:     l.set.Name(), Examples: l.set.Len(), BatchSize: l.o.batchSize, Accumulate: l.o.accumulate,
		Optimizer: l.optimizer.Name(),
		Seed:      l.run.Seed, Random: [2]uint64{seed, drawn}, Weights: &[2]uint64{weightSeed, weightsDrawn},
		Epoch: l.epoch, Seen: l.seen, First: l.first,
		Sums: [2]exact{exact(l.sum.lossSum), exact(l.sum.right)}, Summed: l.sum.examples, Spent: time.Since(l.epochBegan),
		OptimizerSteps: known.Steps, Updates: known.Updates,
		Best: l.run.Best, Trained: l.run.Examples, Time: l.run.Time,
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
		c.Checks = append(c.Checks, row(float64(v.Step), float64(v.Epoch), v.Loss, v.Accuracy))
	}
	text, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("accel: keep the training: %w", err)
	}
	if err := failpoint.Do(failpoint.CheckpointTensors, func() error { return nil }); err != nil {
		return fmt.Errorf("accel: keep the training: %w", err)
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
		return fmt.Errorf("accel: keep the training in %s: %w", r.path, err)
	}
	return nil
}

func row(numbers ...float64) []exact {
	r := make([]exact, len(numbers))
	for i, v := range numbers {
		r[i] = exact(v)
	}
	return r
}

// load goes on from the file, if there is one.
func (r *resumption) load() error {
	l, path := r.loop, r.path
	var tensors map[string]*Tensor
	var notes map[string]string
	err := l.strategy.together(func() (err error) {
		if _, missing := os.Stat(path); !l.strategy.writes() || errors.Is(missing, fs.ErrNotExist) {
			return nil
		}
		if tensors, notes, err = nn.LoadTensors(path); err != nil {
			return fmt.Errorf("accel: resume: %w", err)
		}
		return nil
	})
	if err == nil {
		tensors, notes, err = l.strategy.file(tensors, notes)
	}
	if err != nil || notes == nil {
		return err
	}
	return l.strategy.together(func() error {
		if err := r.takeUp(tensors, notes); err != nil {
			return fmt.Errorf("accel: resume from %s: %w; give another path, or delete the file to begin again", path, err)
		}
		return nil
	})
}

// takeUp puts the training where the file has left it.
func (r *resumption) takeUp(tensors map[string]*Tensor, notes map[string]string) error {
	l := r.loop
	var c checkpoint
	if err := json.Unmarshal([]byte(notes[checkpointNote]), &c); err != nil {
		return errors.New("the file is not of a training")
	}
	if err := c.fits(l); err != nil {
		return err
	}
	parts := map[string]map[string]*Tensor{modelPart: {}, optimizerPart: {}, bestPart: {}}
	for name, t := range tensors {
		part, rest, _ := strings.Cut(name, ".")
		if parts[part+"."] == nil {
			return fmt.Errorf("the file has a tensor %s, which is no part of a training", name)
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
	c.tell(l.run)
	for _, s := range l.run.Steps {
		if !s.Skipped {
			l.advanced++
		}
	}
	l.epoch, l.seen, l.first = c.Epoch, c.Seen, c.First
	l.sum = sums{lossSum: float64(c.Sums[0]), right: float64(c.Sums[1]), examples: c.Summed}
	l.spent, l.resumed = c.Spent, true
	(*tensor.Generator)(nil).SetState(c.Random[0], c.Random[1])
	if w := c.Weights; w != nil {
		tensor.WeightGenerator().SetState(w[0], w[1])
	}
	l.run.note("resumed after step %d in epoch %d", len(l.run.Steps), c.Epoch)
	return nil
}

// fits reports whether the training of a file can go on as this one.
func (c *checkpoint) fits(l *loop) error {
	for _, row := range []struct {
		what       string
		file, here any
	}{
		{"version", c.Version, checkpointVersion},
		{"set", c.Set, l.set.Name()},
		{"number of examples", c.Examples, l.set.Len()},
		{"batch size", c.BatchSize, l.o.batchSize},
		{"number of batches to accumulate", c.Accumulate, l.o.accumulate},
		{"optimiser", c.Optimizer, l.optimizer.Name()},
	} {
		if row.file != row.here {
			return fmt.Errorf("the %s of the file is %v, and %v here", row.what, row.file, row.here)
		}
	}
	for _, part := range []struct {
		rows  [][]exact
		width int
	}{{c.Steps, 7}, {c.Epochs, 4}, {c.Checks, 4}} {
		for _, r := range part.rows {
			if len(r) != part.width {
				return errors.New("the history of the file is damaged")
			}
		}
	}
	if c.Epoch < 0 || c.Seen < 0 || c.Seen > c.Examples || c.First < 0 || c.First > len(c.Steps) || c.Best < -1 || c.Best >= len(c.Checks) {
		return errors.New("the history of the file is damaged")
	}
	return nil
}

// tell enters the history of the file into a run.
func (c *checkpoint) tell(r *Run) {
	for _, v := range c.Steps {
		r.Steps = append(r.Steps, Step{
			Epoch: int(v[0]), Loss: float64(v[1]), Accuracy: float64(v[2]),
			LearningRate: float64(v[3]), Seconds: float64(v[4]), Skipped: v[5] != 0, LossScale: float64(v[6]),
		})
	}
	for _, v := range c.Epochs {
		r.Epochs = append(r.Epochs, Epoch{Steps: int(v[0]), Loss: float64(v[1]), Accuracy: float64(v[2]), Seconds: float64(v[3])})
	}
	for _, v := range c.Checks {
		r.Validations = append(r.Validations, Validation{Step: int(v[0]), Epoch: int(v[1]), Loss: float64(v[2]), Accuracy: float64(v[3])})
	}
	r.Seed, r.Best, r.Examples, r.Time = c.Seed, c.Best, c.Trained, c.Time
}
