//go:build !race

// These tests do not run with the race detector, which makes the simulated GPU ten times slower.

package optim_test

import (
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
