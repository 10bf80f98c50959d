package parallel

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"maps"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/quernlab/quern/accel/internal/cuda/fakelib"
	"github.com/quernlab/quern/accel/internal/cuda/nccl"
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
)

// distributedTraining is a training of a small GPT on a mesh, and in one process.
type distributedTraining struct {
	name      string
	mesh      MeshShape
	options   []Option
	optimizer func(model any) *optim.Optimizer // AdamW with clipping if nil
	model     func() nn.Module                 // smallGPT if nil
	loss      nn.Loss                          // CrossEntropy if nil
	batches   int                              // whose gradients are accumulated; 1 if 0
	sizes     []int                            // examples of the batches of each step; gptBatch if nil
	autocast  bool                             // to bfloat16
	long      bool                             // only with QUERN_LONG, since simulated GPUs are slow
	device    string
	steps     int             // 4 if 0
	from      int             // the step after which it continues from a checkpoint
	load      string          // folder of that checkpoint
	save      string          // folder for a checkpoint after the last step
	scaled    bool            // with a GradScaler
	bucket    int             // in bytes, between the ranks along DP; the default if 0
	forward   bool            // compares the results of Forward after the last step
	calls     map[nccl.Op]int // of rank 0 with NCCL
	seen      [][2]int        // see counter
	tolerance float64
	tied      int // elements that two stages update
}

const (
	gptTokens = 17
	gptLength = 6
	gptBatch  = 8
)

// smallGPT has dividable heads and widths; the names of its attention layers are 2.1 and 4.1, and
// those of the MLPs 3.1, 3.3, 5.1 and 5.3.
func smallGPT() nn.Module {
	block := func() []nn.Module {
		return []nn.Module{
			nn.Residual(nn.LayerNorm(), nn.SelfAttention(4, nn.Causal())),
			nn.Residual(nn.LayerNorm(), nn.Dense(32), nn.GELU(), nn.Dense(16)),
		}
	}
	layers := []nn.Module{nn.Embedding(gptTokens, 16), nn.PositionEmbedding(gptLength, 16)}
	layers = append(append(layers, block()...), block()...)
	return nn.Sequential(append(layers, nn.LayerNorm(), nn.Dense(gptTokens))...)
}

// tiedGPT is smallGPT with the weight of the embedding in the last layer.
func tiedGPT() nn.Module {
	layers := smallGPT().(*nn.SequentialLayer).Layers()
	layers[len(layers)-1] = nn.TiedDense(layers[0])
	return nn.Sequential(layers...)
}

var tensorParallel = []Option{SplitHeads("[24].1"), Split("[35].1", "[35].3")}

func with(more ...[]Option) []Option { return slices.Concat(more...) }
func only(o ...Option) []Option      { return o }

var distributedTrainings = slices.Concat(exchangesOfDevices, dividedVocabularies, []distributedTraining{
	{name: "ZeRO 1", mesh: MeshShape{2, 1, 1}},
	{name: "ZeRO 2", mesh: MeshShape{2, 1, 1}, options: only(ZeRO(2))},
	{name: "ZeRO 3", mesh: MeshShape{2, 1, 1}, options: only(ZeRO(3))},
	{name: "ZeRO 1, accumulated", mesh: MeshShape{2, 1, 1}, batches: 2},
	{name: "ZeRO 2, accumulated", mesh: MeshShape{2, 1, 1}, options: only(ZeRO(2), MicroBatches(2)), batches: 2},
	{name: "ZeRO 3, accumulated", mesh: MeshShape{2, 1, 1}, options: only(ZeRO(3), MicroBatches(2)), batches: 2},
	{name: "ZeRO 2, bfloat16", mesh: MeshShape{2, 1, 1}, options: only(ZeRO(2)), autocast: true, tolerance: 5e-3},
	{name: "ZeRO 3, bfloat16", mesh: MeshShape{2, 1, 1}, options: only(ZeRO(3)), autocast: true, tolerance: 5e-3},
	{name: "ZeRO 2, scaled", mesh: MeshShape{2, 1, 1}, options: only(ZeRO(2)), scaled: true},
	{name: "ZeRO 2, SGD", mesh: MeshShape{2, 1, 1}, options: only(ZeRO(2)), optimizer: func(m any) *optim.Optimizer {
		return optim.SGD(m, 0.1, optim.Momentum(0.9), optim.ClipGradNorm(0.5), optim.Group("*.bias", optim.WeightDecay(0.1)))
	}},
	{name: "ZeRO 3, encoder layers", mesh: MeshShape{2, 1, 1}, options: only(ZeRO(3)), model: encoders},
	{name: "tensor", mesh: MeshShape{1, 2, 1}, options: tensorParallel},
	{name: "tensor, encoder layers", mesh: MeshShape{1, 2, 1}, options: only(SplitHeads("[12]")), model: encoders},
	{name: "tensor, grouped queries", mesh: MeshShape{1, 2, 1}, options: only(SplitHeads("1.1"), Split("2.1", "2.3")), model: groupedQueries},
	{name: "tensor, bfloat16", mesh: MeshShape{1, 2, 1}, options: tensorParallel, autocast: true, tolerance: 5e-3},
	{name: "tensor, recomputed", mesh: MeshShape{1, 2, 1}, options: tensorParallel, model: func() nn.Module {
		m := smallGPT()
		nn.SetRecompute(m, true)
		return m
	}},
	{name: "pipeline", mesh: MeshShape{1, 1, 2}, options: only(MicroBatches(4))},
	{name: "pipeline, one micro-batch, accumulated", mesh: MeshShape{1, 1, 2}, batches: 2},
	{name: "pipeline, stages at 3", mesh: MeshShape{1, 1, 2}, options: only(MicroBatches(3), StagesAt(3))},
	{name: "pipeline, tied, accumulated", mesh: MeshShape{1, 1, 2}, options: only(MicroBatches(2)), model: tiedGPT, tied: gptTokens * 16, batches: 2},
	{name: "ZeRO 1, small batches", mesh: MeshShape{2, 1, 1}, options: only(MicroBatches(3)), model: tinyGPT, sizes: []int{8, 3, 1}},
	{name: "ZeRO 2, small batches", mesh: MeshShape{2, 1, 1}, options: only(ZeRO(2), MicroBatches(4)), model: tinyGPT, sizes: []int{8, 3, 1}},
	{name: "ZeRO 3, small batches", mesh: MeshShape{2, 1, 1}, options: only(ZeRO(3), MicroBatches(3)), model: tinyGPT, sizes: []int{7, 3, 1}},
	{name: "pipeline, small batches", mesh: MeshShape{1, 1, 2}, options: only(MicroBatches(4)), model: tinyGPT, sizes: []int{7, 3, 1}},
	{name: "ZeRO 1, weighted classes", mesh: MeshShape{2, 1, 1}, options: only(MicroBatches(2)), model: tinyGPT, loss: weightedClasses, sizes: []int{7, 5, 1}},
	{name: "ZeRO 2, weighted classes, accumulated", mesh: MeshShape{2, 1, 1}, options: only(ZeRO(2), MicroBatches(3)), model: tinyGPT, loss: weightedClasses, batches: 2},
	{name: "tensor, weighted classes", mesh: MeshShape{1, 2, 1}, options: only(SplitHeads("1.1"), MicroBatches(3)), model: tinyGPT, loss: weightedClasses},
	{name: "pipeline, weighted classes, accumulated", mesh: MeshShape{1, 1, 2}, options: only(MicroBatches(3)), model: tinyGPT, loss: weightedClasses, batches: 2},
	{name: "pipeline, all classes ignored", mesh: MeshShape{1, 1, 2}, options: only(MicroBatches(2)), model: tinyGPT, optimizer: plainSGD, loss: func(prediction, target *tensor.Tensor) *tensor.Tensor {
		return nn.WeightedMean(prediction.Square(), tensor.Zeros(1))
	}},
	{name: "pipeline, groups of one stage", mesh: MeshShape{1, 1, 2}, model: tinyGPT, optimizer: func(m any) *optim.Optimizer {
		return optim.AdamW(m, 1e-2, optim.Epsilon(1e-4), optim.Group("0.*", optim.RateFactor(0.5)), optim.Group("2.bias", optim.WeightDecay(0)))
	}},
	{name: "ZeRO 1, a group of one rank", mesh: MeshShape{2, 1, 1}, model: func() nn.Module {
		return nn.Sequential(nn.Embedding(gptTokens, 4), nn.PReLU(), nn.Dense(gptTokens))
	}, optimizer: func(m any) *optim.Optimizer { return optim.SGD(m, 0.1, optim.Group("1.*", optim.RateFactor(2))) }},
	{name: "pipeline, a stage without gradients", mesh: MeshShape{1, 1, 2}, options: only(StagesAt(2)), model: func() nn.Module {
		return nn.Sequential(nn.Embedding(gptTokens, 4), nn.Dense(gptTokens), &unused{tensor.Parameter(tensor.Ones(3))})
	}},
	{name: "pipeline, a stage without gradients, scaled", mesh: MeshShape{1, 1, 2}, options: only(StagesAt(2)), scaled: true, model: func() nn.Module {
		return nn.Sequential(nn.Embedding(gptTokens, 4), nn.Dense(gptTokens), &unused{tensor.Parameter(tensor.Ones(3))})
	}},
	{name: "simulated GPU, ZeRO 3", long: true, mesh: MeshShape{2, 1, 1}, options: only(ZeRO(3)), device: "simulated", model: tinyGPT, steps: 2},
	{name: "simulated GPU, tensor", long: true, mesh: MeshShape{1, 2, 1}, options: only(SplitHeads("1.1")), device: "simulated", model: tinyGPT, steps: 2},
	{name: "simulated GPU, pipeline", long: true, mesh: MeshShape{1, 1, 2}, options: only(MicroBatches(2)), device: "simulated", model: tinyGPT, steps: 2},

	{name: "dp × tp", mesh: MeshShape{2, 2, 1}, options: with(tensorParallel, only(ZeRO(2)))},
	{name: "dp × tp, ZeRO 3", mesh: MeshShape{2, 2, 1}, options: with(tensorParallel, only(ZeRO(3)))},
	{name: "dp × pp", mesh: MeshShape{2, 1, 2}, options: only(ZeRO(1), MicroBatches(2))},
	{name: "dp × pp, ZeRO 3", mesh: MeshShape{2, 1, 2}, options: only(ZeRO(3), MicroBatches(2)), batches: 2},
	{name: "tp × pp", mesh: MeshShape{1, 2, 2}, options: with(tensorParallel, only(MicroBatches(4)))},
	{name: "dp × pp, tied", mesh: MeshShape{2, 1, 2}, options: only(MicroBatches(2)), model: tiedGPT, tied: gptTokens * 16, batches: 2},
	{name: "dp × pp, tied, ZeRO 2", mesh: MeshShape{2, 1, 2}, options: only(ZeRO(2), MicroBatches(2)), model: tiedGPT, tied: gptTokens * 16},
	{name: "dp × pp, tied, ZeRO 3", mesh: MeshShape{2, 1, 2}, options: only(ZeRO(3)), model: tiedGPT, tied: gptTokens * 16, batches: 2},
	{name: "tp × pp, tied", mesh: MeshShape{1, 2, 2}, options: only(SplitHeads("[24].1")), model: tiedGPT, tied: gptTokens * 16},
	{name: "pipeline of 4, tied", mesh: MeshShape{1, 1, 4}, options: only(MicroBatches(4)), model: tiedGPT, tied: gptTokens * 16},
	{name: "dp × pp, weighted classes", mesh: MeshShape{2, 1, 2}, options: only(ZeRO(2), MicroBatches(3)), model: tinyGPT, loss: weightedClasses, sizes: []int{8, 3, 1}, batches: 2},
	{name: "ZeRO 3 on 4", mesh: MeshShape{4, 1, 1}, options: only(ZeRO(3))},
	{name: "tensor on 4", mesh: MeshShape{1, 4, 1}, options: tensorParallel},
	{name: "pipeline of 4", mesh: MeshShape{1, 1, 4}, options: only(MicroBatches(4))},
	{name: "simulated GPU with NCCL, tensor", long: true, mesh: MeshShape{1, 2, 1}, options: only(SplitHeads("1.1")), device: simulatedNCCL, model: tinyGPT, steps: 1},
	{name: "simulated GPU, dp × tp", mesh: MeshShape{2, 2, 1}, options: only(SplitHeads("1.1"), ZeRO(2)), device: "simulated", model: tinyGPT, steps: 1},
})

// encoders has layers that contain attention and linear layers.
func encoders() nn.Module {
	layer := func() nn.Module {
		return nn.TransformerEncoderLayer(2, nn.FeedForward(24), nn.TransformerDropout(0), nn.WithGELU())
	}
	return nn.Sequential(nn.Embedding(gptTokens, 16), layer(), layer(), nn.Dense(gptTokens))
}

func groupedQueries() nn.Module {
	return nn.Sequential(nn.Embedding(gptTokens, 16),
		nn.Residual(nn.RMSNorm(), nn.GroupedQueryAttention(4, 2, nn.Causal(), nn.RoPE(100))),
		nn.Residual(nn.RMSNorm(), nn.Dense(32, nn.NoBias()), nn.SiLU(), nn.Dense(16, nn.NoBias())), nn.Dense(gptTokens))
}

// tinyGPT is for simulated GPUs, which are slow.
func tinyGPT() nn.Module {
	return nn.Sequential(nn.Embedding(gptTokens, 4), nn.Residual(nn.LayerNorm(), nn.SelfAttention(2, nn.Causal())), nn.Dense(gptTokens))
}

// weightedClasses divides by the weights of the classes, and ignores one.
var weightedClasses = nn.CrossEntropyLoss(nn.ClassWeights(1, 2, 0.5, 3, 1, 1, 9, 1, 1, 1, 4, 1, 1, 1, 1, 7, 1), nn.IgnoreIndex(3))

func plainSGD(m any) *optim.Optimizer { return optim.SGD(m, 0.1) }

// unused has a parameter that it does not use.
type unused struct{ Weight *tensor.Tensor }

func (*unused) Forward(x *tensor.Tensor) *tensor.Tensor { return x.MulScalar(2) }

// trained is the result of a training on a rank.
type trained struct {
	Calls  map[nccl.Op]fakelib.Calls // of NCCL, during the steps
	Copied ir.DeviceCounts           // during the steps
	Seen   [][2]int                  // see counter
	State  map[string][]float32
	Losses []float64
	Parts  int // elements of the parameters that this rank updates
	Error  string
}

// tokens returns a batch of sequences, and the tokens that follow.
func gptTokensOf(step, batch int) (x, y *tensor.Tensor) {
	at := make([]int, gptBatch*(gptLength+1))
	for i := range at {
		at[i] = (i*i + 7*step + 3*batch + i/5) % gptTokens
	}
	all := tensor.FromInts(at, gptBatch, gptLength+1)
	return all.Slice(1, 0, gptLength), all.Slice(1, 1, gptLength+1)
}

// newModel makes the model with its parameters.
func (c distributedTraining) newModel(seed uint64) nn.Module {
	tensors.Seed(seed)
	make := c.model
	if make == nil {
		make = smallGPT
	}
	m := make()
	x, _ := gptTokensOf(0, 0)
	m.Forward(x)
	return m
}

// train trains on a mesh, or alone if it is nil.
func (c distributedTraining) train(ctx context.Context, mesh *DeviceMesh) (r trained, err error) {
	if c.device != "" {
		if err := tensors.SetDevice(c.device); err != nil {
			return r, err
		}
		defer func() { err = errors.Join(err, tensors.SetDevice("cpu")) }()
	}
	var model nn.Module
	var shared *DistributedModel
	if mesh == nil {
		model = c.newModel(5)
	} else {
		model = c.newModel(5 + uint64(mesh.Group.Rank())) // only that of rank 0 matters
		if shared, err = Distribute(ctx, mesh, model, c.options...); err != nil {
			return r, err
		}
		model = shared
		for _, g := range []*Group{mesh.DP, mesh.TP, mesh.PP} {
			if want := c.device == simulatedNCCL && g.Size() > 1; g.OnDevices() != want {
				return r, fmt.Errorf("the ranks exchange by %q", g.Backend())
			}
		}
	}
	makeOptimizer := c.optimizer
	if makeOptimizer == nil {
		makeOptimizer = func(m any) *optim.Optimizer {
			// The gradient of the keys' biases is 0 up to rounding, because adding the same to all
			// scores changes nothing. With the default Epsilon, AdamW would divide rounding by itself.
			return optim.AdamW(m, 1e-2, optim.ClipGradNorm(0.5), optim.RecordGradNorm(), optim.Epsilon(1e-4))
		}
	}
	opt := makeOptimizer(model)
	batches, steps := max(c.batches, 1), c.steps
	if steps == 0 {
		steps = 4
	}
	if c.load != "" {
		if err := shared.Load(ctx, c.load, opt); err != nil {
			return r, err
		}
	}
	callsBefore, callsSeen = callsOfNCCL(), nil
	tensors.ResetStats()
	lossOf := c.loss
	switch {
	case lossOf != nil:
	case shared != nil:
		lossOf = shared.CrossEntropy
	default:
		lossOf = nn.CrossEntropy
	}
	scaler := optim.NewGradScaler()
	if c.scaled {
		lossOf = func(prediction, target *tensor.Tensor) *tensor.Tensor {
			return scaler.Scale(nn.CrossEntropy(prediction, target))
		}
	}
	for step := c.from; step < steps; step++ {
		opt.ZeroGrad()
		sum := 0.0
		for batch := range batches {
			x, y := gptTokensOf(step, batch)
			size := gptBatch
			if c.sizes != nil {
				size = c.sizes[step%len(c.sizes)]
				x, y = x.Slice(0, 0, size), y.Slice(0, 0, size)
			}
			compute := func() {
				if shared == nil {
					loss := lossOf(model.Forward(x), y).MulScalar(1 / float64(batches))
					loss.Backward()
					sum += loss.Item()
					return
				}
				dp := mesh.DP
				from, to := size*dp.Rank()/dp.Size(), size*(dp.Rank()+1)/dp.Size()
				share := float64(to-from) / float64(size*batches)
				if from == to { // a replica without examples
					from, to = 0, 1
				}
				var loss float64
				loss, err = shared.Backward(ctx, x.Slice(0, from, to), y.Slice(0, from, to), lossOf, share)
				sum += loss
			}
			if c.autocast {
				tensor.Autocast(tensor.BFloat16, compute)
			} else {
				compute()
			}
			if err != nil {
				return r, err
			}
		}
		if c.scaled {
			scaler.Step(opt)
		} else {
			opt.Step()
		}
		r.Losses = append(r.Losses, sum)
		if norm := opt.GradNorm(); norm != nil {
			r.Losses = append(r.Losses, norm.Item())
		}
	}
	r.Copied = tensors.Stats().Device
	r.Calls = callsOfNCCL()
	for op, before := range callsBefore {
		r.Calls[op] = fakelib.Calls{Calls: r.Calls[op].Calls - before.Calls, Bytes: r.Calls[op].Bytes - before.Bytes}
	}
	r.Seen = callsSeen
	r.State = map[string][]float32{}
	if c.forward {
		x, _ := gptTokensOf(0, 0)
		r.State["results"] = model.Forward(x).Data()
	}
	if shared == nil {
		for _, p := range nn.State(model) {
			r.State[p.Name] = p.Data()
		}
		return r, nil
	}
	for _, t := range shared.Parts {
		r.Parts += t.Numel()
	}
	if c.save != "" {
		if err := shared.Save(ctx, c.save, opt); err != nil {
			return r, err
		}
	}
	whole, err := shared.FullState(ctx)
	for name, t := range whole {
		r.State[name] = t.Data()
	}
	return r, err
}

const (
	rankTask = "QUERN_TEST_MESH_TASK" // the task of a process
	rankOut  = "QUERN_TEST_MESH_OUT"  // the file for its result
)

// rankTasks are what ranks in processes of their own compute, by name.
var rankTasks = map[string]func(ctx context.Context, g *Group) (any, error){}

// TestMeshRank is one rank, in a process that another test has started.
func TestMeshRank(t *testing.T) {
	task := os.Getenv(rankTask)
	if task == "" {
		t.Skip("not started as a rank")
	}
	ctx, cancel := context.WithTimeout(context.Background(), testTime)
	defer cancel()
	g, err := Join(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = g.Close() }()
	out, err := rankTasks[task](ctx, g)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := gob.NewEncoder(&text).Encode(out); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(os.Getenv(rankOut), text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// onRanks runs a task in n processes and returns their results.
func onRanks[T any](t *testing.T, task string, n int, environment ...string) []T {
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
	results := make([]T, n)
	var running sync.WaitGroup
	for r := range n {
		running.Go(func() {
			file := filepath.Join(folder, fmt.Sprint(r))
			c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestMeshRank$")
			c.Env = append(os.Environ(), rankTask+"="+task, rankOut+"="+file, "RANK="+fmt.Sprint(r), "WORLD_SIZE="+fmt.Sprint(n),
				"MASTER_ADDR=127.0.0.1", "MASTER_PORT="+port, SecretVariable+"="+t.Name(), "GOMAXPROCS=2")
			c.Env = append(c.Env, environment...)
			said, err := c.CombinedOutput()
			if err != nil {
				t.Errorf("rank %d: %v\n%s", r, err, said)
				return
			}
			text, err := os.ReadFile(file)
			if err == nil {
				err = gob.NewDecoder(bytes.NewReader(text)).Decode(&results[r])
			}
			if err != nil {
				t.Errorf("rank %d: %v\n%s", r, err, said)
			}
		})
	}
	running.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return results
}

func init() {
	rankTasks["train"] = func(ctx context.Context, g *Group) (any, error) {
		all := map[string]trained{}
		for _, c := range distributedTrainings {
			if !c.selected(g.Size()) {
				continue
			}
			mesh, err := Mesh(ctx, g, c.mesh.DP, c.mesh.TP, c.mesh.PP)
			if err != nil {
				return nil, err
			}
			if c.bucket > 0 {
				mesh.DP.bucket = c.bucket
			}
			r, err := c.train(ctx, mesh)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
			all[c.name] = r
			if err := mesh.Close(); err != nil {
				return nil, err
			}
		}
		return all, nil
	}
}

// selected reports whether a test on n ranks runs the training.
func (c distributedTraining) selected(n int) bool {
	return c.mesh.Size() == n && strings.HasPrefix(c.name, os.Getenv(onlyTraining)) && (!c.long || os.Getenv("QUERN_LONG") != "")
}

// onlyTraining selects trainings by the beginning of their names.
const onlyTraining = "QUERN_TEST_MESH_ONLY"

// TestDistributedEqualsOneProcess compares losses, gradient norms and the weights after several steps
// on meshes with those of one process.
func TestDistributedEqualsOneProcess(t *testing.T) {
	for _, n := range []int{2, 4} {
		all := onRanks[map[string]trained](t, "train", n)
		for _, c := range distributedTrainings {
			if !c.selected(n) {
				continue
			}
			t.Run(c.name, func(t *testing.T) {
				want, err := c.train(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				parts, worst := 0, 0.0
				for rank, results := range all {
					got := results[c.name]
					parts += got.Parts
					worst = max(worst, compareTrained(t, rank, got, want, c.tolerance))
				}
				t.Logf("%v: largest difference %.1e", c.mesh, worst)
				for rank, results := range all {
					c.checkExchanges(t, rank, results[c.name], want)
				}
				elements := 0
				for name, values := range want.State {
					if name != "results" {
						elements += len(values)
					}
				}
				if replicated := parts - elements - c.tied; c.mesh.TP == 1 && replicated != 0 || replicated < 0 {
					t.Errorf("the ranks update %d elements, the model has %d", parts, elements)
				}
			})
		}
	}
}

// compareTrained compares the result of a rank with that of one process, and returns the largest
// difference.
func compareTrained(t *testing.T, rank int, got, want trained, tolerance float64) (worst float64) {
	t.Helper()
	if tolerance == 0 {
		tolerance = 1e-5
	}
	compare := func(what string, got, want float64) {
		d := math.Abs(got-want) / max(1, math.Abs(want))
		worst = max(worst, d)
		if !(d <= tolerance) {
			t.Errorf("rank %d: %s is %v, in one process %v", rank, what, got, want)
		}
	}
	if len(got.Losses) != len(want.Losses) || !slices.Equal(slices.Sorted(maps.Keys(got.State)), slices.Sorted(maps.Keys(want.State))) {
		t.Fatalf("rank %d: %d losses and tensors %v, in one process %d and %v", rank, len(got.Losses), slices.Sorted(maps.Keys(got.State)), len(want.Losses), slices.Sorted(maps.Keys(want.State)))
	}
	for i, v := range want.Losses {
		compare(fmt.Sprintf("loss or norm %d", i), got.Losses[i], v)
	}
	for name, values := range want.State {
		for i, v := range values {
			compare(fmt.Sprintf("%s[%d]", name, i), float64(got.State[name][i]), float64(v))
			if t.Failed() {
				return worst
			}
		}
	}
	return worst
}
