package main

import (
	"fmt"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// gpuSizes are the sizes of the cases for GPUs.
type gpuSizes struct {
	mlp           []int // widths
	mlpBatch      int
	channels      [4]int
	image, images int // side in pixels, batch
	gpt           gptSizes
	sequences     int
	lstm          lstmSizes
	matmuls       []int
}

// lstmSizes are the sizes of an LSTM of two layers.
type lstmSizes struct{ batch, steps, width int }

var (
	fullSizes = gpuSizes{
		mlp: []int{784, 512, 512, 10}, mlpBatch: 512,
		channels: [4]int{64, 128, 256, 512}, image: 32, images: 512,
		gpt: gptSizes{tokens: 50304, length: 1024, layers: 12, width: 768, heads: 12}, sequences: 16,
		lstm:    lstmSizes{batch: 64, steps: 128, width: 512},
		matmuls: []int{512, 4096, 8192},
	}
	quickSizes = gpuSizes{
		mlp: []int{20, 16, 16, 10}, mlpBatch: 16,
		channels: [4]int{8, 8, 8, 8}, image: 16, images: 2,
		gpt: gptSizes{tokens: 32, length: 16, layers: 1, width: 32, heads: 2}, sequences: 2,
		lstm:    lstmSizes{batch: 2, steps: 3, width: 16},
		matmuls: []int{64},
	}
)

// gpuCases returns the cases for a GPU; the quick ones are small enough for the simulated one. The
// case whose compilation by PyTorch takes longest is the last.
func gpuCases(quick bool) []benchCase {
	s := fullSizes
	if quick {
		s = quickSizes
	}
	eager, all := []string{"eager"}, []string{"eager", "graph", "compile"}
	mlp := func() nn.Module { return mlpOf(s.mlp[1:]) }
	resNet := func() nn.Module { return resNetOf(s.channels, s.image/8) }
	gpt := func() nn.Module { return newGPT(s.gpt) }
	lstm := func() nn.Module { return lstmOf(s.lstm.width) }
	half, series := images, vectors
	half.dtype, series.dtype = tensor.BFloat16, tensor.BFloat16
	cases := []benchCase{
		{name: "mlp", description: fmt.Sprintf("MLP %d, batch %d, Adam", s.mlp, s.mlpBatch), samples: s.mlpBatch, settings: all,
			arrays: training(mlp, s.mlpBatch, s.mlp[0]), start: startTraining(mlp, images)},
		{name: "resnet9", description: fmt.Sprintf("ResNet-9 %d on %d×%d, batch %d, bfloat16, Adam", s.channels, s.image, s.image, s.images), samples: s.images, settings: all, half: true,
			arrays: training(resNet, s.images, 3, s.image, s.image), start: startTraining(resNet, half)},
		{name: "lstm", description: fmt.Sprintf("LSTM, 2 layers of %d, T %d, batch %d, bfloat16, Adam", s.lstm.width, s.lstm.steps, s.lstm.batch), samples: s.lstm.batch * s.lstm.steps, settings: eager, half: true,
			arrays: vectorArrays(lstm, s.lstm.batch, s.lstm.steps, s.lstm.width), start: startTraining(lstm, series)},
	}
	matmuls := []struct {
		name, description string
		start             func(groups) (workload, error)
		settings          []string
		half              bool
	}{
		{"gemm", "bfloat16", startMatMul(tensor.BFloat16), eager, true},
		{"gemm32-", "float32", startMatMul(tensor.Float32), eager, false},
		{"gemm8-", "Linear in FP8 with scaling", startMatMulFP8, nil, false},
	}
	for _, m := range matmuls {
		for _, n := range s.matmuls {
			cases = append(cases, benchCase{name: fmt.Sprint(m.name, n), description: fmt.Sprintf("matmul %d³, %s", n, m.description), model: "gemm",
				flops: 2 * float64(n) * float64(n) * float64(n), settings: m.settings, half: m.half, arrays: matmulArrays(n, n, n), start: m.start})
		}
	}
	tokens := objective{loss: nn.CrossEntropy, labels: true, tokens: true, dtype: tensor.BFloat16}
	return append(cases, benchCase{name: "gpt2", description: fmt.Sprintf("GPT-2 of %d layers, width %d, T %d, batch %d, bfloat16, Adam", s.gpt.layers, s.gpt.width, s.gpt.length, s.sequences),
		samples: s.sequences * s.gpt.length, settings: all, heads: s.gpt.heads, half: true,
		arrays: gptArrays(gpt, s.gpt, s.sequences), start: startTraining(gpt, tokens)})
}
