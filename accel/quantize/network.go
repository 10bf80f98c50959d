package quantize

import (
	"slices"

	"github.com/quernlab/quern/accel/internal/integer"
	"github.com/quernlab/quern/accel/internal/layer"
	"github.com/quernlab/quern/accel/internal/substitute"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// builder creates the substitutes of a model's layers.
type builder struct {
	table    substitute.Table
	products map[**tensor.Tensor]*product // quantized layers, by the address of the weight
	folds    map[nn.Module]*product       // by normalization: the layer that it is folded into
	placed   map[*product]bool            // layers inside the networks of chains
}

// build creates the substitutes: of chains with their current layers, and of the layers outside
// chains.
func build(model nn.Module, all []*product) substitute.Table {
	b := &builder{table: substitute.Table{}, products: map[**tensor.Tensor]*product{}, folds: map[nn.Module]*product{}, placed: map[*product]bool{}}
	for _, p := range all {
		if p.bytes == nil {
			continue
		}
		b.products[p.Weight] = p
		if p.fold != nil {
			b.folds[p.fold.module] = p
		}
	}
	for m := range b.folds { // not handled by a chain
		b.table[m] = unchanged
	}
	for _, c := range chains(model) {
		b.chain(c)
	}
	for _, p := range all {
		if p.bytes != nil && !b.placed[p] {
			b.table[p.Weight] = network(p)
		}
	}
	return b.table
}

// chains returns the chains of a model, including those inside residuals.
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
func (b *builder) product(m nn.Module) *product {
	if p, ok := layer.Of(m).(layer.Product); ok && sole(m) {
		return b.products[p.Weight]
	}
	return nil
}

// sole reports whether a module is a quantizable layer and nothing else.
func sole(m nn.Module) bool {
	switch m.(type) {
	case *nn.DenseLayer, *nn.Conv2DLayer:
		return true
	}
	return false
}

// chain returns a copy of a chain in which the first layer of each quantized run is a network
// for the whole run and the others do nothing, so that the indices of layers do not change.
func (b *builder) chain(c *nn.SequentialLayer) {
	layers := c.Layers()
	changed := false
	for i := 0; i < len(layers); i++ {
		if b.product(layers[i]) == nil {
			continue
		}
		net, end := b.run(layers, i)
		layers[i] = inBytes{kindOf(layers[i]), net}
		for j := i + 1; j < end; j++ {
			layers[j] = nothing
		}
		changed = true
		i = end - 1
	}
	if changed {
		b.table[c] = nn.Sequential(layers...).Forward
	}
}

// inBytes is a network that replaces a layer. Errors have the name of that layer.
type inBytes struct {
	name string
	net  *integer.Network
}

func (b inBytes) Forward(x *tensor.Tensor) *tensor.Tensor { return tensor.Quantized(x, b.net) }
func (b inBytes) String() string                          { return b.name }

func unchanged(x *tensor.Tensor) *tensor.Tensor { return x }

var nothing = nn.Lambda(unchanged)

// run returns the network of the layers from an index on, and the index after it.
func (b *builder) run(layers []nn.Module, from int) (*integer.Network, int) {
	first := b.product(layers[from])
	n := &integer.Network{Input: first.bytes.input, Image: first.Image}
	image, channels := first.Image, 0 // channels of flattened images
	var last *integer.Product
	add := func(p *product) {
		if last != nil {
			last.Output = &p.bytes.input
		}
		last = p.integers(channels)
		n.Layers = append(n.Layers, last)
		b.placed[p] = true
		channels = 0
	}
	add(first)
	end := from + 1
	var waiting []integer.Layer // kept until a quantized layer follows them
	relu := false
	for i := from + 1; i < len(layers); i++ {
		switch l := layer.Of(layers[i]).(type) {
		case layer.Normalization:
			if p := b.folds[layers[i]]; p == nil || layers[i-1] != p.module {
				return n, end
			}
		case layer.ReLU:
			if len(waiting) > 0 { // they commute with it
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
			if image {
				image, channels = false, last.Out
				waiting = append(waiting, integer.Flatten{})
			}
			continue
		case layer.Product:
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
func (p *product) integers(channels int) *integer.Product {
	b := p.bytes
	out := &integer.Product{Window: integer.Point(), Image: p.Image, Groups: 1, Out: b.shape[0], In: b.shape[1], Weight: b.weight, Bias: b.bias}
	for _, step := range b.step {
		out.Factor = append(out.Factor, step*b.input.Step)
	}
	planes, places := channels, 1 // of the weight: channels come first in files, last here
	if p.Image {
		out.Window = window(p.Window, b.shape[2], b.shape[3])
		out.Groups = max(p.Window.Groups, 1)
		out.In = b.shape[1] * out.Groups
		planes, places = b.shape[1], b.shape[2]*b.shape[3]
	} else if channels > 0 {
		places = b.shape[1] / channels
	}
	if places > 1 {
		out.Weight = turn(b.weight, planes, places)
	}
	return out
}

// turn transposes [rows, planes, places] to [rows, places, planes].
func turn(w []int8, planes, places int) []int8 {
	out := make([]int8, len(w))
	for row := 0; row < len(w); row += planes * places {
		for c := range planes {
			for at := range places {
				out[row+at*planes+c] = w[row+c*places+at]
			}
		}
	}
	return out
}

// network returns a single quantized layer with float input and output.
func network(p *product) substitute.Forward {
	n := &integer.Network{Input: p.bytes.input, Image: p.Image, Layers: []integer.Layer{p.integers(0)}}
	return func(x *tensor.Tensor) *tensor.Tensor { return tensor.Quantized(x, n) }
}

// foldable finds the normalizations that follow a layer in a chain, if both are used once: they
// can be folded into its weights.
func foldable(model nn.Module, all []*product) {
	uses := map[nn.Module]int{}
	after := map[nn.Module]nn.Module{}
	for _, c := range chains(model) {
		layers := c.Layers()
		for i, m := range layers {
			uses[m]++
			if i > 0 {
				after[layers[i-1]] = m
			}
		}
	}
	modules := nn.NamedModules(model)
	for _, p := range all {
		m := after[p.module]
		n, ok := layer.Of(m).(layer.Normalization)
		if !ok || uses[p.module] != 1 || uses[m] != 1 || !sole(p.module) {
			continue
		}
		at := slices.IndexFunc(modules, func(o nn.NamedModule) bool { return o.Module == m })
		p.fold = &fold{name: modules[at].Name, module: m, Normalization: n}
	}
}
