package accel_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/parallel"
	"github.com/quernlab/quern/accel/tensor"
)

// tiedModel uses its first weight a second time, transposed.
type tiedModel struct {
	In, Out *tensor.Tensor
	Norm    nn.Module
}

func (m *tiedModel) Forward(x *tensor.Tensor) *tensor.Tensor {
	h := m.Norm.Forward(x.Flatten(1).MatMul(m.In)).Tanh()
	return h.MatMul(m.In.Permute(1, 0)).Tanh().MatMul(m.Out)
}

func newTiedModel() nn.Module {
	parameter := func(shape ...int) *tensor.Tensor {
		return tensor.Parameter(tensor.Randn(nil, shape...).MulScalar(0.1).Detach())
	}
	return &tiedModel{In: parameter(64, 12), Out: parameter(64, 10), Norm: nn.LayerNorm()}
}

func syncModel() nn.Module {
	return nn.Sequential(nn.Flatten(), nn.Dense(20), nn.SyncBatchNorm(), nn.ReLU(), nn.Dense(12), nn.SyncBatchNorm(), nn.Tanh(), nn.Dense(10))
}

// syncImages returns a convolutional network with converted BatchNorm layers.
func syncImages() nn.Module {
	m := nn.Sequential(
		nn.Conv2D(4, 3, nn.Same()), nn.BatchNorm(), nn.ReLU(), nn.MaxPool2D(2),
		nn.Residual(nn.Conv2D(4, 3, nn.Same()), nn.BatchNorm(), nn.ReLU()),
		nn.GlobalAvgPool2D(), nn.Dense(10),
	)
	if n := nn.ConvertSyncBatchNorm(m); n != 2 {
		panic(fmt.Sprint(n, " layers converted"))
	}
	return m
}

// equalTrainings lead to the same weights on several ranks as in one process, within a
// tolerance.
var equalTrainings = []struct {
	name      string
	training  rankTraining
	ranks     []int
	tolerance float64
}{
	{"SyncBatchNorm", rankTraining{model: syncModel, examples: 203, validate: true, options: []accel.Option{accel.BatchSize(32), accel.Epochs(2), accel.SGD(0.05, 0.9)}}, []int{2, 4}, 1e-5},
	// The last batch has one example: a rank without examples still normalizes with it.
	{"SyncBatchNorm, two left", rankTraining{model: syncModel, examples: 66, options: []accel.Option{accel.BatchSize(16), accel.Epochs(3), accel.SGD(0.05, 0.9)}}, []int{3, 4}, 1e-5},
	{"SyncBatchNorm of images", rankTraining{model: syncImages, images: true, examples: 100, validate: true, options: []accel.Option{accel.BatchSize(24), accel.Epochs(2), accel.SGD(0.05, 0.9)}}, []int{2, 4}, 1e-5},
	{"SyncBatchNorm, accumulated", rankTraining{model: syncModel, examples: 150, bucket: 1000, options: []accel.Option{accel.BatchSize(16), accel.Accumulate(3), accel.Epochs(3), accel.SGD(0.05, 0.9)}}, []int{3}, 1e-5},
	{"SyncBatchNorm, recomputed", rankTraining{model: syncModel, examples: 96, options: []accel.Option{accel.BatchSize(32), accel.Epochs(2), accel.Recompute(), accel.SGD(0.05, 0.9)}}, []int{2}, 1e-5},
	{"SyncBatchNorm, BF16", rankTraining{model: syncModel, examples: 96, options: []accel.Option{accel.BatchSize(32), accel.Epochs(2), accel.AMP(accel.BF16), accel.SGD(0.01, 0)}}, []int{2}, 2e-3},
	{"clipped", rankTraining{model: rankModel, examples: 130, options: []accel.Option{accel.BatchSize(32), accel.Epochs(2), accel.ClipGradNorm(0.05), accel.SGD(0.5, 0.9)}}, []int{3}, 1e-5},
	{"LAMB", rankTraining{model: rankModel, examples: 130, options: []accel.Option{accel.BatchSize(32), accel.Epochs(2), accel.LAMB(1e-2)}}, []int{3}, 1e-5},
	{"Muon", rankTraining{model: rankModel, examples: 130, options: []accel.Option{accel.BatchSize(32), accel.Epochs(2), accel.Muon(1e-3)}}, []int{3}, 1e-5},
	{"tied weights", rankTraining{model: newTiedModel, examples: 130, bucket: 1000, options: []accel.Option{accel.BatchSize(32), accel.Epochs(2), accel.AdamW(1e-3)}}, []int{2, 3}, 1e-5},
	{"BF16", rankTraining{model: rankModel, examples: 96, options: []accel.Option{accel.BatchSize(32), accel.Epochs(2), accel.AMP(accel.BF16), accel.SGD(0.01, 0)}}, []int{2}, 1e-3},
	// Some examples, on one rank, are so large that its gradients overflow; all ranks skip the
	// step.
	{"FP16, skipped on one rank", rankTraining{model: plainModel, examples: 96, large: true, options: []accel.Option{accel.BatchSize(32), accel.Epochs(2), accel.AMP(accel.FP16), accel.SGD(0.001, 0)}}, []int{3}, 1e-3},
	// The last batch of an epoch has no examples for some ranks.
	{"class weights", rankTraining{model: plainModel, examples: 66, validate: true, options: []accel.Option{accel.BatchSize(16), accel.Epochs(2), accel.SGD(0.05, 0.9),
		accel.Minimize(nn.CrossEntropyLoss(nn.ClassWeights(1, 20, 0.1, 1, 1, 5, 1, 1, 0, 3)))}}, []int{3}, 1e-5},
	{"an ignored class", rankTraining{model: plainModel, examples: 66, validate: true, options: []accel.Option{accel.BatchSize(16), accel.Accumulate(2), accel.Epochs(2), accel.SGD(0.05, 0.9),
		accel.Minimize(nn.CrossEntropyLoss(nn.IgnoreIndex(3)))}}, []int{3}, 1e-5},
	{"ZeRO 1, accumulated", rankTraining{model: rankModel, zero: 1, examples: 130, validate: true, options: []accel.Option{accel.BatchSize(16), accel.Accumulate(3), accel.Epochs(2), accel.ClipGradNorm(0.05), accel.AdamW(1e-3)}}, []int{3}, 1e-5},
	// The last batch has one example: the other ranks have none.
	{"ZeRO 2, one left", rankTraining{model: rankModel, zero: 2, bucket: 1000, examples: 65, validate: true, options: []accel.Option{accel.BatchSize(16), accel.Epochs(2), accel.AdamW(1e-3)}}, []int{3}, 1e-5},
	{"ZeRO 3, one left", rankTraining{model: rankModel, zero: 3, examples: 65, validate: true, options: []accel.Option{accel.BatchSize(16), accel.Accumulate(2), accel.Epochs(2), accel.EarlyStopping(3), accel.ClipGradNorm(0.5), accel.AdamW(1e-3)}}, []int{2, 3}, 1e-5},
	{"ZeRO 3, FP16, skipped on one rank", rankTraining{model: plainModel, zero: 3, examples: 96, large: true, options: []accel.Option{accel.BatchSize(32), accel.Epochs(2), accel.AMP(accel.FP16), accel.SGD(0.001, 0)}}, []int{3}, 1e-3},
	{"ZeRO 2, an ignored class", rankTraining{model: plainModel, zero: 2, examples: 66, validate: true, options: []accel.Option{accel.BatchSize(16), accel.Accumulate(2), accel.Epochs(2), accel.SGD(0.05, 0.9),
		accel.Minimize(nn.CrossEntropyLoss(nn.IgnoreIndex(3)))}}, []int{3}, 1e-5},
	{"simulated GPU, SyncBatchNorm", rankTraining{examples: 10, options: []accel.Option{accel.On("simulated"), accel.BatchSize(4), accel.Epochs(1), accel.SGD(0.05, 0.9)}, model: smallSync}, []int{2}, 1e-5},
	{"simulated GPU with NCCL, SyncBatchNorm", rankTraining{examples: 10, options: []accel.Option{accel.On(simulatedNCCL), accel.BatchSize(4), accel.Epochs(1), accel.SGD(0.05, 0.9)}, model: smallSync}, []int{2}, 1e-5},
	{"simulated GPU with NCCL, ZeRO 3, one left", rankTraining{examples: 9, zero: 3, validate: true, options: []accel.Option{accel.On(simulatedNCCL), accel.BatchSize(4), accel.Epochs(1), accel.AMP(accel.FP16), accel.SGD(0.05, 0.9)}, model: smallPlain}, []int{2}, 1e-3},
}

func plainModel() nn.Module {
	return nn.Sequential(nn.Flatten(), nn.Dense(24), nn.ReLU(), nn.Dense(10))
}

func smallPlain() nn.Module {
	return nn.Sequential(nn.Flatten(), nn.Dense(3), nn.ReLU(), nn.Dense(10))
}

func smallSync() nn.Module {
	return nn.Sequential(nn.Flatten(), nn.Dense(4), nn.SyncBatchNorm(), nn.ReLU(), nn.Dense(10))
}

func init() {
	for _, c := range equalTrainings {
		rankTrainings[c.name] = c.training
	}
}

// TestRanksEqualOneProcess compares layers, optimizers and precisions on several ranks with one
// process.
func TestRanksEqualOneProcess(t *testing.T) {
	for _, c := range equalTrainings {
		for _, n := range c.ranks {
			t.Run(fmt.Sprintf("%s on %d", c.name, n), func(t *testing.T) {
				want, err := c.training.train(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				all := processes(t, c.name, n)
				for r, got := range all {
					compareOutcomes(t, r, got, want, all[0], c.tolerance)
					if !slices.Equal(got.Skipped, want.Skipped) || !slices.Equal(got.Scales, want.Scales) {
						t.Errorf("rank %d: skipped %v at scales %v, in one process %v at %v", r, got.Skipped, got.Scales, want.Skipped, want.Scales)
					}
				}
				if c.training.large && !(slices.Contains(want.Skipped, true) && slices.Contains(want.Skipped, false)) {
					t.Errorf("of the steps should be skipped some: %v", want.Skipped)
				}
			})
		}
	}
}

// TestSyncBatchNormAlone requires SyncBatchNorm to compute like BatchNorm on one rank, and
// outside of data-parallel training.
func TestSyncBatchNormAlone(t *testing.T) {
	group, err := parallel.Join(t.Context(), parallel.At(parallel.RankInfo{Size: 1}))
	if err != nil {
		t.Fatal(err)
	}
	c := rankTrainings["SyncBatchNorm"]
	got, err := c.train(t.Context(), group)
	if err != nil {
		t.Fatal(err)
	}
	c.model = func() nn.Module {
		return nn.Sequential(nn.Flatten(), nn.Dense(20), nn.BatchNorm(), nn.ReLU(), nn.Dense(12), nn.BatchNorm(), nn.Tanh(), nn.Dense(10))
	}
	want, err := c.train(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	compareOutcomes(t, 0, got, want, want, 0)
}

// ownLoop trains with the loop in the documentation of parallel.Gradients and a model with
// SyncBatchNorm.
func ownLoop(ctx context.Context, group *parallel.Group, standIn bool) (weights []float32, err error) {
	defer nn.Catch(&err)
	digits, _, err := data.Digits()
	if err != nil {
		return nil, err
	}
	set := digits.First(6)
	accel.Seed(9)
	model := nn.Sequential(nn.Flatten(), nn.Dense(5), nn.SyncBatchNorm(), nn.Tanh(), nn.Dense(10))
	if _, err := accel.PredictDataset(ctx, model, set.First(1)); err != nil {
		return nil, err
	}
	opt := optim.SGD(model, 0.1)
	gradients := parallel.NewGradients(group, model)
	if err := gradients.Begin(ctx); err != nil {
		return nil, err
	}
	defer gradients.End()
	batches := set.Batches(4, data.Shard(group.Rank(), group.Size())) // batches of 4 and of 2
	for batches.Next() {
		b := batches.Batch()
		opt.ZeroGrad()
		var loss *tensor.Tensor
		switch {
		case b.Len() > 0:
			loss = nn.CrossEntropy(model.Forward(b.X), b.Y)
			err = gradients.Backward(ctx, loss, b.Share())
		case standIn:
			_, err = gradients.Exchange(ctx, parallel.Exchange{Backward: func() {
				gradients.Idle(func() { model.Forward(tensor.Ones(1, 8, 8)).Sum().MulScalar(0).Backward() })
			}})
		default:
			err = gradients.Backward(ctx, nil, 0)
		}
		if err != nil {
			return nil, err
		}
		opt.Step()
	}
	for _, p := range nn.State(model) {
		weights = append(weights, p.Data()...)
	}
	return weights, batches.Err()
}

func init() {
	rankFailures["own loop"] = func(ctx context.Context, group *parallel.Group) error {
		alone, err := parallel.Join(ctx, parallel.At(parallel.RankInfo{Size: 1}))
		if err != nil {
			return err
		}
		want, err := ownLoop(ctx, alone, true)
		if err != nil {
			return err
		}
		got, err := ownLoop(ctx, group, true)
		if err != nil {
			return err
		}
		for i, w := range want {
			if !(math.Abs(float64(got[i]-w)) <= 1e-5) {
				return fmt.Errorf("weight %d is %v, and %v in one process", i, got[i], w)
			}
		}
		return nil
	}
	rankFailures["own loop without examples"] = func(ctx context.Context, group *parallel.Group) error {
		_, err := ownLoop(ctx, group, false)
		return err
	}
}

// TestOwnLoopWithSyncBatchNorm has a rank without examples, which participates or makes all
// ranks fail.
func TestOwnLoopWithSyncBatchNorm(t *testing.T) {
	for r, o := range processes(t, "own loop", 3) {
		if o.Error != "" {
			t.Errorf("rank %d: %s", r, o.Error)
		}
	}
	named := false
	for r, o := range processes(t, "own loop without examples", 3) {
		// The rank that finds the error first ends its process, perhaps before another rank
		// finds it.
		reason := strings.Contains(o.Error, "rank 2 has no examples, but nn.SyncBatchNorm needs some on each")
		if named = named || reason; !reason && !strings.HasSuffix(o.Error, " ended") {
			t.Errorf("rank %d: %q", r, o.Error)
		}
	}
	if !named {
		t.Error("no rank names the reason")
	}
}

// enlarged returns a data set in which some examples have large values.
func enlarged(set *data.Dataset) (*data.Dataset, error) {
	x, labels := make([][]float32, set.Len()), make([]int, set.Len())
	for i := range x {
		x[i], labels[i] = set.Example(i), set.Label(i)
		if i%40 == 3 {
			for k := range x[i] {
				x[i][k] *= 60
			}
		}
	}
	return data.FromSlices(x, labels)
}
