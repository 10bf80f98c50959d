package accel_test

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/parallel"
	"github.com/quernlab/quern/accel/tensor"
)

// TestRanksEqualOneBigBatch trains in several processes and in one process, and compares the
// weights.
func TestRanksEqualOneBigBatch(t *testing.T) {
	for _, c := range []struct {
		task  string
		ranks []int
	}{
		{"AdamW", []int{2, 3, 4}}, {"small buckets", []int{2, 3}}, {"one left", []int{3}}, {"accumulate", []int{3}},
		{"FP16", []int{2}}, {"validation", []int{2, 3}}, {"recompute", []int{2}}, {"two examples", []int{3}}, {"regression", []int{3}}, {"tokens", []int{3}}, {"frozen", []int{2}}, {"simulated GPU", []int{2}}, {"simulated GPU with NCCL", []int{2, 3}},
	} {
		for _, n := range c.ranks {
			t.Run(fmt.Sprintf("%s on %d", c.task, n), func(t *testing.T) {
				want, err := rankTrainings[c.task].train(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				tolerance := 1e-5 // weights differed by at most 1.8e-6
				switch c.task {
				case "validation":
					// A gradient whose sum is near 0 has a large relative error, and AdamW divides by its size. So the
					// error of a step is a share of the learning rate, here 0.05: weights differed by 1.2e-5.
					tolerance = 0.05 / 1000
				case "FP16": // matrix multiplications round to 11 bits
					tolerance = 2e-4
				}
				all := processes(t, c.task, n)
				for r, got := range all {
					compareOutcomes(t, r, got, want, all[0], tolerance)
				}
				through := "ranks are added by the hosts, since rank 0 reports: simulated: NCCL: switched off"
				if strings.Contains(c.task, "NCCL") {
					through = "ranks are added by NCCL 2.27.3"
				}
				if strings.Contains(c.task, "simulated") && !strings.Contains(all[0].Text, through) {
					t.Error(all[0].Text)
				}
				waiting := fmt.Sprintf("%d ranks; waiting for the gradients of other ranks", n)
				if strings.Contains(c.task, "NCCL") {
					waiting = fmt.Sprintf("%d ranks; waiting for other ranks", n)
				}
				if !strings.Contains(all[0].Text, waiting) || all[0].Exchanged <= 0 {
					t.Error(all[0].Text)
				}
			})
		}
	}
}

// TestResumeOnOtherRanks trains on two ranks and continues on another number of ranks.
func TestResumeOnOtherRanks(t *testing.T) {
	const task = "resumed"
	want, err := rankTrainings[task].train(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{3, 1} {
		t.Setenv(rankFile, filepath.Join(t.TempDir(), "training"))
		t.Setenv(rankStop, "yes")
		for r, o := range processes(t, task, 2) {
			if o.Error != "" || len(o.Losses) >= len(want.Losses) {
				t.Fatalf("rank %d: %d steps, %s", r, len(o.Losses), o.Error)
			}
		}
		t.Setenv(rankStop, "")
		all := processes(t, task, n)
		for r, got := range all {
			compareOutcomes(t, r, got, want, all[0], 1e-5)
			if !strings.Contains(got.Text, "resumed after step") {
				t.Error(got.Text)
			}
		}
	}
}

// TestLayersThatDifferBetweenRanks has layers that compute different values on each rank.
func TestLayersThatDifferBetweenRanks(t *testing.T) {
	all := processes(t, "own statistics", 3)
	for r, got := range all {
		compareOutcomes(t, r, got, all[0], all[0], 0)
		if n := len(got.Losses); n != 12 || !(got.Losses[n-1] < got.Losses[0]) || len(got.Checks) != 3 {
			t.Errorf("rank %d: losses %v, checks %v", r, got.Losses, got.Checks)
		}
	}
	alone, err := rankTrainings["own statistics"].train(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if alone.Losses[1] == all[0].Losses[1] {
		t.Error("the ranks have the random numbers of one process")
	}
}

func compareOutcomes(t *testing.T, rank int, got, want, first outcome, tolerance float64) {
	t.Helper()
	if got.Error != "" || len(got.Weights) != len(want.Weights) {
		t.Fatalf("rank %d: %d tensors, %s", rank, len(got.Weights), got.Error)
	}
	for name, w := range want.Weights {
		g := got.Weights[name]
		for i := range w {
			if math.Abs(float64(g[i]-w[i])) > tolerance {
				t.Fatalf("rank %d: %s[%d] is %v, and %v in one process", rank, name, i, g[i], w[i])
			}
			if math.Float32bits(g[i]) != math.Float32bits(first.Weights[name][i]) {
				t.Fatalf("rank %d: %s[%d] is %v, and %v on rank 0", rank, name, i, g[i], first.Weights[name][i])
			}
		}
	}
	if got.Examples != want.Examples || got.Order != want.Order || len(got.Losses) != len(want.Losses) || len(got.Checks) != len(want.Checks) {
		t.Fatalf("rank %d: %d examples in %d steps, %d validations, order %d; in one process %d in %d, %d, %d", rank,
			got.Examples, len(got.Losses), len(got.Checks), got.Order, want.Examples, len(want.Losses), len(want.Checks), want.Order)
	}
	for i := range want.Losses {
		if math.Abs(got.Losses[i]-want.Losses[i]) > max(1e-4, tolerance)*max(1, math.Abs(want.Losses[i])) || !alike(got.Accuracy[i], want.Accuracy[i]) {
			t.Fatalf("rank %d: step %d has loss %v and accuracy %v, in one process %v and %v", rank, i, got.Losses[i], got.Accuracy[i], want.Losses[i], want.Accuracy[i])
		}
	}
	for i, w := range want.Checks {
		if g := got.Checks[i]; g.Step != w.Step || math.Abs(g.Loss-w.Loss) > max(1e-4, tolerance) || !alike(g.Accuracy, w.Accuracy) {
			t.Fatalf("rank %d: check %d is %+v, in one process %+v", rank, i, g, w)
		}
	}
}

// alike reports whether two accuracies are equal; NaN equals NaN.
func alike(a, b float64) bool { return math.Abs(a-b) < 1e-6 || math.IsNaN(a) && math.IsNaN(b) }

func TestDataParallelOfNoGroup(t *testing.T) {
	train, _, err := data.Digits()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := accel.Fit(t.Context(), rankModel(), train, accel.DataParallel(nil)); err == nil || !strings.Contains(err.Error(), "check the error of parallel.Join") {
		t.Error(err)
	}
	groups, err := parallel.Local(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range groups {
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := accel.Fit(t.Context(), rankModel(), train, accel.DataParallel(groups[1])); !errors.Is(err, parallel.ErrClosed) {
		t.Error(err)
	}
}

func TestDataParallelAlone(t *testing.T) {
	group, err := parallel.Join(t.Context(), parallel.At(parallel.RankInfo{Size: 1}))
	if err != nil {
		t.Fatal(err)
	}
	want, err := rankTrainings["AdamW"].train(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := rankTrainings["AdamW"].train(t.Context(), group)
	if err != nil {
		t.Fatal(err)
	}
	if note := "1 rank computed this"; !strings.Contains(got.Text, note) || strings.Contains(want.Text, note) {
		t.Errorf("%s\nwithout DataParallel: %s", got.Text, want.Text)
	}
	compareOutcomes(t, 0, got, want, want, 0)
}

// Fit rejects a model that the ranks share already, before they exchange anything.
func TestFitRejectsASharedModel(t *testing.T) {
	train, _ := digits(t)
	for _, row := range []struct {
		name    string
		shape   parallel.MeshShape
		inside  bool // the shared model is part of another one
		options func(*parallel.Group) []accel.Option
	}{
		{"alone", parallel.MeshShape{DP: 2, TP: 1, PP: 1}, false, func(*parallel.Group) []accel.Option { return nil }},
		{"DataParallel", parallel.MeshShape{DP: 2, TP: 1, PP: 1}, false, func(g *parallel.Group) []accel.Option { return []accel.Option{accel.DataParallel(g)} }},
		{"ZeRO of a part", parallel.MeshShape{DP: 2, TP: 1, PP: 1}, true, func(g *parallel.Group) []accel.Option {
			return []accel.Option{accel.DataParallel(g), accel.ZeRO(3)}
		}},
		{"pipeline", parallel.MeshShape{DP: 1, TP: 1, PP: 2}, false, func(*parallel.Group) []accel.Option { return nil }},
	} {
		groups, err := parallel.Local(t.Context(), 2)
		if err != nil {
			t.Fatal(err)
		}
		var running sync.WaitGroup
		for r, g := range groups {
			model := nn.Sequential(nn.Flatten(), nn.Dense(8), nn.ReLU(), nn.Dense(10))
			model.Forward(tensor.Zeros(1, 8, 8))
			running.Go(func() {
				mesh, err := parallel.Mesh(t.Context(), g, row.shape.DP, row.shape.TP, row.shape.PP)
				if err != nil {
					t.Error(err)
					return
				}
				defer mesh.Close()
				shared, err := parallel.Distribute(t.Context(), mesh, model)
				if err != nil {
					t.Error(err)
					return
				}
				var trained nn.Module = shared
				if row.inside {
					trained = nn.Sequential(nn.Flatten(), shared)
				}
				_, err = accel.Fit(t.Context(), trained, train, append(row.options(g), accel.Steps(1), accel.Quiet())...)
				if want := "accel: Fit: ranks share the model already"; err == nil || !strings.HasPrefix(err.Error(), want) {
					t.Errorf("%s: rank %d: got %v, want %s", row.name, r, err, want)
				}
				if err := g.Barrier(t.Context()); err != nil {
					t.Errorf("%s: rank %d: %v", row.name, r, err)
				}
			})
		}
		running.Wait()
		for _, g := range groups {
			_ = g.Close()
		}
	}
}
