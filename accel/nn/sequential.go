package nn

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/quernlab/quern/accel/internal/engine/trace"
	"github.com/quernlab/quern/accel/internal/training/layer"
)

// SequentialLayer is a chain of modules; [Sequential] and [Repeat] return it.
type SequentialLayer struct {
	layers    []Module
	recompute bool // set by [SetRecompute]
}

// Sequential returns a chain that passes the output of each module to the next. An empty chain
// returns its input.
func Sequential(layers ...Module) *SequentialLayer { return &SequentialLayer{layers: layers} }

// Forward passes x through all modules. If a module panics with an error of package tensor,
// Forward wraps it in a [*LayerError].
func (c *SequentialLayer) Forward(x *Tensor) *Tensor {
	if other := layer.Substituted(c); other != nil {
		return other(x)
	}
	if t := trace.Active(); t != nil {
		defer t.EnterChain(c)()
	}
	if c.recompute && !lacksParameters(c) {
		return c.segments(x)
	}
	return runLayers(c.numbered(), x)
}

// numbered is a module with its index in a chain, such as "2", or "2.0" in a nested chain.
type numbered struct {
	path   string
	module Module
}

func (c *SequentialLayer) numbered() []numbered {
	all := make([]numbered, len(c.layers))
	for i, layer := range c.layers {
		all[i] = numbered{strconv.Itoa(i), layer}
	}
	return all
}

// runLayers passes x through modules.
func runLayers(layers []numbered, x *Tensor) *Tensor {
	ours := false // x was created here and has no other references
	for _, layer := range layers {
		y, disposable := forward(layer.path, layer.module, x), retainsNothing(layer.module)
		if y != x {
			if ours && disposable {
				x.Release() // so that it can be fused
			}
			ours = true
		}
		ours = ours && disposable
		x = y
	}
	return x
}

func (c *SequentialLayer) retainsNothing() bool {
	for _, layer := range c.layers {
		if !retainsNothing(layer) {
			return false
		}
	}
	return true
}

// retainsNothing implements [layer.RetainsNothing].
func retainsNothing(m Module) bool {
	switch m := m.(type) {
	case interface{ retainsNothing() bool }:
		return m.retainsNothing()
	case interface{ RetainsNothing() bool }:
		return m.RetainsNothing()
	}
	return false
}

// Layers returns the modules in order.
func (c *SequentialLayer) Layers() []Module { return append([]Module(nil), c.layers...) }

// Add appends modules and returns the chain.
func (c *SequentialLayer) Add(layers ...Module) *SequentialLayer {
	c.layers = append(c.layers, layers...)
	return c
}

func (c *SequentialLayer) parts() []Module { return c.layers }

// String returns the chain as Go code.
func (c *SequentialLayer) String() string { return "Sequential" + list(c.layers) }

// list returns modules as the arguments of a call in Go code.
func list(layers []Module) string {
	names := make([]string, len(layers))
	for i, layer := range layers {
		names[i] = describe(layer)
	}
	return "(" + strings.Join(names, ", ") + ")"
}

// describe returns the name of a module: the result of its method String, or its type without the
// pointer and package main.
func describe(m Module) string {
	if isNil(m) {
		return "nil"
	}
	if s, ok := m.(fmt.Stringer); ok {
		return s.String()
	}
	return strings.TrimPrefix(strings.TrimPrefix(fmt.Sprintf("%T", m), "*"), "main.")
}

// Repeat returns a Sequential of the n modules that make returns for 0 to n-1.
func Repeat(n int, make func(i int) Module) *SequentialLayer {
	c := Sequential()
	for i := range n {
		c.Add(make(i))
	}
	return c
}

// Residual returns a module that computes x + f(x), where f runs the given modules one after
// the other (He et al., 2016). The shapes of x and f(x) must be broadcastable.
func Residual(layers ...Module) Module { return &residual{Sequential(layers...)} }

type residual struct{ chain *SequentialLayer }

func (r *residual) Forward(x *Tensor) *Tensor {
	y := r.chain.Forward(x)
	sum := x.Add(y)
	if y != x && r.retainsNothing() {
		y.Release()
	}
	return sum
}

func (r *residual) String() string       { return "Residual" + list(r.chain.layers) }
func (r *residual) parts() []Module      { return r.chain.layers }
func (r *residual) Layer() any           { return layer.Shortcut{Chain: r.chain} }
func (r *residual) retainsNothing() bool { return r.chain.retainsNothing() }

// Lambda returns a module that calls a function. Pass the modules that the function calls as
// further arguments, since [Parameters] cannot look into a function.
func Lambda(function func(x *Tensor) *Tensor, uses ...Module) Module {
	return &lambda{function, slices.Clone(uses)}
}

type lambda struct {
	function func(*Tensor) *Tensor
	uses     []Module
}

func (c *lambda) Forward(x *Tensor) *Tensor { return c.function(x) }
func (c *lambda) String() string            { return "Lambda" + list(c.uses) }
func (c *lambda) parts() []Module           { return c.uses }
