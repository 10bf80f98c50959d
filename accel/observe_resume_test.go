package accel_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
)

// fragile runs a function in the nth call of Forward.
type fragile struct {
	Layers nn.Module
	calls  int
	at     int
	event  func()
}

func (f *fragile) Forward(x *nn.Tensor) *nn.Tensor {
	if f.calls++; f.calls == f.at {
		f.event()
	}
	return f.Layers.Forward(x)
}

func newFragile(at int, event func()) *fragile {
	return &fragile{at: at, event: event, Layers: nn.Sequential(nn.Flatten(), nn.Dense(12), nn.BatchNorm(), nn.ReLU(), nn.Dropout(0.3), nn.Dense(10))}
}

// history returns what two runs must have in common.
func history(r *accel.Run) string {
	var b strings.Builder
	for _, s := range r.Steps {
		fmt.Fprintln(&b, "step", s.Epoch, s.Loss, s.Accuracy, s.LearningRate, s.Skipped)
	}
	for _, e := range r.Epochs {
		fmt.Fprintln(&b, "epoch", e.Steps, e.Loss, e.Accuracy)
	}
	fmt.Fprintln(&b, r.Validations, r.Best, r.Seed, r.Examples, r.Loss(), r.Accuracy())
	return b.String()
}

// TestResumeEqualsOneTraining ends a training, with every source of randomness in use, at some call of Forward,
// by its context or as if the process were killed, and continues with another model object
// after another seed.
func TestResumeEqualsOneTraining(t *testing.T) {
	train, test := digits(t)
	train, test = train.First(150), test.First(40)
	tests := []struct {
		name    string
		options []accel.Option
	}{
		{"adamw", []accel.Option{accel.AdamW(3e-3), accel.WarmupCosine(5)}},
		{"groups", []accel.Option{accel.SGD(0.1, 0.9), accel.Accumulate(2), accel.OneCycleLR()}},
		{"early stop", []accel.Option{accel.AdamW(0.1), accel.Validate(test), accel.EarlyStopping(1)}},
		{"validated by steps", []accel.Option{accel.AdamW(0.05), accel.Validate(test), accel.ValidateEvery(3), accel.ReduceLROnPlateau(0, 0.5)}},
		{"steps", []accel.Option{accel.Muon(0.01), accel.Steps(11), accel.ClipGradNorm(1)}},
		{"lamb", []accel.Option{accel.LAMB(0.01)}},
		{"rmsprop", []accel.Option{accel.RMSprop(0.01)}},
		{"adagrad", []accel.Option{accel.Adagrad(0.01)}},
		{"lion", []accel.Option{accel.Lion(0.001)}},
		{"nadam", []accel.Option{accel.NAdam(0.01), accel.RecordGradNorm(), accel.CosineAnnealingLR(0.1)}},
		{"nadam, FP16", []accel.Option{accel.NAdam(0.01), accel.AMP(accel.FP16), accel.RecordGradNorm(), accel.ClipGradValue(0.1)}},
		{"adam", []accel.Option{accel.Adam(0.01)}},
		{"adam, FP16", []accel.Option{accel.Adam(0.01), accel.AMP(accel.FP16)}},
		{"adamw, FP16", []accel.Option{accel.AdamW(3e-3), accel.AMP(accel.FP16), accel.WarmupCosine(5)}},
		{"lamb, FP16", []accel.Option{accel.LAMB(0.01), accel.AMP(accel.FP16), accel.Accumulate(2)}},
		{"drop last, weighted", []accel.Option{accel.DropLast(), accel.WeightedRandomSampler(increasing(150))}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			options := append([]accel.Option{accel.Epochs(4), accel.BatchSize(32), accel.Quiet()}, tt.options...)
			accel.Seed(5)
			model := newFragile(0, nil)
			uninterrupted, err := accel.Fit(t.Context(), model, train, options...)
			want := history(must(t, uninterrupted, err))
			for i, at := range []int{1, 5, 6, 8, 12} {
				for _, kill := range []bool{i%2 == 0, i < 2} {
					path := filepath.Join(t.TempDir(), "run.safetensors")
					options := append(slices.Clone(options), accel.Resume(path))
					accel.Seed(5)
					interrupted(t, at, kill, func(ctx context.Context, m nn.Module) error {
						_, err := accel.Fit(ctx, m, train, append(options, accel.SaveEvery(2))...)
						return err
					})
					if _, err := os.Stat(path); err != nil {
						if !kill || at > 4 {
							t.Fatal(err)
						}
						continue // killed before anything was written
					}
					accel.Seed(99)
					again := newFragile(0, nil)
					run, err := accel.Fit(t.Context(), again, train, options...)
					must(t, run, err)
					if got := history(run); got != want {
						t.Fatalf("ended at call %d, kill %v\nwant %s\ngot  %s", at, kill, want, got)
					}
					if !slices.Equal(weights(again), weights(model)) {
						t.Fatalf("ended at call %d, kill %v: other weights", at, kill)
					}
					// A finished training is not changed.
					accel.Seed(98)
					third := newFragile(0, nil)
					run, err = accel.Fit(t.Context(), third, train, options...)
					if got := history(must(t, run, err)); got != want || !slices.Equal(weights(third), weights(model)) {
						t.Fatalf("the finished run, taken up\nwant %s\ngot  %s", want, got)
					}
				}
			}
		})
	}
}

// TestResumeEMA continues an average of the parameters, also that of a training that had finished.
func TestResumeEMA(t *testing.T) {
	train, _ := digits(t)
	train = train.First(150)
	options := []accel.Option{accel.Epochs(3), accel.BatchSize(32), accel.SGD(0.1, 0.9), accel.Quiet()}
	fit := func(ctx context.Context, m nn.Module, more ...accel.Option) ([]uint32, error) {
		average := optim.NewEMA(m, 0.9)
		_, err := accel.Fit(ctx, m, train, append(append(slices.Clone(options), accel.EMA(average)), more...)...)
		defer average.Use()()
		return weights(m), err
	}
	accel.Seed(5)
	want, err := fit(t.Context(), newFragile(0, nil))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "run.safetensors")
	accel.Seed(5)
	interrupted(t, 8, true, func(ctx context.Context, m nn.Module) error {
		_, err := fit(ctx, m, accel.Resume(path), accel.SaveEvery(2))
		return err
	})
	for _, what := range []string{"continued", "finished"} {
		got, err := fit(t.Context(), newFragile(0, nil), accel.Resume(path))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: other averages, %v", what, err)
		}
	}
	if _, err := fit(t.Context(), newFragile(0, nil), accel.EMA(optim.NewEMA(nn.Dense(1), 0.9))); err == nil || !strings.Contains(err.Error(), "two averages") {
		t.Errorf("two averages: %v", err)
	}
	without := filepath.Join(t.TempDir(), "run.safetensors")
	if _, err := accel.Fit(t.Context(), newFragile(0, nil), train, append(options, accel.Resume(without))...); err != nil {
		t.Fatal(err)
	}
	if _, err := fit(t.Context(), newFragile(0, nil), accel.Resume(without)); err == nil || !strings.Contains(err.Error(), "has no average") {
		t.Errorf("a file without averages: %v", err)
	}
}

// interrupted trains a model until a call of Forward, where the context ends or a panic
// simulates a kill.
func interrupted(t *testing.T, at int, kill bool, fit func(ctx context.Context, m nn.Module) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	model := newFragile(at, cancel)
	if kill {
		model.event = func() { panic("killed") }
	}
	defer func() {
		if p := recover(); p != nil && p != "killed" {
			panic(p)
		}
	}()
	if err := fit(ctx, model); err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

func TestResumeRegression(t *testing.T) {
	set := line(t)
	path := filepath.Join(t.TempDir(), "run.safetensors")
	var runs []*accel.Run
	for _, epochs := range []int{2, 4} {
		run, err := accel.Fit(t.Context(), nn.Dense(1), set, accel.Epochs(epochs), accel.SGD(0.1, 0), accel.Resume(path), accel.Quiet())
		runs = append(runs, must(t, run, err))
	}
	if len(runs[0].Steps) != 8 || len(runs[1].Steps) != 16 || !math.IsNaN(runs[1].Steps[0].Accuracy) {
		t.Errorf("%d and %d steps, accuracy %v", len(runs[0].Steps), len(runs[1].Steps), runs[1].Steps[0].Accuracy)
	}
	if text := runs[1].Summary(); !strings.Contains(text, "resumed after step 8 in epoch 2") {
		t.Errorf("summary\n%s", text)
	}
}

func TestResumeRefuses(t *testing.T) {
	train, _ := digits(t)
	train = train.First(64)
	path := filepath.Join(t.TempDir(), "run.safetensors")
	fit := func(m nn.Module, options ...accel.Option) error {
		_, err := accel.Fit(t.Context(), m, train, append(options, accel.Epochs(1), accel.Quiet(), accel.Resume(path))...)
		return err
	}
	if err := fit(mlp(4)); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		err  error
		want string
	}{
		"model":     {fit(mlp(5)), "shape"},
		"batch":     {fit(mlp(4), accel.BatchSize(16)), "the batch size in the file is 64, but here it is 16"},
		"optimizer": {fit(mlp(4), accel.SGD(0.1, 0)), "the optimizer in the file is AdamW, but here it is SGD"},
		"drop last": {fit(mlp(4), accel.DropLast()), "the value of DropLast in the file is false, but here it is true"},
		"sampler":   {fit(mlp(4), accel.WeightedRandomSampler(increasing(64))), "the sampler in the file is none, but here it is WeightedRandomSampler(64 weights)"},
	} {
		if tt.err == nil || !strings.Contains(tt.err.Error(), tt.want) || !strings.Contains(tt.err.Error(), path) {
			t.Errorf("%s: want %q, got %v", name, tt.want, tt.err)
		}
	}
	if err := nn.Save(path, mlpWithWeights(t)); err != nil {
		t.Fatal(err)
	}
	if err := fit(mlp(4)); err == nil || !strings.Contains(err.Error(), "not a saved training") {
		t.Errorf("a file of weights: %v", err)
	}
	if err := os.WriteFile(path, []byte("nonsense"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := fit(mlp(4)); err == nil {
		t.Error("nonsense is taken")
	}
	path = ""
	if err := fit(mlp(4)); err == nil || err.Error() != `accel: Resume(""): the path is empty` {
		t.Errorf("no path: %v", err)
	}
}

// TestFoldersAreCheckedFirst requires an error before the first step if a file cannot be written later.
func TestFoldersAreCheckedFirst(t *testing.T) {
	train, _ := digits(t)
	train = train.First(32)
	missing := filepath.Join(t.TempDir(), "none", "a.safetensors")
	folder := t.TempDir()
	for _, row := range []struct {
		option accel.Option
		want   string
	}{
		{accel.Resume(missing), fmt.Sprintf("accel: Resume(%q): save the training: create %s: no such file or directory: create its folder before the training", missing, missing)},
		{accel.SaveBest(missing), fmt.Sprintf("accel: SaveBest(%q): create %s: no such file or directory: create its folder before the training", missing, missing)},
		{accel.SaveBest(folder), fmt.Sprintf("accel: SaveBest(%q): replace %s: is a folder", folder, folder)},
	} {
		run, err := accel.Fit(t.Context(), mlp(4), train, row.option, accel.Validate(train), accel.Epochs(1), accel.Quiet())
		if err == nil || err.Error() != row.want || len(run.Steps) > 0 {
			t.Errorf("%d steps, got %v, want %s", len(run.Steps), err, row.want)
		}
	}
}

// increasing returns weights of examples, 1, 2 and so on.
func increasing(n int) []float64 {
	weights := make([]float64, n)
	for i := range weights {
		weights[i] = float64(i + 1)
	}
	return weights
}

// mlpWithWeights returns a model that has its parameters.
func mlpWithWeights(t *testing.T) nn.Module {
	m := mlp(4)
	train, _ := digits(t)
	if _, err := accel.Evaluate(t.Context(), m, train.First(2)); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestKill kills a process during a training, and continues from the file that it left.
func TestKill(t *testing.T) {
	path := os.Getenv("ACCEL_TEST_KILL")
	train, _ := digits(t)
	train = train.First(300)
	fit := func(options ...accel.Option) (*accel.Run, nn.Module, error) {
		accel.Seed(11)
		model := nn.Sequential(nn.Flatten(), nn.Dense(16), nn.ReLU(), nn.Dropout(0.2), nn.Dense(10))
		run, err := accel.Fit(t.Context(), model, train, append(options, accel.BatchSize(32), accel.AdamW(0.01), accel.Quiet())...)
		return run, model, err
	}
	if path != "" { // the process to be killed: it trains until then
		if _, _, err := fit(accel.Epochs(1<<20), accel.Resume(path), accel.SaveEvery(3)); err != nil {
			t.Fatal(err)
		}
		return
	}
	path = filepath.Join(t.TempDir(), "run.safetensors")
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKill$")
	child.Env = append(os.Environ(), "ACCEL_TEST_KILL="+path)
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	var tensors map[string]*nn.Tensor
	deadline := time.Now().Add(5 * time.Minute)
	for tensors == nil { // until the first file is complete
		if time.Now().After(deadline) {
			t.Fatal("the process has written nothing")
		}
		if _, err := os.Stat(path); err == nil {
			var err error
			if tensors, _, err = nn.LoadTensors(path); err != nil {
				t.Fatal(err)
			}
		}
		runtime.Gosched()
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // it was killed
	// The file is complete. How far the training came is random, so the uninterrupted run makes
	// as many steps and ten more.
	probe, _, err := fit(accel.Steps(1), accel.Resume(path))
	steps := len(must(t, probe, err).Steps) + 10
	resumed, got, err := fit(accel.Steps(steps), accel.Resume(path))
	must(t, resumed, err)
	uninterrupted, want, err := fit(accel.Steps(steps))
	must(t, uninterrupted, err)
	if history(resumed) != history(uninterrupted) || !slices.Equal(weights(got), weights(want)) {
		t.Errorf("after a kill\nwant %s\ngot  %s", history(uninterrupted), history(resumed))
	}
}

// TestResumeFindsDamage flips a bit in each part of a checkpoint: the training does not continue.
func TestResumeFindsDamage(t *testing.T) {
	set := rareClasses(t, 60)
	path := filepath.Join(t.TempDir(), "training")
	fit := func(steps int) error {
		accel.Seed(1)
		_, err := accel.Fit(t.Context(), nn.Sequential(nn.Dense(4), nn.ReLU(), nn.Dense(3)), set, accel.Steps(steps), accel.BatchSize(16), accel.Quiet(), accel.Resume(path))
		return err
	}
	if err := fit(3); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(good); i += 7 {
		b := slices.Clone(good)
		b[i] ^= 1 << (i % 8)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		var corrupt *nn.CorruptFileError
		if err := fit(5); !errors.As(err, &corrupt) {
			t.Fatalf("bit %d of byte %d of %d: %v", i%8, i, len(good), err)
		}
	}
	if err := os.WriteFile(path, good, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := fit(5); err != nil {
		t.Error(err)
	}
}
