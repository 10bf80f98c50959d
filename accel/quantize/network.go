package quantize

import (
	"github.com/quernlab/quern/accel/internal/engine/integer"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/training/layer"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// builder creates the substitutes of a model's layers.
type builder struct {
	table     layer.Substitutes
	layers    map[**tensor.Tensor]*quantizable // quantized layers, by the address of the weight
	folds     map[nn.Module]*quantizable       // by normalization: the layer that it is folded into
	inNetwork map[*quantizable]bool            // layers that are part of a network
}

// buildSubstitutes creates the substitutes for chains (nn.Sequential) and for quantized layers outside of
// chains.
func buildSubstitutes(model nn.Module, all []*quantizable) layer.Substitutes {
	b := &builder{table: layer.Substitutes{}, layers: map[**tensor.Tensor]*quantizable{}, folds: map[nn.Module]*quantizable{}, inNetwork: map[*quantizable]bool{}}
	for _, p := range all {
		if p.quantized == nil {
			continue
		}
		b.layers[p.Weight] = p
		if p.fold != nil {
			b.folds[p.fold.module] = p
		}
	}
	for m := range b.folds { // outside of chains
		b.table[m] = unchanged
	}
	for _, c := range chains(model) {
		b.chain(c)
	}
	for _, p := range all {
		if p.quantized != nil && !b.inNetwork[p] {
			b.table[p.Weight] = network(p)
		}
	}
	return b.table
}

// chains returns the nn.Sequential layers of a model, including those inside nn.Residual.
func chains(model nn.Module) []*nn.SequentialLayer {
	var found []*nn.SequentialLayer
	for _, m := range nn.NamedModules(model) {
		if c, ok := m.Module.(*nn.SequentialLayer); ok {
			found = append(found, c)
		}
		if s, ok := layer.Of(m.Module).(layer.Shortcut); ok {
			found = append(found, s.Chain.(*nn.SequentialLayer))
		}
	}
	return found
}

// product returns the quantized layer of a module, or nil.
func (b *builder) product(m nn.Module) *quantizable {
	if p, ok := layer.Of(m).(layer.MatMul); ok && isSingleLayer(m) {
		return b.layers[p.Weight]
	}
	return nil
}

// isSingleLayer reports whether a module is a single quantizable layer.
func isSingleLayer(m nn.Module) bool {
	switch m.(type) {
	case *nn.DenseLayer, *nn.Conv2DLayer:
		return true
	}
	return false
}

// chain replaces a chain by a copy in which the first layer of each run of quantized layers is a
// network for the whole run and the others are the identity, so that the indices of layers do not
// change.
func (b *builder) chain(c *nn.SequentialLayer) {
	layers := c.Layers()
	changed := false
	for i := 0; i < len(layers); i++ {
		if b.product(layers[i]) == nil {
			continue
		}
		net, end := b.run(layers, i)
		layers[i] = int8Network{kindOf(layers[i]), net}
		for j := i + 1; j < end; j++ {
			layers[j] = identity
		}
		changed = true
		i = end - 1
	}
	if changed {
		b.table[c] = nn.Sequential(layers...).Forward
	}
}

// int8Network is a layer that runs a network in place of others. Its name in errors is that of the
// layer it replaces.
type int8Network struct {
	name string
	net  *integer.Network
}

func (b int8Network) Forward(x *tensor.Tensor) *tensor.Tensor { return tensors.Quantized(x, b.net) }
func (b int8Network) String() string                          { return b.name }

func unchanged(x *tensor.Tensor) *tensor.Tensor { return x }

var identity = nn.Lambda(unchanged)

// run returns the network of the layers from an index on, and the index after it.
func (b *builder) run(layers []nn.Module, from int) (*integer.Network, int) {
	first := b.product(layers[from])
	n := &integer.Network{Input: first.quantized.input, Image: first.Image}
	image, channels := first.Image, 0 // channels of the images before Flatten
	var last *integer.MatMul
	add := func(p *quantizable) {
		if last != nil {
			last.Output = &p.quantized.input
		}
		last = p.integers(channels)
		n.Layers = append(n.Layers, last)
		b.inNetwork[p] = true
		channels = 0
	}
	add(first)
	end := from + 1
	var waiting []integer.Layer // added when a quantized layer follows
	relu := false
	for i := from + 1; i < len(layers); i++ {
		switch l := layer.Of(layers[i]).(type) {
		case layer.Normalization:
			if p := b.folds[layers[i]]; p == nil || layers[i-1] != p.module {
				return n, end
			}
		case layer.ReLU:
			if len(waiting) > 0 { // ReLU commutes with pooling and Flatten
				relu = true
				continue
			}
			last.ReLU = true
		case layer.Dropout:
		case layer.MaxPool:
			if !image {
				return n, end
			}
			waiting = append(waiting, pool(l))
			continue
		case layer.Flatten:
			if !image { // it may join the positions of sequences
				return n, end
			}
			image, channels = false, last.Out
			waiting = append(waiting, integer.Flatten{})
			continue
		case layer.MatMul:
			p := b.product(layers[i])
			if p == nil || p.Image != image {
				return n, end
			}
			last.ReLU = last.ReLU || relu
			n.Layers = append(n.Layers, waiting...)
			waiting, relu = nil, false
			add(p)
		default:
			return n, end
		}
		if len(waiting) == 0 {
			end = i + 1
		}
	}
	return n, end
}

func pool(l layer.MaxPool) *integer.MaxPool {
	w := window(l.Window, l.Size, l.Size)
	if l.Window.Stride == [2]int{} {
		w.Stride = w.Kernel
	}
	return &integer.MaxPool{Window: w}
}

// window returns the window of a layer with its defaults filled in.
func window(w tensor.Window, height, width int) integer.Window {
	out := integer.Window{Kernel: [2]int{height, width}, Stride: w.Stride, Padding: w.Padding, Dilation: w.Dilation}
	for axis := range 2 {
		out.Stride[axis], out.Dilation[axis] = max(out.Stride[axis], 1), max(out.Dilation[axis], 1)
	}
	return out
}

// integers returns the layer in the form of package integer. channels is the number of channels
// of its flattened input images, or 0.
func (p *quantizable) integers(channels int) *integer.MatMul {
	b := p.quantized
	out := &integer.MatMul{Window: integer.Point(), Image: p.Image, Groups: 1, Out: b.shape[0], In: b.shape[1], Weight: b.weight, Bias: b.bias}
	for _, step := range b.step {
		out.Factor = append(out.Factor, step*b.input.Step)
	}
	planes, positions := channels, 1 // of the weight: the file has channels first, package integer last
	if p.Image {
		out.Window = window(p.Window, b.shape[2], b.shape[3])
		out.Groups = max(p.Window.Groups, 1)
		out.In = b.shape[1] * out.Groups
		planes, positions = b.shape[1], b.shape[2]*b.shape[3]
	} else if channels > 0 {
		positions = b.shape[1] / channels
	}
	if positions > 1 {
		out.Weight = channelsLast(b.weight, planes, positions)
	}
	return out
}

// channelsLast transposes [rows, planes, places] to [rows, places, planes].
func channelsLast(w []int8, planes, positions int) []int8 {
	out := make([]int8, len(w))
	for row := 0; row < len(w); row += planes * positions {
		for c := range planes {
			for at := range positions {
				out[row+at*planes+c] = w[row+c*positions+at]
			}
		}
	}
	return out
}

// network returns a single quantized layer with float input and output.
func network(p *quantizable) layer.Forward {
	n := &integer.Network{Input: p.quantized.input, Image: p.Image, Layers: []integer.Layer{p.integers(0)}}
	return func(x *tensor.Tensor) *tensor.Tensor { return tensors.Quantized(x, n) }
}
