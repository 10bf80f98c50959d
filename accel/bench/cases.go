package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/quernlab/quern/accel/tensor"
)

// benchCase is one benchmark.
type benchCase struct {
	name        string
	description string // description of a step
	// flops is the FLOPs of a step by the definition of its matrix multiplications and
	// convolutions, and bytes the memory traffic that it needs at least; they give a lower
	// bound of its time.
	flops, bytes float64
	samples      int      // images or tokens of a step
	threads      []int    // settings of Quern
	settings     []string // settings of PyTorch
	model        string   // function of the scripts; if it is empty, name
	heads        int      // attention heads
	half         bool     // autocast to bfloat16
	cold         bool     // the caches are emptied before each step
	jax          bool
	arrays       func(*generator) groups
	start        func(groups) (workload, error)
	export       func(path string, g groups) error   // writes the file for onnxruntime; nil if it is not measured
	files        func(path string) error             // writes the input files of a case without arrays; their names begin with path
	startFiles   func(path string) (workload, error) // instead of start, for such a case
	// Targets for Quern; 0 if there is none.
	share     []float64 // of the peak, for each entry of threads
	overTorch float64
	overJAX   float64
	over      map[string]float64 // over runners of other programs than frameworks
	rate      float64            // bytes per second
}

// cases returns the cases of the device.
func (o options) cases() []benchCase {
	if o.device == "cpu" {
		return cpuCases()
	}
	return gpuCases(o.quick)
}

func (o options) caseNames() []string {
	var names []string
	for _, c := range o.cases() {
		names = append(names, c.name)
	}
	return names
}

// coldSuffix is the end of the name of a benchmark whose caches are emptied before each step.
const coldSuffix = "-cold"

func (o options) caseNamed(name string) (benchCase, error) {
	all := o.cases()
	warm, cold := strings.CutSuffix(name, coldSuffix)
	i := slices.IndexFunc(all, func(c benchCase) bool { return c.name == warm })
	if i < 0 || cold && o.device != "cpu" {
		return benchCase{}, fmt.Errorf("there is no benchmark %q on %s; the benchmarks are %v", name, o.device, o.caseNames())
	}
	c := all[i]
	if cold {
		c.name, c.model, c.cold = name, cmp.Or(c.model, warm), true
		c.description += "; caches emptied before each step"
	}
	return c, nil
}

// Sizes of the cases for the CPU.
const (
	batch           = 128
	resNetBatch     = 32 // batch of ResNet-9
	steps           = 4  // batches that a training cycles through
	width           = 128
	heads           = 4
	sequence        = 128
	sequences       = 16
	recurrentBatch  = 32
	recurrentSteps  = 64
	recurrentWidth  = 256
	recurrentLayers = 2
	encoderLayers   = 4
	attentionLength = 512 // sequence length of the attention case
	imageCount      = 16384
	imageSize       = 28 * 28
	copyElements    = 64 << 20 // elements
)

func cpuCases() []benchCase {
	eager, all := []string{"eager"}, []string{"eager", "compile"}
	layouts := []string{"eager", "compile", "channels-last"}
	inference := append(slices.Clone(layouts), onnxruntime)
	cases := []benchCase{
		{name: "bandwidth", description: "copy 256 MiB", bytes: 2 * 4 * copyElements, threads: []int{1, 2}, settings: eager, arrays: noArrays, start: startCopy},
		{name: "gemm-1024", description: "1024×1024 by 1024×1024", flops: 2 * 1024 * 1024 * 1024, threads: []int{1, 2}, settings: eager, model: "gemm", jax: true,
			arrays: matmulArrays(1024, 1024, 1024), start: startMatMul(tensor.Float32), share: []float64{0.85, 0.80}},
		{name: "gemm-784", description: "512×784 by 784×512", flops: 2 * 512 * 512 * 784, threads: []int{1, 2}, settings: eager, model: "gemm", jax: true,
			arrays: matmulArrays(512, 784, 512), start: startMatMul(tensor.Float32), share: []float64{0.75, 0.75}},
		{name: "mlp", description: "784-256-128-10, batch 128, Adam", flops: batch * (4*784*256 + 6*256*128 + 6*128*10), threads: []int{2}, settings: all, jax: true,
			arrays: training(mlp, batch, imageSize), start: startTraining(mlp, images), overTorch: 2.5, overJAX: 1.3},
		{name: "cnn", description: "conv 16, conv 32, 1568-10 of 28×28, batch 128, Adam", flops: batch * (4*16*9*784 + 6*32*16*9*196 + 6*1568*10), threads: []int{2}, settings: layouts, jax: true,
			arrays: training(cnn, batch, 1, 28, 28), start: startTraining(cnn, images), overTorch: 2.5},
		{name: "gpt-block", description: "width 128, 4 heads, sequence length 128, batch 16, Adam", flops: 3 * sequences * sequence * (2*12*width*width + 2*2*sequence*width/2), threads: []int{2}, settings: all, heads: heads, jax: true,
			arrays: vectorArrays(block, sequences, sequence, width), start: startTraining(block, vectors), overTorch: 1.5},
		{name: "lstm", description: "2 layers of 256, 64 steps, batch 32, Adam", flops: recurrentBatch * recurrentSteps * (3*recurrentLayers*2*8*recurrentWidth*recurrentWidth - 2*4*recurrentWidth*recurrentWidth), threads: []int{2}, settings: eager,
			arrays: vectorArrays(lstm, recurrentBatch, recurrentSteps, recurrentWidth), start: startTraining(lstm, vectors), overTorch: 1.5},
		{name: "transformer", description: "4 encoder layers of 256, 4 heads, sequence length 64, batch 32, Adam", flops: 3 * encoderLayers * recurrentBatch * recurrentSteps * (2*12*recurrentWidth*recurrentWidth + 2*2*recurrentSteps*recurrentWidth), threads: []int{2}, settings: all, heads: heads,
			arrays: vectorArrays(encoder, recurrentBatch, recurrentSteps, recurrentWidth), start: startTraining(encoder, vectors), overTorch: 1.3},
		{name: "resnet18-1", description: "ResNet-18, inference, 1 image of 224×224", flops: resNet18Flops, threads: []int{2}, settings: inference, model: "resnet18",
			arrays: imageArrays(1), start: startImages, export: exportResNet, overTorch: 1.2, over: map[string]float64{onnxruntime: 1 / 1.3}},
		{name: "resnet18-32", description: "ResNet-18, inference, 32 images of 224×224", flops: 32 * resNet18Flops, threads: []int{2}, settings: inference, model: "resnet18",
			arrays: imageArrays(32), start: startImages, export: exportResNet, overTorch: 1.2, over: map[string]float64{onnxruntime: 1 / 1.3}},
		{name: "gpt2-generate", description: "GPT-2 of 124 million parameters, 16 tokens, 32 more with a cache", bytes: 32 * 4 * 124e6, threads: []int{2}, settings: eager,
			arrays: promptArrays, start: startGeneration, overTorch: 1.2},
		{name: "resnet9", description: "64-128-256-512 channels, 28×28, batch 32, Adam", flops: resNetBatch * resNetFlops, threads: []int{2}, settings: layouts, jax: true,
			arrays: training(resNet, resNetBatch, 1, 28, 28), start: startTraining(resNet, images), overTorch: 1.2},
		{name: "attention", description: "forward and gradients, batch 4, 4 heads of 64, sequence length 512, causal", flops: 7 * 2 * 16 * attentionLength * attentionLength * 64 / 2, threads: []int{2}, settings: all, jax: true,
			arrays: attentionArrays, start: startAttention},
		{name: "loader", description: "16384 byte images shuffled into float batches of 256", bytes: imageCount * imageSize, threads: []int{1, 2}, settings: eager,
			arrays: loaderArrays, start: startLoader, rate: 1e9},
		{name: "csv", description: "reading a CSV file of a million rows and eight columns", bytes: csvBytes, threads: []int{1, 2}, settings: []string{pyarrow},
			arrays: noArrays, files: writeCSV, startFiles: startCSV, over: map[string]float64{pyarrow + "-1": 1, pyarrow + "-2": 1}},
	}
	for _, name := range []string{"bpe", "wordpiece", "unigram"} {
		cases = append(cases, benchCase{name: "tokens-" + name, description: "tokens of the lines of a novel, 8000 in the vocabulary", bytes: 388e3, threads: []int{1}, settings: []string{tokenizers}, model: "tokens",
			arrays: noArrays, files: writeTokenizer(name), startFiles: startTokenizer, over: map[string]float64{tokenizers + "-1": 1}})
	}
	return cases
}

// resNet18Flops is for one image of 224×224.
const resNet18Flops = 2 * (64*3*49*112*112 + 4*64*64*9*56*56 +
	(64+3*128)*128*9*28*28 + 64*128*28*28 + (128+3*256)*256*9*14*14 + 128*256*14*14 + (256+3*512)*512*9*7*7 + 256*512*7*7 + 512*1000)

// resNetFlops is for one image: the first convolution has no input gradient; every other
// convolution and matrix multiplication has two more of its size in the backward pass.
const resNetFlops = 2 * (2*64*9*784 +
	3*(128*64*9*784+2*128*128*9*196+256*128*9*196+512*256*9*49+2*512*512*9*9+512*10))
