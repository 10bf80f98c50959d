package parallel

import (
	"context"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// dividedVocabularies are trainings of models whose tokens the ranks along TP divide.
var dividedVocabularies = []distributedTraining{
	{name: "vocabulary", mesh: MeshShape{1, 2, 1}, options: with(tensorParallel, only(SplitVocabulary("0", "7"))), model: vocabularyGPT, batches: 2, forward: true},
	{name: "vocabulary, tied", mesh: MeshShape{1, 2, 1}, options: only(SplitVocabulary("0", "2"), MicroBatches(2)), model: tiedVocabulary, forward: true},
	{name: "vocabulary, bfloat16", mesh: MeshShape{1, 2, 1}, options: only(SplitVocabulary("0", "7")), model: vocabularyGPT, autocast: true, tolerance: 5e-3},
	{name: "vocabulary, dp × tp, ZeRO 3", mesh: MeshShape{2, 2, 1}, options: only(SplitVocabulary("0", "7"), ZeRO(3)), model: vocabularyGPT, forward: true},
	{name: "vocabulary, tp × pp", mesh: MeshShape{1, 2, 2}, options: only(SplitVocabulary("0", "7"), MicroBatches(2)), model: vocabularyGPT, forward: true},
	{name: "vocabulary, tied between stages", mesh: MeshShape{1, 2, 2}, options: only(SplitVocabulary("0", "2")), model: tiedVocabulary, forward: true},
	{name: "NCCL, vocabulary", long: true, mesh: MeshShape{1, 2, 1}, options: only(SplitVocabulary("0", "2")), device: simulatedNCCL, model: tiedVocabulary, steps: 2, forward: true},
}

// vocabularyGPT is smallGPT with one token more, so that 2 ranks can divide them.
func vocabularyGPT() nn.Module {
	layers := smallGPT().(*nn.SequentialLayer).Layers()
	layers[0], layers[len(layers)-1] = nn.Embedding(gptTokens+1, 16), nn.Dense(gptTokens+1)
	return nn.Sequential(layers...)
}

func vocabularyOn(int) nn.Module { return vocabularyGPT() }

func tiedVocabulary() nn.Module {
	e := nn.Embedding(gptTokens+1, 8)
	return nn.Sequential(e, nn.Dense(8), nn.TiedDense(e))
}

// vocabularyMistakes are what a training with a divided vocabulary rejects, by the first words of the error of each rank.
type vocabularyMistakes struct{ AnotherLoss, UnknownToken, UnknownClass, Probabilities string }

func init() {
	rankTasks["vocabulary mistakes"] = func(ctx context.Context, g *Group) (any, error) {
		try := func(loss func(m *DistributedModel) nn.Loss, token int, target *tensor.Tensor) string {
			sub, err := Join(ctx) // an error of a step breaks its group
			if err != nil {
				return err.Error()
			}
			defer func() { _ = sub.Close() }()
			mesh, err := Mesh(ctx, sub, 1, 2, 1)
			if err != nil {
				return err.Error()
			}
			shared, err := Distribute(ctx, mesh, distributedTraining{model: tiedVocabulary}.newModel(1), SplitVocabulary("0", "2"))
			if err != nil {
				return err.Error()
			}
			if _, err = shared.Backward(ctx, tensor.FromInts([]int{1, token}, 1, 2), target, loss(shared), 1); err != nil {
				return err.Error()
			}
			return ""
		}
		if err := g.Close(); err != nil {
			return nil, err
		}
		whole := func(*DistributedModel) nn.Loss { return nn.CrossEntropy }
		divided := func(m *DistributedModel) nn.Loss { return m.CrossEntropy }
		return vocabularyMistakes{
			AnotherLoss:   try(whole, 2, tensor.FromInts([]int{1, 2}, 1, 2)),
			UnknownToken:  try(divided, gptTokens+1, tensor.FromInts([]int{1, 2}, 1, 2)),
			UnknownClass:  try(divided, 2, tensor.FromInts([]int{1, gptTokens + 1}, 1, 2)),
			Probabilities: try(divided, 2, tensor.Ones(1, 2, gptTokens+1)),
		}, nil
	}
}

func TestVocabularyMistakes(t *testing.T) {
	for rank, got := range onRanks[vocabularyMistakes](t, "vocabulary mistakes", 2) {
		for _, c := range []struct{ name, got, want string }{
			{"another loss", got.AnotherLoss, "pass the method CrossEntropy of the DistributedModel to Backward"},
			{"an unknown token", got.UnknownToken, "18"},
			{"an unknown class", got.UnknownClass, "CrossEntropy: class 18 of row 1 is outside 0..17: the logits have 18 classes, and the first one is class 0"},
			{"probabilities", got.Probabilities, "the logits of a rank must be [… 9], and the classes […]"},
		} {
			if !strings.Contains(c.got, c.want) {
				t.Errorf("rank %d, %s: %q, want %q", rank, c.name, c.got, c.want)
			}
		}
	}
}

const (
	memoryTokens = 4096
	memoryRows   = 256
)

func init() {
	rankTasks["memory of a vocabulary"] = func(ctx context.Context, g *Group) (any, error) {
		mesh, err := Mesh(ctx, g, 1, g.Size(), 1)
		if err != nil {
			return nil, err
		}
		defer mesh.Close()
		var all [2]memory
		for i := range all {
			if all[i], err = measureVocabulary(ctx, mesh, i == 1); err != nil {
				return nil, err
			}
		}
		return all, nil
	}
}

// measureVocabulary trains an embedding with a layer that computes logits, alone or divided.
func measureVocabulary(ctx context.Context, mesh *DeviceMesh, divided bool) (m memory, err error) {
	const width = 128
	model := nn.Module(nn.Sequential(nn.Embedding(memoryTokens, width), nn.Dense(memoryTokens, nn.NoBias())))
	at := make([]int, memoryRows)
	for i := range at {
		at[i] = 7 * i
	}
	x := tensor.FromInts(at, 1, memoryRows)
	before := tensors.MemoryUse().Allocated
	model.Forward(x.Slice(1, 0, 1)).Release()
	var shared *DistributedModel
	if divided {
		if shared, err = Distribute(ctx, mesh, model, SplitVocabulary("0", "1")); err != nil {
			return m, err
		}
		model = shared
	}
	return measureSteps(model, before, func() error {
		if shared == nil {
			nn.CrossEntropy(model.Forward(x), x).Backward()
			tensor.Flush()
			return nil
		}
		_, err := shared.Backward(ctx, x, x, shared.CrossEntropy, 1)
		return err
	})
}

// TestMemoryOfVocabulary measures the bytes of tensors of a rank that has half of the tokens, and of one process.
func TestMemoryOfVocabulary(t *testing.T) {
	for rank, m := range onRanks[[2]memory](t, "memory of a vocabulary", 2) {
		alone, divided := m[0], m[1]
		t.Logf("rank %d: %d bytes between steps and %d at the peak of a pass, in one process %d and %d", rank, divided.Between, divided.Peak, alone.Between, alone.Peak)
		if divided.Between*100 > alone.Between*52 || divided.Peak*100 > alone.Peak*65 {
			t.Errorf("rank %d needs more than 52%% between steps, or 65%% at the peak", rank)
		}
	}
}
