package accel_test

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/internal/cuda"
	"github.com/quernlab/quern/accel/internal/cuda/fake"
	"github.com/quernlab/quern/accel/internal/cuda/fakelib"
	"github.com/quernlab/quern/accel/internal/engine/devices"
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/parallel"
	"github.com/quernlab/quern/accel/simulated"
)

// rankTraining is a training for the ranks of a group, and for one process.
type rankTraining struct {
	model    func() nn.Module
	examples int // number of digits
	options  []accel.Option
	validate bool
	bucket   int  // bucket size in bytes; 0 for the default
	zero     int  // option ZeRO on several ranks; 0 for none
	targets  bool // regression instead of classification
	tokens   bool // a class for each token of sequences, of which some are ignored
	images   bool // the digits are images with one channel
	large    bool // some examples overflow in float16
	resumed  bool // the training resumes from a file, or stops midway if rankStop is set
	twice    bool // train twice
}

func rankModel() nn.Module {
	return nn.Sequential(nn.Flatten(), nn.Dense(24), nn.ReLU(), nn.Dense(16), nn.Tanh(), nn.Dense(10))
}

var rankTrainings = map[string]rankTraining{
	"AdamW": {model: rankModel, examples: 203, options: []accel.Option{accel.BatchSize(32), accel.Epochs(3), accel.AdamW(3e-3)}},
	// 203 = 6·32 + 11, so that the last batch of an epoch cannot be divided evenly.
	"small buckets": {model: rankModel, examples: 203, bucket: 1000, options: []accel.Option{accel.BatchSize(32), accel.Epochs(2), accel.SGD(0.05, 0.9), accel.ClipGradNorm(0.5), accel.WarmupCosine(3)}},
	// The last batch has one example: most ranks have none.
	"one left":   {model: rankModel, examples: 65, options: []accel.Option{accel.BatchSize(16), accel.Epochs(3), accel.Adam(1e-3), accel.Accumulate(1)}},
	"accumulate": {model: rankModel, examples: 150, options: []accel.Option{accel.BatchSize(16), accel.Accumulate(3), accel.Epochs(3), accel.AdamW(1e-3)}},
	"FP16":       {model: rankModel, examples: 96, options: []accel.Option{accel.BatchSize(32), accel.Epochs(2), accel.AMP(accel.FP16), accel.SGD(0.01, 0)}},
	"validation": {model: rankModel, examples: 120, validate: true, twice: true, options: []accel.Option{accel.BatchSize(40), accel.Epochs(4), accel.EarlyStopping(1), accel.ReduceLROnPlateau(0, 0.5), accel.AdamW(0.05)}},
	"recompute":  {model: rankModel, examples: 96, bucket: 2000, options: []accel.Option{accel.BatchSize(32), accel.Epochs(2), accel.Recompute(), accel.AdamW(1e-3)}},
	"frozen": {examples: 96, options: []accel.Option{accel.BatchSize(32), accel.Epochs(2)}, model: func() nn.Module {
		frozen := nn.Sequential(nn.Flatten(), nn.Dense(20))
		nn.Freeze(frozen)
		return nn.Sequential(frozen, nn.ReLU(), nn.Dense(10))
	}},
	"resumed":      {model: rankModel, examples: 150, validate: true, resumed: true, options: []accel.Option{accel.BatchSize(32), accel.Epochs(4), accel.AdamW(1e-3)}},
	"two examples": {model: rankModel, examples: 2, validate: true, options: []accel.Option{accel.Epochs(4), accel.AdamW(1e-3)}},
	"regression": {examples: 20, targets: true, validate: true, options: []accel.Option{accel.BatchSize(7), accel.Epochs(3), accel.Adam(1e-2)}, model: func() nn.Module {
		return nn.Sequential(nn.Dense(8), nn.Tanh(), nn.Dense(2))
	}},
	// Ranks and batches have different numbers of tokens that count.
	"tokens": {examples: 40, tokens: true, validate: true, options: []accel.Option{accel.BatchSize(9), accel.Accumulate(2), accel.Epochs(3), accel.SGD(0.5, 0)}, model: func() nn.Module {
		return nn.Sequential(nn.Embedding(12, 6), nn.Dense(3))
	}},
	// Different from one process, but the same on all ranks.
	"own statistics": {examples: 96, validate: true, options: []accel.Option{accel.BatchSize(24), accel.Epochs(3), accel.Mixup(0.2), accel.AMP(accel.FP16)}, model: func() nn.Module {
		return nn.Sequential(nn.Flatten(), nn.Dense(20), nn.BatchNorm(), nn.ReLU(), nn.Dropout(0.4), nn.Dense(10))
	}},
	"simulated GPU": {examples: 12, bucket: 600, options: []accel.Option{accel.On("simulated"), accel.BatchSize(4), accel.Epochs(1), accel.AdamW(1e-2)}, model: func() nn.Module {
		return nn.Sequential(nn.Flatten(), nn.Dense(4), nn.ReLU(), nn.Dense(10))
	}},
}

// simulatedNCCL is a simulated GPU that reduces with those of other ranks.
const simulatedNCCL = "simulated:NCCL"

// withNCCL returns a training on GPUs that reduce gradients among themselves.
func (c rankTraining) withNCCL() rankTraining {
	c.options = append(slices.Clone(c.options), accel.On(simulatedNCCL))
	return c
}

func init() {
	devices.Register(simulatedNCCL, func() (ir.Device, error) {
		d, err := fake.Open(fake.Options{Memory: simulated.Memory})
		if err != nil {
			return nil, err
		}
		return cuda.Open(simulatedNCCL, d, 0, cuda.Libraries{NCCL: fakelib.OpenNCCL})
	})
	rankTrainings["simulated GPU with NCCL"] = rankTrainings["simulated GPU"].withNCCL()
}

// outcome is the result of a training on a rank.
type outcome struct {
	Weights   map[string][]float32
	Losses    []float64
	Accuracy  []float64
	Checks    []accel.Validation
	Examples  int
	Order     uint64
	Error     string
	Text      string
	Exchanged time.Duration
	Skipped   []bool
	Scales    []float64
}

// train runs the training on each rank, or with a nil group in one process.
func (c rankTraining) train(ctx context.Context, group *parallel.Group, more ...accel.Option) (o outcome, err error) {
	digits, test, err := data.Digits()
	if err != nil {
		return o, err
	}
	train, test := digits.First(c.examples), test.First(77)
	if c.targets {
		x, y := make([][]float32, c.examples), make([][]float32, c.examples)
		for i := range x {
			at := float32(i) / 10
			x[i], y[i] = []float32{at, 1 - at}, []float32{at * at, -at}
		}
		if train, err = data.FromTargets(x, y); err != nil {
			return o, err
		}
		test = train.First(2) // fewer than ranks
	}
	if c.tokens {
		if train, err = taggedTokens(c.examples); err != nil {
			return o, err
		}
		test = train.First(11)
	}
	if c.images {
		for _, s := range []**data.Dataset{&train, &test} {
			if *s, err = (*s).Reshape(1, 8, 8); err != nil {
				return o, err
			}
		}
	}
	if c.large {
		if train, err = enlarged(train); err != nil {
			return o, err
		}
	}
	rank := 0
	options := append([]accel.Option{accel.Quiet()}, c.options...)
	if group != nil {
		rank = group.Rank()
		options = append(options, accel.DataParallel(group))
		if c.zero > 0 {
			options = append(options, accel.ZeRO(c.zero))
		}
	}
	if c.validate {
		options = append(options, accel.Validate(test))
	}
	if c.resumed && group != nil {
		options = append(options, accel.Resume(os.Getenv(rankFile)), accel.StopWhen(func(r *accel.Run) bool {
			return os.Getenv(rankStop) != "" && len(r.Steps) == 7
		}))
	}
	accel.Seed(uint64(7 + 100*rank)) // only the seed of rank 0 matters
	model := c.model()
	rounds := 1
	if c.twice {
		rounds = 2
	}
	for range rounds {
		run, err := accel.Fit(ctx, model, train, append(options, more...)...)
		for _, s := range run.Steps {
			o.Skipped, o.Scales = append(o.Skipped, s.Skipped), append(o.Scales, s.LossScale)
			o.Losses, o.Accuracy = append(o.Losses, s.Loss), append(o.Accuracy, s.Accuracy)
		}
		o.Checks = append(o.Checks, run.Validations...)
		o.Examples, o.Order, o.Text, o.Exchanged = run.Examples, run.Seed, run.Summary(), run.Time.Communication
		if err != nil {
			return o, err
		}
	}
	o.Weights = map[string][]float32{}
	for _, p := range nn.State(model) {
		o.Weights[p.Name] = p.Data()
	}
	return o, nil
}

const (
	rankTask = "QUERN_TEST_RANK_TASK" // the task of a process
	rankOut  = "QUERN_TEST_RANK_OUT"  // the file for its outcome
	rankFile = "QUERN_TEST_RANK_FILE" // the file of Resume
	rankStop = "QUERN_TEST_RANK_STOP" // not empty: stop midway
)

// TestRankProcess is one rank, in a process that another test has started.
func TestRankProcess(t *testing.T) {
	task := os.Getenv(rankTask)
	if task == "" {
		t.Skip("not started as a rank")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	c := rankTrainings[task]
	var options []parallel.Option
	if c.bucket > 0 {
		options = append(options, parallel.Bucket(c.bucket))
	}
	group, err := parallel.Join(ctx, options...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = group.Close() }()
	var o outcome
	if _, ok := rankFailures[task]; ok {
		o, err = failed(ctx, task, group)
	} else {
		o, err = c.train(ctx, group)
	}
	if err != nil {
		o.Error = err.Error()
	}
	var text bytes.Buffer
	if err := gob.NewEncoder(&text).Encode(o); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(os.Getenv(rankOut), text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// processes runs a task in n processes and returns their outcomes.
func processes(t *testing.T, task string, n int) []outcome {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	var running sync.WaitGroup
	outcomes := make([]outcome, n)
	for r := range n {
		running.Go(func() {
			file := filepath.Join(folder, fmt.Sprint(r))
			c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestRankProcess$")
			c.Env = append(os.Environ(), rankTask+"="+task, rankOut+"="+file, rankOut+"_FOLDER="+folder, "RANK="+fmt.Sprint(r), "WORLD_SIZE="+fmt.Sprint(n),
				"MASTER_ADDR=127.0.0.1", "MASTER_PORT="+port, parallel.SecretVariable+"="+t.Name())
			var said bytes.Buffer
			c.Stdout, c.Stderr = &said, &said
			if err := c.Run(); err != nil {
				t.Errorf("rank %d: %v\n%s", r, err, said.String())
				return
			}
			text, err := os.ReadFile(file)
			if errors.Is(err, os.ErrNotExist) {
				return // it exited before writing its outcome
			}
			if err == nil {
				err = gob.NewDecoder(bytes.NewReader(text)).Decode(&outcomes[r])
			}
			if err != nil {
				t.Errorf("rank %d: %v\n%s", r, err, said.String())
			}
		})
	}
	running.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return outcomes
}
