package plan

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/internal/golden"
)

func TestSearch(t *testing.T) {
	t.Parallel()
	priced := DGXH100(8)
	priced.Price = 2
	for _, c := range []struct {
		name    string
		model   Model
		cluster Cluster
		batch   int
		options []Option
	}{
		{"gpt2", gpt2Small.Model(BF16()), DGXH100(1), 512, nil},
		{"llama8B", llama8B.Model(BF16()), priced, 128, []Option{GPUs(8, 64), Examples(1e9 / 8192)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, err := Search(c.model, c.cluster, c.batch, c.options...)
			if err != nil {
				t.Fatal(err)
			}
			golden.Check(t, c.name+".txt", []byte(p.Report().String()+"\n"))
			for _, best := range p.Best {
				if !best.Fits || best.Memory.Total() > c.cluster.GPU.Memory {
					t.Errorf("%v does not fit", best.Layout)
				}
			}
		})
	}
}

// TestRemarks requires the sizes that a mesh cannot have to be explained, because the tables do not contain them.
func TestRemarks(t *testing.T) {
	t.Parallel()
	gpt := gpt2Small.Model(BF16())
	module := gpt
	module.Modules = 2
	small := DGXH100(1)
	small.GPU.Memory = 5.9e9
	for _, c := range []struct {
		name    string
		model   Model
		cluster Cluster
		batch   int
		gpus    []int
		want    []string
	}{
		{"none", gpt, DGXH100(1), 8, []int{4}, nil},
		{"batch", gpt, DGXH100(2), 12, []int{16}, []string{
			"On 16 GPUs, dp cannot be 8, 16: it must divide the batch of 12 examples.",
			"On 16 GPUs, tp cannot be 8: it must divide the 12 heads.",
			"On 16 GPUs, pp cannot be 16: the model has 14 blocks.",
		}},
		{"modules", module, DGXH100(1), 8, []int{4}, []string{"On 4 GPUs, pp cannot be 4: parallel.Distribute can divide the model into 2 modules, those of an nn.Sequential."}},
		{"memory of some", gpt, small, 8, []int{1, 4}, []string{"On 1 GPU nothing fits: the memory is too small, or no mesh divides the batch and the model."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, err := Search(c.model, c.cluster, c.batch, GPUs(c.gpus...))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(p.Remarks, c.want) {
				t.Errorf("the remarks are %q, want %q", p.Remarks, c.want)
			}
			for _, remark := range c.want {
				if !strings.Contains(p.Report().String(), remark) {
					t.Errorf("the report does not contain %q", remark)
				}
			}
		})
	}
}

func TestSearchErrors(t *testing.T) {
	t.Parallel()
	small := gpt2Small.Model(BF16())
	unknown := DGXH100(1)
	unknown.Efficiency.Network = 0
	slow := DGXA100(1)
	for _, c := range []struct {
		name    string
		model   Model
		cluster Cluster
		batch   int
		options []Option
		want    string
	}{
		{"memory", llama405B.Model(BF16()), DGXH100(2), 2048, []Option{GPUs(16)}, "the model does not fit: on [16] GPUs it needs at least"},
		{"batch", small, DGXH100(1), 0, nil, "the batch has 0 examples"},
		{"indivisible batch", Model{Blocks: small.Blocks[:2], Precision: BF16(), Heads: 12}, DGXH100(1), 1, []Option{GPUs(7)}, "no mesh of [7] GPUs divides a batch of 1 examples"},
		{"too many GPUs", small, DGXH100(1), 8, []Option{GPUs(16)}, "GPUs(16): the cluster has 8"},
		{"no GPUs", small, DGXH100(1), 8, []Option{GPUs(0)}, "GPUs(0): the numbers must be at least 1"},
		{"no examples", small, DGXH100(1), 8, []Option{Examples(0)}, "Examples(0): the number must be positive"},
		{"unknown efficiency", small, unknown, 8, nil, "the cluster's Efficiency.Network must be positive, it is 0"},
		{"type without a peak", llama8B.Model(FP8()), slow, 8, nil, "the cluster's GPU.FLOPs of float8 must be positive"},
		{"no blocks", Model{}, DGXH100(1), 8, nil, "the model has no blocks"},
		{"no nodes", small, DGXH100(0), 8, nil, "the cluster has 0 nodes with 8 GPUs each"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if _, err := Search(c.model, c.cluster, c.batch, c.options...); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, want %s", err, c.want)
			}
		})
	}
}

func TestLayoutErrors(t *testing.T) {
	t.Parallel()
	transformer := gpt2Small.Model(BF16())
	profiled := Model{Blocks: []Block{{Name: "0", Forward: Work{Seconds: 1}}, {Name: "1", Forward: Work{Seconds: 1}}}}
	whole, chained := profiled, Model{Blocks: slices.Repeat(profiled.Blocks, 2), Modules: 4}
	whole.Modules = 1
	for _, c := range []struct {
		name   string
		model  Model
		layout Layout
		batch  int
		want   string
	}{
		{"sizes", transformer, Layout{DP: 0, TP: 1, PP: 1, MicroBatch: 1}, 8, "mesh dp 0, tp 1, pp 1: the sizes and the micro-batch must be at least 1"},
		{"chunks", transformer, Layout{DP: 1, TP: 1, PP: 2, MicroBatch: 1, Chunks: -1}, 8, "mesh dp 1, tp 1, pp 2: Chunks -1: the number of chunks of each rank must be at least 1, or 0 for 1"},
		{"ZeRO", transformer, Layout{DP: 1, TP: 1, PP: 1, MicroBatch: 1, ZeRO: 4}, 8, "ZeRO 4: the stages are 0 to 3"},
		{"recomputation", transformer, Layout{DP: 1, TP: 1, PP: 1, MicroBatch: 1, Recompute: 9}, 8, "Recompute(9) is unknown"},
		{"GPUs", transformer, Layout{DP: 16, TP: 1, PP: 1, MicroBatch: 1}, 16, "it needs 16 GPUs and the cluster has 8"},
		{"heads", transformer, Layout{DP: 1, TP: 8, PP: 1, MicroBatch: 1}, 8, "tensor parallelism cannot divide 12 heads"},
		{"measured blocks", profiled, Layout{DP: 1, TP: 2, PP: 1, MicroBatch: 1}, 8, "tensor parallelism cannot divide any block"},
		{"pipeline", profiled, Layout{DP: 1, TP: 1, PP: 4, MicroBatch: 1}, 8, "a pipeline of 4 parts is longer than the 2 blocks"},
		{"batch", transformer, Layout{DP: 2, TP: 1, PP: 1, MicroBatch: 3}, 8, "a batch of 8 examples cannot be divided into micro-batches of 3 on 2 ranks"},
		{"replicas", transformer, Layout{DP: 8, TP: 1, PP: 1, MicroBatch: 1}, 100, "a batch of 100 examples cannot be divided among 8 replicas: use a multiple of 8"},
		{"modules", whole, Layout{DP: 1, TP: 1, PP: 2, MicroBatch: 1}, 8, "a pipeline of 2 stages is longer than the 1 module into which parallel.Distribute can divide the model"},
		{"chunks of modules", chained, Layout{DP: 1, TP: 1, PP: 2, MicroBatch: 1, Chunks: 2}, 8, "parallel.Distribute gives each rank one chunk"},
		{"chunks alone", transformer, Layout{DP: 1, TP: 1, PP: 1, MicroBatch: 1, Chunks: 2}, 8, "several chunks need a pipeline"},
		{"chunks", transformer, Layout{DP: 1, TP: 1, PP: 4, MicroBatch: 1, Chunks: 2}, 6, "the number of micro-batches (6) must be a multiple of pp"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := Predict(c.model, DGXH100(1), c.layout, c.batch)
			var layout *LayoutError
			if !errors.As(err, &layout) || layout.Layout != c.layout || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, want %s", err, c.want)
			}
		})
	}
}
