package nn

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/quernlab/quern/accel/internal/substitute"
	"github.com/quernlab/quern/accel/internal/trace"
)

// SequentialLayer is modules one after the other; [Sequential] makes it.
type SequentialLayer struct {
	layers    []Module
	recompute bool // see [Recompute]
}

// Sequential gives the output of each module to the next. Without modules it
// returns its input.
func Sequential(layers ...Module) *SequentialLayer { return &SequentialLayer{layers: layers} }

// Forward passes x through all modules. A panic of one of them becomes a
// [*LayerError] that names it.
func (c *SequentialLayer) Forward(x *Tensor) *Tensor {
	if other := substitute.For(c); other != nil {
		return other(x)
	}
	if t := trace.Active(); t != nil {
		defer t.EnterChain(c)()
	}
	if c.recompute && !untouchedIn(c) {
		return c.segments(x)
	}
	return through(c.numbered(), x)
}

// numbered is a module and its place in a chain, such as "2", or "2.0" in a chain
// within a chain.
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

// through passes x through modules.
func through(layers []numbered, x *Tensor) *Tensor {
	ours := false // x was made here and nobody else knows it
	for _, layer := range layers {
		y, private := forward(layer.path, layer.module, x), isPrivate(layer.module)
		if y != x {
			if ours && private {
				x.Release() // so that it can be fused away
			}
			ours = true
		}
		ours = ours && private
		x = y
	}
	return x
}

func (c *SequentialLayer) private() bool {
	for _, layer := range c.layers {
		if !isPrivate(layer) {
			return false
		}
	}
	return true
}

// isPrivate reports whether a module keeps to itself what it is given and what
// it returns. A module of the user may not: it is left alone with its tensors.
func isPrivate(m Module) bool {
	p, ok := m.(interface{ private() bool })
	return ok && p.private()
}

// Layers returns the modules in order.
func (c *SequentialLayer) Layers() []Module { return append([]Module(nil), c.layers...) }

// Add appends modules and returns the chain.
func (c *SequentialLayer) Add(layers ...Module) *SequentialLayer {
	c.layers = append(c.layers, layers...)
	return c
}

func (c *SequentialLayer) parts() []Module { return c.layers }

// String returns the chain as it is written in Go.
func (c *SequentialLayer) String() string { return "Sequential" + list(c.layers) }

// list is modules as arguments of a call.
func list(layers []Module) string {
	names := make([]string, len(layers))
	for i, layer := range layers {
		names[i] = describe(layer)
	}
	return "(" + strings.Join(names, ", ") + ")"
}

// describe returns what a module calls itself: by its method String, or by its type.
// A module of a type of a notebook's cell is in a wrapper, and may be in a box
// that knows the name of the type.
func describe(m Module) string {
	var x any = m
	if v := reflect.Indirect(reflect.ValueOf(m)); v.Kind() == reflect.Struct {
		if inner := v.FieldByName(interpretedField); inner.IsValid() && inner.CanInterface() && !inner.IsZero() {
			x = inner.Interface()
		}
	}
	switch x := x.(type) {
	case fmt.Stringer:
		return x.String()
	case interface{ TypeName() string }:
		return shortName(x.TypeName())
	case boxed:
		return "Module"
	}
	return shortName(fmt.Sprintf("%T", x))
}

// shortName returns a type's name without pointer and main package.
func shortName(name string) string {
	return strings.TrimPrefix(strings.TrimPrefix(name, "*"), "main.")
}
