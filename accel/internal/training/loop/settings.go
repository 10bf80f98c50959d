package loop

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/history"
	"github.com/quernlab/quern/accel/internal/training/layer"
	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/accel/metrics"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/parallel"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/internal/atomicfile"
)

// Settings are the settings that options have made. The zero value of a field stands for its
// default.
type Settings struct {
	Epochs          int // 5, unless steps are given
	Steps           int
	BatchSize       int // 64
	DropLast        bool
	Weights         []float64           // of the examples; nil without WeightedRandomSampler
	ByLength        bool                // GroupByLength
	Balanced        bool                // ClassBalancedSampler, which sets weights
	Hardness        func(i int) float64 // of HardExampleSampler, which sets weights at the start of each epoch
	Uniform         float64             // share of its draws that are uniform
	SamplerName     string              // of the sampler and its weights; "" without one
	Workers         int
	Loss            func(prediction, target *tensor.Tensor) *tensor.Tensor
	Optimizer       func(model any, hyperparameters ...optim.Option) *optim.Optimizer
	Schedule        func(total int) optim.Schedule
	NeedsValidation bool           // the schedule depends on the validation loss
	Hyperparameters []optim.Option // hyperparameters of the optimizer
	Accumulate      int            // 1
	Metrics         []metrics.Metric
	Validate        *data.Dataset
	EvalEvery       int // in steps; 0 for after every epoch
	Patience        int
	Criterion       Criterion        // of the best validation
	BestBy          *metrics.Metric  // the metric of the criterion; nil for the loss
	SaveBest        string           // path of the file of SaveBest; "" for none
	Live            []history.Metric // nil for none
	Quiet           bool
	Energy          bool               // measure or estimate it
	Watts           float64            // assumed; 0 for none
	Observers       []history.Observer // of the user, and of functions that call Fit
	Checkpoint      string             // path of the file of Resume; "" for none
	SaveEvery       int                // in steps; 0 for after every epoch only

	DerivedFrom nn.Module             // of Evaluate: the model from which the evaluated one was made; nil for none
	Report      func(done, total int) // of Predict: called after each batch; nil for a progress bar
	Temperature float64               // of Generate
	TopK        int                   // of Generate; 0 for all tokens

	OptimizerText, ScheduleText string // as Go code; "" for none

	Group              *parallel.Group // nil for one process
	ZeRO               int             // what the ranks of the group divide; 0 for nothing
	Device             string          // "" for the current device
	TensorBoard        string          // folder; "" for none
	Track              string          // folder; "" for none
	Label              string          // name of the run in Track's folder
	AbsoluteRates      bool            // the schedule returns learning rates, not factors
	AfterStep          []func(updates int) error
	Average            *optim.EMA              // nil for none
	ValidateParameters bool                    // instead of average
	Stop               func(*history.Run) bool // called after each step and validation; nil for never
	Mixer              Mixer
	Recompute          bool // recompute activations in the backward pass
	Amp                bool
	Overfit            bool      // OverfitBatch
	Unexamined         bool      // leave out the notes on typical mistakes
	Measured           bool      // with Metrics, which Check removes
	Precision          Precision // 0 for the device's default
	Given              []Given   // in the order in which they were given
}

// Given is an option as a user gave it.
type Given struct {
	Text   string // as Go code; "" for options that the user did not give
	Shared string // what the ranks must agree on; "" for nothing
	Output bool   // it only shows the run or saves it
}

// texts returns the options as Go code.
func (c *Settings) texts() []string {
	return c.list(func(o Given) string { return o.Text })
}

// outputs returns the options that only show the run or save it.
func (c *Settings) outputs() []string {
	return c.list(func(o Given) string {
		if o.Output {
			return o.Text
		}
		return ""
	})
}

// shared returns the texts that all ranks must agree on.
func (c *Settings) shared() []string {
	return c.list(func(o Given) string { return o.Shared })
}

// list returns the non-empty texts of the options.
func (c *Settings) list(text func(Given) string) (all []string) {
	for _, o := range c.Given {
		if t := text(o); t != "" {
			all = append(all, t)
		}
	}
	return all
}

// AddMetric adds a metric to those that are measured.
func (c *Settings) AddMetric(m metrics.Metric) error {
	c.Metrics = append(c.Metrics, m)
	_, err := metrics.NewCollection(c.Metrics...)
	return err
}

// AddCriterion adds the metric of [BestBy] to those that are measured, and checks that there is a
// validation.
func (c *Settings) AddCriterion() error {
	switch {
	case c.BestBy != nil && c.Validate == nil:
		return fmt.Errorf("accel: BestBy(%v) needs validations: add Validate(set)", c.BestBy)
	case c.SaveBest != "" && c.Validate == nil:
		return fmt.Errorf("accel: SaveBest(%q) needs validations: add Validate(set)", c.SaveBest)
	case c.BestBy == nil:
		return nil
	}
	c.Criterion.Name = c.BestBy.WithClasses(classNames(c.Validate)...).Name()
	for _, m := range c.Metrics {
		if m.Name() == c.BestBy.Name() {
			return nil
		}
	}
	if err := c.AddMetric(*c.BestBy); err != nil {
		return fmt.Errorf("accel: BestBy(%v): %w", c.BestBy, err)
	}
	return nil
}

// Choose records the optimizer or the schedule of a training, and fails if one was chosen
// before.
func (c *Settings) Choose(chosen *string, what, text string) error {
	if *chosen != "" {
		return fmt.Errorf("accel: %s and %s exclude each other: a training has one %s", *chosen, text, what)
	}
	*chosen = text
	return nil
}

// TrainOnly removes everything that validates, shows, saves or observes a run.
func (c *Settings) TrainOnly() {
	c.Validate, c.EvalEvery, c.Patience, c.Metrics = nil, 0, 0, nil
	c.Live = nil
	c.Criterion, c.BestBy, c.SaveBest = Criterion{}, nil, ""
	c.Checkpoint, c.SaveEvery, c.TensorBoard, c.Track = "", 0, "", ""
	c.Energy, c.Watts = false, 0
	c.Stop, c.Observers = nil, nil
	c.Unexamined = true
}

// balanceClasses sets the weights of ClassBalancedSampler.
func (c *Settings) balanceClasses(set *data.Dataset) error {
	switch {
	case !c.Balanced:
		return nil
	case c.Weights != nil:
		return errors.New("accel: Fit: ClassBalancedSampler and WeightedRandomSampler both set the weights of the examples: leave one out")
	case set.Targets() > 0 || set.SequenceLength() > 0:
		return fmt.Errorf("accel: Fit: ClassBalancedSampler: the examples of %s do not have one class each", set.Name())
	}
	counts := set.Counts()
	c.Weights = make([]float64, set.Len())
	for i := range c.Weights {
		c.Weights[i] = 1 / float64(counts[set.Label(i)])
	}
	return nil
}

// checkHardness returns an error if HardExampleSampler cannot be used with the other options.
func (c *Settings) checkHardness() error {
	switch {
	case c.Hardness == nil:
		return nil
	case c.Weights != nil || c.Balanced || c.ByLength:
		return errors.New("accel: Fit: HardExampleSampler and another sampler both set the order of the examples: leave one out")
	case c.Group != nil && c.Group.Size() > 1:
		return errors.New("accel: Fit: HardExampleSampler needs a training in one process: the ranks would draw by different losses")
	}
	return nil
}

// weighHard sets the weights of HardExampleSampler for an epoch.
func (c *Settings) weighHard(set *data.Dataset) (err error) {
	if c.Hardness == nil {
		return nil
	}
	losses := make([]float64, set.Len())
	for i := range losses {
		losses[i] = c.Hardness(i)
	}
	if c.Weights, err = data.HardExampleWeights(losses, c.Uniform); err != nil {
		return fmt.Errorf("accel: Fit: HardExampleSampler: %w", err)
	}
	return nil
}

// examplesPerEpoch returns the number of examples of an epoch.
func (c *Settings) examplesPerEpoch(set *data.Dataset) int {
	n := set.Len()
	if c.DropLast && n > c.BatchSize {
		n -= n % c.BatchSize
	}
	return n
}

// sampler returns the option for the batches of an epoch.
func (c *Settings) sampler() data.Option {
	switch {
	case c.ByLength:
		return data.GroupByLength()
	case c.Weights != nil:
		return data.WeightedRandomSampler(c.Weights)
	}
	return data.Option{}
}

// measuresEnergy reports whether a meter is needed: Live and Track record the devices themselves.
func (c *Settings) measuresEnergy() bool {
	for _, m := range c.Live {
		if m.OfDevice() {
			return false
		}
	}
	return c.Energy && c.Track == ""
}

// writes reports whether this process shows and saves the run.
func (c *Settings) writes() bool { return c.Group == nil || c.Group.First() }

func (c *Settings) judged() judged {
	if c.ValidateParameters {
		return judged{}
	}
	return judged{c.Average}
}

// judgesAverage reports whether validations measure an average.
func (c *Settings) judgesAverage() bool { return c.judged().average != nil && c.Validate != nil }

// lossFor returns the loss for evaluating a model: the one of the options, else the one that
// the model was trained with, else the default. It fails if the labels of the data set differ
// in meaning from those of the training set. With a loss in the options they may be of another kind.
func (c *Settings) lossFor(model nn.Module, set *data.Dataset) (func(prediction, target *tensor.Tensor) *tensor.Tensor, error) {
	if c.DerivedFrom != nil {
		model = c.DerivedFrom
	}
	t := TrainedWith(model)
	if t != nil {
		err := t.Schema.Check(set)
		if isOtherKind(err) {
			if c.Loss == nil {
				return nil, fmt.Errorf("accel: Evaluate: %w, or give the loss for these labels, such as Minimize(nn.CrossEntropy)", err)
			}
			err = t.Schema.CheckColumns(set)
		}
		if err != nil {
			return nil, fmt.Errorf("accel: Evaluate: %w", err)
		}
	}
	switch {
	case c.Loss != nil:
		return c.Loss, nil
	case t != nil && t.loss != nil:
		return t.loss, nil
	}
	return defaultLoss(set), nil
}

// Check returns an error if a model cannot be trained on a data set with these settings.
func (c *Settings) Check(model nn.Module, train *data.Dataset) error {
	switch {
	case model == nil:
		return errors.New("accel: Fit: the model is nil")
	case train == nil:
		return errors.New("accel: Fit: the training set is nil: check the error returned where it was created")
	case train.Unlabeled():
		return fmt.Errorf("accel: Fit: the examples of %s have no labels: add them with WithLabels, or label some in a pool of package active", train.Name())
	case train.Len() == 0:
		return fmt.Errorf("accel: Fit: %s is empty", train.Name())
	case isShared(model):
		return errors.New("accel: Fit: ranks share the model already (parallel.Distribute): pass the model itself with DataParallel(group) and, to divide it, ZeRO(stage), or train the shared model in a loop with its Backward")
	}
	if err := c.checkHardness(); err != nil {
		return err
	}
	if err := c.balanceClasses(train); err != nil {
		return err
	}
	if c.Weights != nil {
		if err := option.CheckWeights(c.Weights, train.Len()); err != nil {
			return fmt.Errorf("accel: Fit: %w", err)
		}
	}
	if c.ByLength && c.Weights != nil {
		return errors.New("accel: Fit: GroupByLength and a sampler with weights both set the order of the examples: leave one out")
	}
	schema := train.Schema()
	if t := TrainedWith(model); t != nil {
		if err := t.Schema.CheckOrder(train); err != nil {
			return fmt.Errorf("accel: Fit: the model was trained before: %w", err)
		}
	}
	if c.Validate != nil {
		if err := schema.Check(c.Validate); err != nil && (c.Loss == nil || !isOtherKind(err)) {
			return fmt.Errorf("accel: Validate(%s): %w", c.Validate.Name(), err)
		}
	}
	if c.ZeRO > 0 && c.Group == nil {
		return fmt.Errorf("accel: ZeRO(%d): ranks divide the training: add DataParallel(group)", c.ZeRO)
	}
	return c.Mixer.check(train)
}

// isShared reports whether a model contains one of which each rank has a part, to which the exchanges of Fit do not apply.
func isShared(model nn.Module) bool {
	return slices.ContainsFunc(nn.NamedModules(model), func(m nn.NamedModule) bool {
		_, ok := m.Module.(layer.Shared)
		return ok
	})
}

// plannedSteps returns the number of updates of a training.
func (c *Settings) plannedSteps(train *data.Dataset) int {
	planned := c.Epochs * ceilDiv(ceilDiv(c.examplesPerEpoch(train), c.BatchSize), c.Accumulate)
	if c.Steps > 0 && (planned == 0 || c.Steps < planned) {
		planned = c.Steps
	}
	return planned
}

// ceilDiv returns n/size, rounded up.
func ceilDiv(n, size int) int { return (n-1)/size + 1 }

// setup returns what the history of a training begins with.
func (c *Settings) setup(train *data.Dataset, planned int) history.Setup {
	s := history.Setup{
		Dataset: train.Name(), Classes: train.Targets() == 0, Options: c.texts(), Outputs: c.outputs(), Seed: nextSeed(),
		Planned: planned, Live: c.Live, Average: c.judgesAverage(), Ranks: 1, LocalRanks: 1,
	}
	if c.Group != nil {
		s.Ranks, s.LocalRanks = c.Group.Size(), c.Group.LocalSize()
	}
	if c.writes() {
		s.Watts = c.Watts
	}
	return s
}

// checkFiles returns an error before the first step if this process could not write the files of [Resume] and [SaveBest] after it.
func (c *Settings) checkFiles() error {
	if !c.writes() {
		return nil
	}
	for _, file := range []struct{ path, what string }{
		{c.Checkpoint, fmt.Sprintf("Resume(%q): save the training", c.Checkpoint)}, {c.SaveBest, fmt.Sprintf("SaveBest(%q)", c.SaveBest)},
	} {
		if file.path == "" {
			continue
		}
		err := atomicfile.Check(file.path)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("accel: %s: %w: create its folder before the training", file.what, err)
		} else if err != nil {
			return fmt.Errorf("accel: %s: %w", file.what, err)
		}
	}
	return nil
}

// dropOutputs leaves out what only rank 0 shows and saves.
func (c *Settings) dropOutputs() {
	c.Quiet, c.Live, c.TensorBoard, c.Track, c.SaveBest = true, nil, "", "", ""
	c.Energy, c.Watts = false, 0
}

// nextSeed draws a seed for the order of a run's examples.
func nextSeed() uint64 { return (*tensor.Generator)(nil).Uint64() }
