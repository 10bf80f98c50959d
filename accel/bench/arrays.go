package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// array is an input that all frameworks receive.
type array struct {
	group string // x, y or parameters
	shape []int
	data  []float32
}

// groups are the arrays of one case.
type groups []array

func (g groups) get(group string) groups {
	var found groups
	for _, a := range g {
		if a.group == group {
			found = append(found, a)
		}
	}
	return found
}

func (a array) tensor() *tensor.Tensor { return tensor.New(a.data, a.shape...) }

// tensorOf returns the array with integers if they are labels or tokens.
func (a array) tensorOf(integers bool) *tensor.Tensor {
	if integers {
		return tensor.FromInts(a.ints(), a.shape...)
	}
	return a.tensor()
}

func (a array) ints() []int {
	out := make([]int, len(a.data))
	for i, v := range a.data {
		out[i] = int(v)
	}
	return out
}

func (a array) bytes() []byte {
	out := make([]byte, len(a.data))
	for i, v := range a.data {
		out[i] = byte(v)
	}
	return out
}

// generator generates reproducible random values.
type generator struct{ *rand.Rand }

func newGenerator() *generator { return &generator{rand.New(rand.NewPCG(1, 2))} }

func (g *generator) normal(group string, shape ...int) array {
	return g.array(group, shape, func(int) float32 { return float32(g.NormFloat64()) })
}

func (g *generator) below(n int, group string, shape ...int) array {
	return g.array(group, shape, func(int) float32 { return float32(g.IntN(n)) })
}

func (g *generator) array(group string, shape []int, f func(int) float32) array {
	n := 1
	for _, d := range shape {
		n *= d
	}
	a := array{group, shape, make([]float32, n)}
	for i := range a.data {
		a.data[i] = f(i)
	}
	return a
}

func noArrays(*generator) groups { return nil }

func matmulArrays(m, k, n int) func(*generator) groups {
	return func(g *generator) groups { return groups{g.normal("x", m, k), g.normal("x", k, n)} }
}

// training returns batches of images with labels of ten classes, and the initial parameters of
// a model.
func training(make func() nn.Module, n int, shape ...int) func(*generator) groups {
	return func(g *generator) groups {
		var all groups
		for range steps {
			all = append(all, g.normal("x", append([]int{n}, shape...)...), g.below(10, "y", n))
		}
		return append(all, parameters(make(), all[0].tensor())...)
	}
}

// gptArrays returns batches of tokens, and the initial parameters of a model.
func gptArrays(make func() nn.Module, s gptSizes, n int) func(*generator) groups {
	return func(g *generator) groups {
		var all groups
		for range steps {
			all = append(all, g.below(s.tokens, "x", n, s.length), g.below(s.tokens, "y", n*s.length))
		}
		return append(all, parameters(make(), tensor.FromInts([]int{0}, 1, 1))...)
	}
}

// parameters returns the parameters that a model creates for an input.
func parameters(model nn.Module, x *tensor.Tensor) groups {
	tensor.NoGrad(func() { model.Forward(x) })
	var all groups
	for _, p := range nn.Parameters(model) {
		all = append(all, array{"parameters", p.Shape(), p.Data()})
	}
	return all
}

// vectorArrays returns batches of sequences with targets of the same shape, and the initial
// parameters of a model.
func vectorArrays(make func() nn.Module, shape ...int) func(*generator) groups {
	return func(g *generator) groups {
		var all groups
		for range steps {
			all = append(all, g.normal("x", shape...), g.normal("y", shape...))
		}
		return append(all, parameters(make(), all[0].tensor())...)
	}
}

func attentionArrays(g *generator) groups {
	var all groups
	for range 3 {
		all = append(all, g.normal("x", 4, 4, attentionLength, 64))
	}
	return append(all, g.normal("y", 4, 4, attentionLength, 64))
}

// loaderArrays returns byte images and an order of them.
func loaderArrays(g *generator) groups {
	order := array{"x", []int{imageCount}, make([]float32, imageCount)}
	for i, p := range g.Perm(imageCount) {
		order.data[i] = float32(p)
	}
	return groups{g.below(256, "x", imageCount, 1, 28, 28), order}
}

// arrayInfo describes an array in the JSON file beside the data.
type arrayInfo struct {
	Group string `json:"group"`
	Shape []int  `json:"shape"`
}

// write writes path.json and path.bin.
func (g groups) write(path string) error {
	list := []arrayInfo{}
	var raw bytes.Buffer
	for _, a := range g {
		list = append(list, arrayInfo{a.group, a.shape})
		if err := binary.Write(&raw, binary.LittleEndian, a.data); err != nil {
			return err
		}
	}
	text, err := json.Marshal(list)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".json", text, 0o600); err != nil {
		return err
	}
	return os.WriteFile(path+".bin", raw.Bytes(), 0o600)
}

// readGroups reads the files of write.
func readGroups(path string) (groups, error) {
	text, err := os.ReadFile(path + ".json")
	if err != nil {
		return nil, err
	}
	var list []arrayInfo
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("%s.json: %w", path, err)
	}
	raw, err := os.ReadFile(path + ".bin")
	if err != nil {
		return nil, err
	}
	var all groups
	for _, l := range list {
		n := 1
		for _, d := range l.Shape {
			n *= d
		}
		a := array{l.Group, l.Shape, make([]float32, n)}
		size, err := binary.Decode(raw, binary.LittleEndian, a.data)
		if err != nil {
			return nil, fmt.Errorf("%s.bin is shorter than the arrays that %s.json lists", path, path)
		}
		raw = raw[size:]
		all = append(all, a)
	}
	return all, nil
}
