package loop

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/history"
	"github.com/quernlab/quern/accel/optim"
)

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
