//go:build !race

// These tests do not run with the race detector, which makes the simulated GPU ten times slower.

package optim_test

import (
	"runtime"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	_ "github.com/quernlab/quern/accel/simulated" // "simulated"
	"github.com/quernlab/quern/accel/tensor"
)

// TestNewOptimizersOnCUDA compares steps on a simulated GPU with those on the CPU.
func TestNewOptimizersOnCUDA(t *testing.T) {
	run := func(device string) (values []float64) {
		if err := tensors.SetDevice(device); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := tensors.SetDevice("cpu"); err != nil {
				t.Error(err)
			}
		}()
		tensors.Seed(1)
		x, y := tensor.Randn(tensor.NewGenerator(1), 8, 4), tensor.Randn(tensor.NewGenerator(2), 8, 2)
		model := nn.Sequential(nn.Dense(3), nn.Tanh(), nn.Dense(2))
		loss := func() *tensor.Tensor { return nn.MSE(model.Forward(x), y) }
		loss()
		opt, scaler := optim.NAdam(model, 0.05, optim.ClipGradValue(0.1), optim.RecordGradNorm()), optim.NewGradScaler()
		for range 5 {
			opt.ZeroGrad()
			scaler.Scale(loss()).Backward()
			scaler.Step(opt)
			values = append(values, opt.GradNorm().Item())
		}
		for range 5 {
			opt.ZeroGrad()
			loss().Backward()
			opt.Step()
			values = append(values, opt.GradNorm().Item())
		}
		second := optim.LBFGS(model, 1, optim.StrongWolfe(), optim.MaxIterations(4))
		for range 2 {
			values = append(values, second.Step(func() *tensor.Tensor {
				l := loss()
				l.Backward()
				return l
			}))
		}
		return append(values, loss().Item())
	}
	closeTo(t, "values", run("simulated:8.9"), run("cpu"), 1e-4)
}

// TestFailedStepOnCUDA makes a step with a token or a class that does not exist, which a GPU notices later. The parameters stay as they were,
// also in the first step, in which a forward pass without Backward may still need them, so that their new values have memory of their own.
func TestFailedStepOnCUDA(t *testing.T) {
	if err := tensors.SetDevice("simulated"); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := tensors.SetDevice("cpu"); err != nil {
			t.Error(err)
		}
	}()
	good, classes := tensor.FromInts([]int{1, 2, 3}, 3), tensor.FromInts([]int{0, 1, 2}, 3)
	for name, of := range map[string]func(any, float64, ...optim.Option) *optim.Optimizer{"SGD": optim.SGD, "AdamW": optim.AdamW, "RMSprop": optim.RMSprop, "Lion": optim.Lion} {
		for what, batch := range map[string][2]*tensor.Tensor{
			"token": {tensor.FromInts([]int{1, 9, 3}, 3), classes},
			"class": {good, tensor.FromInts([]int{0, 9, 2}, 3)},
		} {
			for steps := range 2 { // before the failed one
				model := nn.Sequential(nn.Embedding(5, 4), nn.Dense(5))
				waits := model.Forward(good)
				opt := of(model, 0.1)
				step := func(x, y *tensor.Tensor) {
					opt.ZeroGrad()
					nn.CrossEntropy(model.Forward(x), y).Backward()
					opt.Step()
				}
				values := func() (all []float32, err error) {
					defer nn.Catch(&err)
					for _, p := range nn.Parameters(model) {
						all = append(all, p.Data()...)
					}
					return all, nil
				}
				for range steps {
					step(good, classes)
				}
				before, err := values()
				if err != nil {
					t.Fatal(err)
				}
				step(batch[0], batch[1])
				if _, err := values(); err == nil {
					t.Fatalf("%s, %s: no error", name, what)
				}
				if after, err := values(); err != nil || !slices.Equal(after, before) {
					t.Errorf("%s, %s after %d steps: %v\nwere\n%v\nare\n%v", name, what, steps, err, before, after)
				}
				step(good, classes)
				if after, err := values(); err != nil || slices.Equal(after, before) || slices.ContainsFunc(after, func(v float32) bool { return v != v }) {
					t.Errorf("%s, %s after %d steps: the next step has made %v, %v", name, what, steps, after, err)
				}
				runtime.KeepAlive(waits)
			}
		}
	}
}

// TestSteadyStepsOnCUDA trains in each precision on a simulated GPU. After the first steps,
// each step must launch one graph, allocate nothing, and wait for nothing, including the skip
// decision of the gradient scaler.
func TestSteadyStepsOnCUDA(t *testing.T) {
	if err := tensors.SetDevice("simulated:8.9"); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := tensors.SetDevice("cpu"); err != nil {
			t.Error(err)
		}
	}()
	for name, cast := range map[string]func(f func()){
		"bfloat16": func(f func()) { tensor.Autocast(tensor.BFloat16, f) },
		"float16":  func(f func()) { tensor.Autocast(tensor.Float16, f) },
		"FP8":      tensor.AutocastFP8,
	} {
		t.Run(name, func(t *testing.T) {
			g := tensor.NewGenerator(1)
			x, y := tensor.Randn(g, 16, 32), tensor.FromInts([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, 16)
			model := nn.Sequential(nn.Dense(32), nn.LayerNorm(), nn.ReLU(), nn.Dense(32), nn.BatchNorm(), nn.Dense(16))
			opt, scaler := optim.AdamW(model, 1e-3), optim.NewGradScaler()
			step := func() {
				var logits, loss *tensor.Tensor
				cast(func() {
					logits = model.Forward(x)
					loss = nn.CrossEntropy(logits, y)
				})
				opt.ZeroGrad()
				if name == "float16" {
					scaled := scaler.Scale(loss)
					scaled.Backward()
					scaler.Step(opt)
					scaled.Release()
				} else {
					loss.Backward()
					opt.Step()
				}
				loss.Release()
				logits.Release()
			}
			for range 8 {
				step()
			}
			tensors.ResetStats()
			const steps = 4
			for range steps {
				step()
			}
			s := tensors.Stats()
			if n := s.Device.Launches; n != steps {
				t.Errorf("%d launches in %d steps", n, steps)
			}
			for what, n := range map[string]int{
				"plans": s.PlansMade, "results read": s.Syncs, "waits": s.Device.Waits,
				"allocations": s.Device.Allocs, "graphs": s.Device.Graphs, "revisions": s.Device.Revisions,
			} {
				if n != 0 {
					t.Errorf("%d %s in %d steps", n, what, steps)
				}
			}
			if name == "float16" && (opt.Steps() != 12 || scaler.Skipped() != 0) {
				t.Errorf("%d steps and %v", opt.Steps(), scaler)
			}
		})
	}
}
