package parallel

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
)

// distributeErrors are models, meshes of 2 ranks and options that Distribute rejects on all ranks.
var distributeErrors = []struct {
	name    string
	mesh    MeshShape
	model   func(rank int) nn.Module // smallGPT if nil
	options func(rank int) []Option
	want    string
}{
	{"heads that cannot be divided", MeshShape{1, 2, 1}, func(int) nn.Module {
		return nn.Sequential(nn.Embedding(gptTokens, 15), nn.SelfAttention(3))
	}, always(SplitHeads("1")), "layer 1: its 3 heads cannot be divided by 2 ranks"},
	{"a width that cannot be divided", MeshShape{1, 2, 1}, func(int) nn.Module {
		return nn.Sequential(nn.Embedding(gptTokens, 8), nn.Dense(9), nn.ReLU(), nn.Dense(8))
	}, always(Split("1", "3")), "layer 1: its 9 outputs cannot be divided by 2 ranks"},
	{"a first layer without a second", MeshShape{1, 2, 1}, nil, always(Split("[35].1", "3.3")), "1 more layers match the first pattern than the second"},
	{"a layer that does not exist", MeshShape{1, 2, 1}, nil, always(SplitHeads("9.*")), `SplitHeads("9.*"): the model has no such layer`},
	{"a pattern that is none", MeshShape{1, 2, 1}, nil, always(SplitHeads("[")), "syntax error in pattern"},
	{"heads of a linear layer", MeshShape{1, 2, 1}, nil, always(SplitHeads("7")), "layer 7 is Dense(17), which it cannot divide"},
	{"a softmax between two layers", MeshShape{1, 2, 1}, func(int) nn.Module {
		return nn.Sequential(nn.Embedding(gptTokens, 8), nn.Dense(8), nn.Softmax(-1), nn.Dense(8))
	}, always(Split("1", "3")), "layer 2, Softmax(-1), is between them"},
	{"a slope between two layers", MeshShape{1, 2, 1}, func(int) nn.Module {
		return nn.Sequential(nn.Embedding(gptTokens, 8), nn.Sequential(nn.Dense(8), nn.PReLU(), nn.Dense(8)))
	}, always(Split("1.0", "1.2")), "layer 1.1, PReLU(), is between them"},
	{"recomputed layers with ZeRO 3", MeshShape{2, 1, 1}, func(int) nn.Module {
		return nn.Sequential(nn.Embedding(gptTokens, 8), nn.Residual(nn.Recompute(nn.Dense(8))), nn.Dense(gptTokens))
	}, always(ZeRO(3)), "is an nn.Recompute, whose second pass ZeRO(3) cannot give"},
	{"nothing to divide", MeshShape{1, 2, 1}, nil, nil, "no option says which: add Split, SplitHeads or SplitVocabulary"},
	{"tokens that cannot be divided", MeshShape{1, 2, 1}, nil, always(SplitVocabulary("0", "7")), "layer 0: its 17 tokens cannot be divided by 2 ranks"},
	{"logits that are not the results", MeshShape{1, 2, 1}, vocabularyOn, always(SplitVocabulary("0", "5.3")), "layer 5.3: it is not the last layer"},
	{"a head that computes no logits", MeshShape{1, 2, 1}, vocabularyOn, always(SplitVocabulary("0", "6")), "layer 6: it is LayerNorm(), but the second pattern"},
	{"an embedding that is none", MeshShape{1, 2, 1}, vocabularyOn, always(SplitVocabulary("1", "7")), "layer 1: it is PositionEmbedding(6, 16), but the first pattern"},
	{"the heads of an embedding", MeshShape{1, 2, 1}, vocabularyOn, always(SplitHeads("0")), "layer 0 is Embedding(18, 16), which it cannot divide"},
	{"a tied layer without its embedding", MeshShape{1, 2, 1}, func(int) nn.Module {
		d := nn.Dense(gptTokens + 1)
		return nn.Sequential(nn.Embedding(gptTokens+1, 8), d, nn.Dense(8), nn.TiedDense(d))
	}, always(SplitVocabulary("0", "3")), "is not divided"},
	{"more stages than modules", MeshShape{1, 1, 2}, func(int) nn.Module { return &wrapped{nn.Dense(3)} }, nil, "has 2 stages, but the model is an nn.Sequential of 1 modules"},
	{"no such stages", MeshShape{1, 1, 2}, nil, always(StagesAt(3, 5)), "StagesAt([3 5]): 2 stages of 8 modules need 1 increasing indices from 1 to 7"},
	{"a weight in two stages", MeshShape{1, 1, 2}, func(int) nn.Module {
		norm := nn.BatchNorm()
		return nn.Sequential(nn.Embedding(gptTokens, 8), norm, nn.Dense(8), norm)
	}, always(StagesAt(2)), "stages 0 and 1 of the pipeline both use 1.running_mean, which is not trained"},
	{"a stage without parameters", MeshShape{1, 1, 2}, func(int) nn.Module {
		return nn.Sequential(nn.Embedding(gptTokens, 4), nn.Tanh(), nn.Sigmoid())
	}, nil, "stage 1 has no parameters to train"},
	{"fewer parameters than ranks", MeshShape{2, 1, 1}, func(int) nn.Module { return &wrapped{nn.Dense(1, nn.NoBias())} }, nil, "replica 1 of 2 would have none"},
	{"another model", MeshShape{2, 1, 1}, func(rank int) nn.Module {
		return nn.Sequential(nn.Embedding(gptTokens, 4+rank))
	}, nil, "the model of rank 1 is not that of rank 0"},
	{"other options", MeshShape{2, 1, 1}, nil, func(rank int) []Option { return only(ZeRO(1 + rank)) }, "has the options [ZeRO("},
	{"an unknown stage of ZeRO", MeshShape{2, 1, 1}, nil, always(ZeRO(4)), "the stage must be 1, 2 or 3"},
	{"no micro-batch", MeshShape{1, 1, 2}, nil, always(MicroBatches(0)), "parallel: MicroBatches(0)"},
	{"no micro-batch on one rank", MeshShape{1, 1, 2}, nil, func(rank int) []Option { return only(MicroBatches(1 - rank)) }, "rank 1: parallel: MicroBatches(0)"},
	{"a layer that waits for all ranks", MeshShape{2, 1, 1}, func(int) nn.Module {
		return nn.Sequential(nn.Embedding(gptTokens, 4), nn.Flatten(), nn.SyncBatchNorm(), nn.Dense(2))
	}, nil, "parallel: Distribute: nn.SyncBatchNorm is not supported"},
	{"a layer that waits for all ranks, on one", MeshShape{2, 1, 1}, func(rank int) nn.Module {
		return nn.Sequential(nn.Embedding(gptTokens, 4), nn.Flatten(), []nn.Module{nn.LayerNorm(), nn.SyncBatchNorm()}[rank], nn.Dense(2))
	}, nil, "rank 1: parallel: Distribute: nn.SyncBatchNorm is not supported"},
}

// wrapped is a model that is no chain. Its input is a number.
type wrapped struct{ Layer nn.Module }

func (w *wrapped) Forward(x *tensor.Tensor) *tensor.Tensor {
	return w.Layer.Forward(x.Cast(tensor.Float32).Slice(1, 0, 1))
}

func always(o ...Option) func(int) []Option {
	return func(int) []Option { return o }
}

func init() {
	rankTasks["errors"] = func(ctx context.Context, g *Group) (any, error) {
		all := map[string]string{}
		for _, c := range distributeErrors {
			mesh, err := Mesh(ctx, g, c.mesh.DP, c.mesh.TP, c.mesh.PP)
			if err != nil {
				return nil, err
			}
			training := distributedTraining{}
			if c.model != nil {
				training.model = func() nn.Module { return c.model(g.Rank()) }
			}
			var options []Option
			if c.options != nil {
				options = c.options(g.Rank())
			}
			if _, err := Distribute(ctx, mesh, training.newModel(1), options...); err != nil {
				all[c.name] = err.Error()
			}
			if err := mesh.Close(); err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
		}
		return all, nil
	}
}

// TestAStageWithFewParameters requires an error on all ranks, also on those of other stages.
func TestAStageWithFewParameters(t *testing.T) {
	all := ranks(t, 4)
	made := meshes(t, all, MeshShape{2, 1, 2})
	models := make([]nn.Module, len(all))
	for r := range models {
		models[r] = distributedTraining{model: func() nn.Module { return nn.Sequential(nn.Embedding(gptTokens, 4), nn.PReLU()) }}.newModel(1)
	}
	for r, err := range each(t, all, func(ctx context.Context, g *Group) error {
		_, err := Distribute(ctx, made[g.Rank()], models[g.Rank()])
		return errors.Join(err, g.Barrier(ctx)) // the group can still be used
	}) {
		if err == nil || !strings.Contains(err.Error(), "rank 2: parallel: Distribute: the model has so few parameters that replica 1 of 2 would have none") {
			t.Errorf("rank %d: %v", r, err)
		}
	}
}

func TestDistributeErrors(t *testing.T) {
	for rank, got := range onRanks[map[string]string](t, "errors", 2) {
		for _, c := range distributeErrors {
			if !strings.Contains(got[c.name], c.want) {
				t.Errorf("rank %d, %s: %q, want %q", rank, c.name, got[c.name], c.want)
			}
		}
	}
}

// pipelines distributes a model over stages, and over replicas with ZeRO 1, whose ranks can be goroutines.
func pipelines(t *testing.T, s MeshShape, options ...Option) ([]*Group, []*DistributedModel) {
	t.Helper()
	all := ranks(t, s.Size())
	made := meshes(t, all, s)
	models := make([]nn.Module, len(all))
	for r := range models { // the goroutines share the random numbers of the process
		models[r] = distributedTraining{}.newModel(uint64(r))
	}
	shared := make([]*DistributedModel, len(all))
	mustEach(t, all, func(ctx context.Context, g *Group) (err error) {
		shared[g.Rank()], err = Distribute(ctx, made[g.Rank()], models[g.Rank()], options...)
		return err
	})
	return all, shared
}

// TestARankDiesInAStep requires an error that names the rank and the step on all other ranks.
func TestARankDiesInAStep(t *testing.T) {
	const dead = 2
	all, shared := pipelines(t, MeshShape{DP: 2, TP: 1, PP: 2}, MicroBatches(2))
	for r, err := range each(t, all, func(ctx context.Context, g *Group) error {
		x, y := gptTokensOf(0, 0)
		for step := range 5 {
			if g.Rank() == dead && step == 2 {
				m := shared[dead].distribution().mesh
				for _, sub := range []*Group{g, m.PP, m.DP} { // as the end of a process, which announces nothing
					for _, l := range append([]*link{sub.next, sub.previous}, sub.hub...) {
						l.closeIfAny()
					}
				}
				return nil
			}
			if _, err := shared[g.Rank()].Backward(ctx, x, y, nn.CrossEntropy, 0.5); err != nil {
				return err
			}
		}
		return nil
	}) {
		if r == dead {
			continue
		}
		var lost *LostError
		if !errors.As(err, &lost) || lost.Rank != dead || !stepNamed.MatchString(err.Error()) {
			t.Errorf("rank %d: %v, want the loss of rank %d in a step", r, err, dead)
		}
	}
}

// stepNamed matches the step in which the rank dies, and the one before, whose last exchange other ranks
// may not have finished.
var stepNamed = regexp.MustCompile("step [23]:")

func (l *link) closeIfAny() {
	if l != nil {
		l.close()
	}
}

// TestStagesWithOtherBatches requires an error if the stages of a pipeline have different examples.
func TestStagesWithOtherBatches(t *testing.T) {
	all, shared := pipelines(t, MeshShape{DP: 1, TP: 1, PP: 2})
	for r, err := range each(t, all, func(ctx context.Context, g *Group) error {
		x, y := gptTokensOf(g.Rank(), 0)
		_, err := shared[g.Rank()].Backward(ctx, x, y, nn.CrossEntropy, 1)
		return err
	}) {
		if err == nil || !strings.Contains(err.Error(), "step 1") || !strings.Contains(err.Error(), "another batch") {
			t.Errorf("rank %d: %v, want an error about the batches", r, err)
		}
	}
}

// TestForwardOfAPipeline compares the prediction of all ranks with that of one process.
func TestForwardOfAPipeline(t *testing.T) {
	want := distributedTraining{}.newModel(0)
	x, _ := gptTokensOf(0, 0)
	expected := want.Forward(x).Data()
	all, shared := pipelines(t, MeshShape{DP: 1, TP: 1, PP: 3})
	mustEach(t, all, func(_ context.Context, g *Group) error {
		for i, v := range shared[g.Rank()].Forward(x).Data() {
			if v != expected[i] {
				return fmt.Errorf("value %d is %v, want %v", i, v, expected[i])
			}
		}
		return nil
	})
}

// TestPartsNeedElementwiseOptimizers requires optimizers that need whole parameters to say so.
func TestPartsNeedElementwiseOptimizers(t *testing.T) {
	all, shared := pipelines(t, MeshShape{DP: 2, TP: 1, PP: 1})
	for name, of := range map[string]func(model any) *optim.Optimizer{
		"LAMB": func(m any) *optim.Optimizer { return optim.LAMB(m, 0.1) },
		"Muon": func(m any) *optim.Optimizer { return optim.Muon(m, 0.1) },
		"mine": func(m any) *optim.Optimizer {
			return optim.Custom("mine", m, 0.1, func(u *optim.Update) *tensor.Tensor { return u.Gradient })
		},
	} {
		for r, err := range each(t, all, func(ctx context.Context, g *Group) (err error) {
			defer nn.Catch(&err)
			x, y := gptTokensOf(0, 0)
			if _, err := shared[g.Rank()].Backward(ctx, x, y, nn.CrossEntropy, 0.5); err != nil {
				return err
			}
			opt := of(shared[g.Rank()])
			if opt.Err() == nil {
				return errors.New("the optimizer has no error before its step")
			}
			opt.Step()
			return nil
		}) {
			if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "it needs whole parameters") {
				t.Errorf("rank %d, %s: %v", r, name, err)
			}
		}
	}
}

// TestErrorsOfTheFirstStep requires errors that all ranks have, or of which all learn, to leave the group usable; and one of a later step
// to end the others.
func TestErrorsOfTheFirstStep(t *testing.T) {
	all, shared := pipelines(t, MeshShape{DP: 2, TP: 1, PP: 1}, MicroBatches(2))
	x, y := gptTokensOf(0, 0)
	step := func(c *tensor.Tensor, loss nn.Loss, share float64) func(rank int) error {
		return func(rank int) error {
			_, err := shared[rank].Backward(t.Context(), x, c, loss, share)
			return err
		}
	}
	right := step(y, nn.CrossEntropy, 0.5)
	only := func(rank int, wrong func(rank int) error) func(rank int) error {
		return func(r int) error {
			if r == rank {
				return wrong(r)
			}
			return right(r)
		}
	}
	for _, row := range []struct {
		name string
		call func(rank int) error
		want [2]string // "" for none
	}{
		{"no targets", step(nil, nn.CrossEntropy, 0.5), [2]string{"parallel: step 1: the batch has no inputs or no targets", "parallel: step 1: the batch has no inputs or no targets"}},
		{"no loss on one rank", only(1, step(y, nil, 0.5)), [2]string{"parallel: step 1: rank 1: the loss is nil", "parallel: step 1: rank 1: the loss is nil"}},
		{"a loss that returns nil", step(y, func(_, _ *tensor.Tensor) *tensor.Tensor { return nil }, 0.5), [2]string{"parallel: step 1: Loss: the loss has returned nil", "parallel: step 1: Loss: the loss has returned nil"}},
		{"a share that is none", step(y, nn.CrossEntropy, -1), [2]string{"the share of this replica, -1, must be", "the share of this replica, -1, must be"}},
		{"targets for another loss", step(y, nn.MSE, 0.5), [2]string{"parallel: step 1: MSE", "parallel: step 1: MSE"}},
		{"targets for another loss on one rank", only(0, step(y, nn.MSE, 0.5)), [2]string{"parallel: step 1: rank 0: MSE", "parallel: step 1: rank 0: MSE"}},
		{"corrected", right, [2]string{"", ""}},
		{"a later step", only(0, step(y, nn.MSE, 0.5)), [2]string{"parallel: step 2: MSE", "parallel: step 2: parallel: rank 0 (127.0.0.1:"}},
	} {
		for r, err := range each(t, all, func(_ context.Context, g *Group) error { return row.call(g.Rank()) }) {
			if (err == nil) != (row.want[r] == "") || err != nil && !strings.Contains(err.Error(), row.want[r]) {
				t.Errorf("%s: rank %d: got %v, want %s", row.name, r, err, row.want[r])
			}
		}
	}
}

// TestAStageFails requires the error of the loss, which only the last stage has, on all ranks.
func TestAStageFails(t *testing.T) {
	all, shared := pipelines(t, MeshShape{DP: 1, TP: 1, PP: 2}, MicroBatches(2))
	x, y := gptTokensOf(0, 0)
	for r, err := range each(t, all, func(ctx context.Context, g *Group) error {
		_, err := shared[g.Rank()].Backward(ctx, x, y, nn.MSE, 1)
		return err
	}) {
		if want := []string{"rank 1 (127.0.0.1:", "parallel: step 1: MSE"}[r]; err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "MSE: ") {
			t.Errorf("rank %d: got %v, want %s", r, err, want)
		}
	}
}

// TestDistributeAgain requires an error for a model whose parameters are not all there any more, and none after Gather.
func TestDistributeAgain(t *testing.T) {
	for _, row := range []struct {
		mesh   MeshShape
		gather bool
		want   string
	}{
		{MeshShape{2, 1, 1}, false, "the model was divided before"},
		{MeshShape{2, 1, 1}, true, ""},
		{MeshShape{1, 1, 2}, true, "the model was divided before"},
	} {
		all, shared := pipelines(t, row.mesh)
		for r, err := range each(t, all, func(ctx context.Context, g *Group) error {
			d := shared[g.Rank()].distribution()
			if row.gather {
				if err := shared[g.Rank()].Gather(ctx); err != nil {
					return err
				}
			}
			_, err := Distribute(ctx, d.mesh, d.model)
			return errors.Join(err, g.Barrier(ctx))
		}) {
			if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
				t.Errorf("%v, gathered %t: rank %d: got %v, want %s", row.mesh, row.gather, r, err, row.want)
			}
		}
	}
	if _, err := Distribute(t.Context(), nil, nn.Dense(1)); err == nil || !strings.Contains(err.Error(), "the mesh is nil") {
		t.Error(err)
	}
}

// TestModesOfADistributedModel requires nn.Eval to reach the layers: accel.Evaluate calls it.
func TestModesOfADistributedModel(t *testing.T) {
	model := func() nn.Module {
		return nn.Sequential(nn.Embedding(gptTokens, 16), nn.Dropout(0.5), nn.Dense(gptTokens))
	}
	x, _ := gptTokensOf(0, 0)
	want := distributedTraining{model: model}.newModel(0)
	nn.Train(want, false)
	expected := want.Forward(x).Data()
	all := ranks(t, 2)
	made := meshes(t, all, MeshShape{1, 1, 2})
	models := []nn.Module{distributedTraining{model: model}.newModel(0), distributedTraining{model: model}.newModel(1)}
	mustEach(t, all, func(ctx context.Context, g *Group) error {
		shared, err := Distribute(ctx, made[g.Rank()], models[g.Rank()])
		if err != nil {
			return err
		}
		for what, err := range map[string]error{"save": nn.Save(filepath.Join(t.TempDir(), "model"), shared), "load": nn.Load("model", shared)} {
			if err == nil || !strings.Contains(err.Error(), "the model is divided among ranks") {
				return fmt.Errorf("%s: %w", what, err)
			}
		}
		restore := nn.Eval(shared)
		evaluated := shared.Forward(x).Data()
		restore()
		if trained := shared.Forward(x).Data(); !slices.Equal(evaluated, expected) || slices.Equal(trained, expected) {
			return fmt.Errorf("rank %d: the dropout of the model is not that of its mode", g.Rank())
		}
		return nil
	})
}

// TestForgottenZeroGrad requires the error of one process if gradients are added to those of the step before.
func TestForgottenZeroGrad(t *testing.T) {
	all, shared := pipelines(t, MeshShape{DP: 2, TP: 1, PP: 2})
	x, y := gptTokensOf(0, 0)
	for r, err := range each(t, all, func(ctx context.Context, g *Group) (err error) {
		defer nn.Catch(&err)
		opt := optim.SGD(shared[g.Rank()], 0.1)
		for range 2 {
			if _, err := shared[g.Rank()].Backward(ctx, x, y, nn.CrossEntropy, 0.5); err != nil {
				return err
			}
			opt.Step()
		}
		return nil
	}) {
		if err == nil || !strings.Contains(err.Error(), "call ZeroGrad before Backward") {
			t.Errorf("rank %d: %v", r, err)
		}
	}
}

// TestOptimizerOfTheLayers requires an error for an optimizer of the model that was passed to Distribute, whose
// norms would be those of one stage.
func TestOptimizerOfTheLayers(t *testing.T) {
	all, shared := pipelines(t, MeshShape{DP: 1, TP: 1, PP: 2})
	for r, err := range each(t, all, func(ctx context.Context, g *Group) (err error) {
		defer nn.Catch(&err)
		m := shared[g.Rank()]
		x, y := gptTokensOf(0, 0)
		if _, err := m.Backward(ctx, x, y, nn.CrossEntropy, 1); err != nil {
			return err
		}
		optim.AdamW(m.distribution().model, 0.1).Step()
		return nil
	}) {
		if err == nil || !strings.Contains(err.Error(), "make the optimizer with what parallel.Distribute has returned") {
			t.Errorf("rank %d: %v", r, err)
		}
	}
}

func TestDistributeNeedsProcesses(t *testing.T) {
	all := ranks(t, 2)
	for _, s := range []MeshShape{{2, 1, 1}, {1, 2, 1}} {
		made := meshes(t, all, s)
		models := []nn.Module{distributedTraining{}.newModel(0), distributedTraining{}.newModel(0)}
		for r, err := range each(t, all, func(ctx context.Context, g *Group) error {
			_, err := Distribute(ctx, made[g.Rank()], models[g.Rank()], ZeRO(2))
			return err
		}) {
			if !errors.Is(err, errOneProcess) {
				t.Errorf("%v, rank %d: %v", s, r, err)
			}
		}
	}
	tensors.Seed(0)
}
