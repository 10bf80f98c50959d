package main

import (
	"context"
	"fmt"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/models"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/onnx"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
)

// Sizes of the cases of inference.
const (
	photoSize       = 224 // width and height of an image
	promptLength    = 16
	generatedTokens = 32
)

// imageArrays returns n images, and the parameters of a ResNet-18.
func imageArrays(n int) func(*generator) groups {
	return func(g *generator) groups {
		x := g.normal("x", n, 3, photoSize, photoSize)
		model := models.ResNet18(1000)
		nn.Train(model, false)
		return append(groups{x}, parameters(model, tensor.Zeros(1, 3, 32, 32))...)
	}
}

// setParameters sets the parameters of a model to those of a case.
func setParameters(model nn.Module, g groups) error {
	parameters, given := nn.Parameters(model), g.get("parameters")
	if len(parameters) != len(given) {
		return fmt.Errorf("the case has %d parameters, but the model has %d", len(given), len(parameters))
	}
	for i, p := range parameters {
		p.SetData(given[i].data)
	}
	return nil
}

// resNet18With returns a ResNet-18 for inference with the parameters of a case.
func resNet18With(g groups) (nn.Module, error) {
	m := models.ResNet18(1000)
	nn.Train(m, false)
	tensor.NoGrad(func() { m.Forward(tensor.Zeros(1, 3, 32, 32)) }) // creates the parameters
	return m, setParameters(m, g)
}

// startImages measures the classification of images.
func startImages(g groups) (workload, error) {
	m, err := resNet18With(g)
	x := g.get("x")[0].tensor()
	return inference(func() *tensor.Tensor { return m.Forward(x) }, largestLogit), err
}

// largestLogit returns the largest logit of the first image.
func largestLogit(y *tensor.Tensor) float64 { return y.Max(1).Float64s()[0] }

func exportResNet(path string, g groups) error {
	m, err := resNet18With(g)
	if err != nil {
		return err
	}
	return onnx.Export(path, m, g.get("x")[0].tensor())
}

// promptArrays returns a prompt, and the parameters of a GPT-2.
func promptArrays(g *generator) groups {
	c := models.GPT2Small()
	return append(groups{g.below(c.VocabSize, "x", promptLength)}, parameters(models.GPT2(c), tensor.FromInts([]int{0}, 1, 1))...)
}

// startGeneration measures the continuation of a prompt with the likeliest tokens.
func startGeneration(g groups) (workload, error) {
	m := models.GPT2(models.GPT2Small())
	tensor.NoGrad(func() { m.Forward(tensor.FromInts([]int{0}, 1, 1)) })
	prompt, tokens := g.get("x")[0].ints(), []int(nil)
	return workload{
		step: func() (err error) {
			tokens, err = accel.Generate(display.Unmeasured(context.Background()), m, prompt, generatedTokens, accel.Temperature(0))
			return err
		},
		value: func() float64 { return float64(sumOf(tokens)) },
	}, setParameters(m, g)
}

func sumOf(tokens []int) (sum int) {
	for _, t := range tokens {
		sum += t
	}
	return sum
}
