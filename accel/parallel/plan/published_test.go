package plan

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
)

// run is a published run.
type run struct {
	name    string
	model   Transformer
	change  func(*Precision)
	cluster Cluster
	layout  Layout
	batch   int
	seconds float64 // published time of a step
	tflops  float64 // published model TFLOP/s of each GPU, if there is no time
	fitted  bool    // the efficiency of the GPU is fitted to this run
	within  float64 // tolerance of the prediction
	source  string
}

func megatron(name string, width, heads, layers int) Transformer {
	return Transformer{Name: name, Layers: layers, Width: width, Heads: heads, Vocabulary: 51200, Sequence: 2048, Tied: true, Dropout: true, Unfused: true}
}

var (
	gpt22B  = megatron("GPT 22B", 6144, 64, 48)
	gpt175B = megatron("GPT-3 175B", 12288, 96, 96)
	gpt530B = megatron("MT-NLG 530B", 20480, 128, 105)
	gpt1T   = megatron("GPT 1T", 25600, 160, 128)

	llama405B = Transformer{Name: "Llama 3 405B", Layers: 126, Width: 16384, Heads: 128, KeyValueHeads: 8, Inner: 53248, Vocabulary: 128256, Sequence: 8192, Gated: true}
	llama70B  = Transformer{Name: "Llama 3 70B", Layers: 80, Width: 8192, Heads: 64, KeyValueHeads: 8, Inner: 28672, Vocabulary: 128256, Sequence: 8192, Gated: true}
	llama8B   = Transformer{Name: "Llama 3 8B", Layers: 32, Width: 4096, Heads: 32, KeyValueHeads: 8, Inner: 14336, Vocabulary: 128256, Sequence: 8192, Gated: true}
	gpt2Small = Transformer{Name: "GPT-2 124M", Layers: 12, Width: 768, Heads: 12, Vocabulary: 50304, Sequence: 1024, Tied: true}
	gpt2XL    = Transformer{Name: "GPT-2 1558M", Layers: 48, Width: 1600, Heads: 25, Vocabulary: 50304, Sequence: 1024, Tied: true}
)

// The sources:
//
//   - Korthikanti et al., Reducing Activation Recomputation in Large Transformer Models, 2022 (arXiv:2205.05198): configurations in table 3,
//     times in table 5, data parallelism in section 6.3, which does not overlap the exchange of gradients; 175B and 530B have three chunks.
//   - Llama Team, The Llama 3 Herd of Models, 2024 (arXiv:2407.21783): table 4. The number of chunks is not in it; one block of 128
//     (with embedding and head) in each chunk is what section 3.3.2 describes.
//   - github.com/karpathy/llm.c, scripts/run_gpt2_124M.sh and run_gpt2_1558M.sh, whose gradients are in bfloat16.
//   - github.com/KellerJordan/modded-nanogpt, README.md: the PyTorch trainer of llm.c needs 45 minutes for 10 billion tokens, in steps
//     of 524,288.
//   - github.com/NVIDIA-NeMo/Megatron-Bridge, docs/performance-summary.md of version 25.11, table of DGX H100.
const (
	korthikanti = "Korthikanti et al. 2022, table 5"
	llama3      = "Llama Team 2024, table 4"
	llmc        = "llm.c"
	modded      = "Modded-NanoGPT"
	bridge      = "Megatron Bridge 25.11"
)

func published() []run {
	full := func(tp, pp, chunks, dp, micro int) Layout {
		return Layout{DP: dp, TP: tp, PP: pp, Chunks: chunks, MicroBatch: micro, Recompute: RecomputeBlocks, Sequential: true}
	}
	selective := func(tp, pp, chunks, dp, micro int) Layout {
		return Layout{DP: dp, TP: tp, PP: pp, Chunks: chunks, MicroBatch: micro, Recompute: RecomputeAttention, SequenceParallel: true, Sequential: true}
	}
	bf16 := func(p *Precision) { *p = BF16(); p.Gradients = 2 }
	fp8 := func(p *Precision) { *p = FP8() }
	return []run{
		{name: "A100, 175B", model: gpt175B, cluster: DGXA100(8), layout: selective(8, 8, 3, 1, 1), batch: 64, seconds: 13.75, fitted: true, within: 0.02, source: korthikanti},
		{name: "A100, 175B, recomputed", model: gpt175B, cluster: DGXA100(8), layout: full(8, 8, 3, 1, 1), batch: 64, seconds: 18.13, within: 0.15, source: korthikanti},
		{name: "A100, 22B", model: gpt22B, cluster: DGXA100(1), layout: selective(8, 1, 1, 1, 4), batch: 4, seconds: 1.10, within: 0.15, source: korthikanti},
		{name: "A100, 22B, recomputed", model: gpt22B, cluster: DGXA100(1), layout: full(8, 1, 1, 1, 4), batch: 4, seconds: 1.42, within: 0.15, source: korthikanti},
		{name: "A100, 530B", model: gpt530B, cluster: DGXA100(35), layout: selective(8, 35, 3, 1, 1), batch: 280, seconds: 37.83, within: 0.15, source: korthikanti},
		{name: "A100, 530B, recomputed", model: gpt530B, cluster: DGXA100(35), layout: full(8, 35, 3, 1, 1), batch: 280, seconds: 49.05, within: 0.15, source: korthikanti},
		{name: "A100, 530B, dp 8", model: gpt530B, cluster: DGXA100(280), layout: selective(8, 35, 3, 8, 1), batch: 2240, seconds: 39.15, within: 0.15, source: korthikanti},
		{name: "A100, 1T", model: gpt1T, cluster: DGXA100(64), layout: selective(8, 64, 1, 1, 1), batch: 512, seconds: 71.49, within: 0.15, source: korthikanti},
		{name: "A100, 1T, recomputed", model: gpt1T, cluster: DGXA100(64), layout: full(8, 64, 1, 1, 1), batch: 512, seconds: 94.42, within: 0.15, source: korthikanti},
		{name: "A100, GPT-2 124M", model: gpt2Small, change: bf16, cluster: DGXA100(1), layout: Layout{DP: 8, TP: 1, PP: 1, ZeRO: 1, MicroBatch: 64}, batch: 512, seconds: 0.3, within: 0.15, source: llmc},
		{name: "H100, 405B, 8k GPUs", model: llama405B, cluster: DGXH100(1024), layout: Layout{DP: 64, TP: 8, PP: 16, Chunks: 8, ZeRO: 1, MicroBatch: 1, SequenceParallel: true}, batch: 2048, tflops: 430, fitted: true, within: 0.02, source: llama3},
		{name: "H100, 405B, 16k GPUs", model: llama405B, cluster: DGXH100(2048), layout: Layout{DP: 128, TP: 8, PP: 16, Chunks: 8, ZeRO: 1, MicroBatch: 1, SequenceParallel: true}, batch: 2048, tflops: 400, within: 0.15, source: llama3},
		{name: "H100, GPT-2 1558M", model: gpt2XL, change: bf16, cluster: DGXH100(1), layout: Layout{DP: 8, TP: 1, PP: 1, ZeRO: 1, MicroBatch: 16}, batch: 1024, seconds: 2.80, within: 0.15, source: llmc},
		{name: "H100, GPT-2 124M", model: gpt2Small, cluster: DGXH100(1), layout: Layout{DP: 8, TP: 1, PP: 1, MicroBatch: 64}, batch: 512, seconds: 45 * 60 / (10e9 / 524288), within: 0.15, source: modded},
		{name: "H100, FP8, 70B", model: llama70B, change: fp8, cluster: DGXH100(8), layout: Layout{DP: 2, TP: 4, PP: 8, Chunks: 5, ZeRO: 1, MicroBatch: 1, SequenceParallel: true}, batch: 128, tflops: 719, within: 0.15, source: bridge},
		{name: "H100, FP8, 8B", model: llama8B, change: fp8, cluster: DGXH100(1), layout: Layout{DP: 8, TP: 1, PP: 1, ZeRO: 3, MicroBatch: 1}, batch: 128, tflops: 744, within: 0.15, source: bridge},
	}
}

// TestPublished predicts published runs, and compares with the table of docs/planning.md. It is the only test of the calibration: each
// efficiency is fitted to one of them.
func TestPublished(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/planning.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, r := range published() {
		precision := BF16()
		if r.change != nil {
			r.change(&precision)
		}
		m := r.model.Model(precision)
		p, err := Predict(m, r.cluster, r.layout, r.batch)
		if err != nil {
			t.Errorf("%s: %v", r.name, err)
			continue
		}
		seconds := r.seconds
		if seconds == 0 {
			seconds = m.FLOPs() * float64(r.batch) / (r.tflops * 1e12 * float64(r.layout.GPUs()))
		}
		difference := p.Time/seconds - 1
		if math.Abs(difference) > r.within {
			t.Errorf("%s: predicted %.4g s, published %.4g s, a difference of more than %.0f %%", r.name, p.Time, seconds, 100*r.within)
		}
		note := ""
		if r.fitted {
			note = ", fitted"
		}
		rows = append(rows, fmt.Sprintf("| %s | %s%s | %.4g s | %.4g s | %+.1f %% | %.0f %% |", r.name, r.source, note, seconds, p.Time, 100*difference, 100*p.MFU))
	}
	if table := strings.Join(rows, "\n") + "\n"; !strings.Contains(string(text), table) {
		t.Errorf("docs/planning.md does not contain this table:\n%s", table)
	}
}
