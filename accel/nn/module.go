package nn

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/engine/trace"
	"github.com/quernlab/quern/accel/internal/training/layer"
	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/accel/tensor"
)

// Tensor is the type of tensors.
type Tensor = tensor.Tensor

// Module computes an output from an input, whose first dimension is the batch. A struct with
// this method is a module, whether it is declared in a package or in a cell; its parameters are
// those of its fields.
type Module interface {
	// Forward returns the output for x. If x is not a valid input, it panics with an error of
	// package tensor, such as *tensor.ShapeError.
	Forward(x *Tensor) *Tensor
}

// modeSetter is a module that computes differently in training mode.
type modeSetter interface {
	setTraining(on bool)
	// saveMode returns a function that restores the current mode.
	saveMode() (restore func())
}

// Train puts a model into training mode or, if on is false, into evaluation mode, in which for
// instance Dropout does nothing. New modules are in training mode.
func Train(model any, on bool) {
	nameFor(trace.Active(), model)
	eachMode(model, func(m modeSetter) { m.setTraining(on) })
}

// eachMode calls do for the modules of a model that have a mode, also for those of a model that several ranks share.
func eachMode(model any, do func(modeSetter)) {
	walk(model, func(_ []string, v any) {
		if s, ok := v.(layer.Shared); ok {
			eachMode(s.Shares().Model, do)
		}
		if m, ok := v.(modeSetter); ok {
			do(m)
		}
	})
}

// Eval puts a model into evaluation mode. The function that it returns restores the previous
// mode of each module.
func Eval(model any) (restore func()) {
	var undo []func()
	eachMode(model, func(m modeSetter) { undo = append(undo, m.saveMode()) })
	Train(model, false)
	return func() {
		for _, f := range undo {
			f()
		}
	}
}

// nameFor passes the names of a model's parameters to the active profile, if any; once, since
// modes are set again and again.
func nameFor(c *trace.Collector, model any) {
	if c == nil || reflect.ValueOf(model).Kind() != reflect.Pointer || !c.First(model) {
		return
	}
	for _, p := range NamedParameters(model) {
		tensors.SetName(p.Tensor, p.Name)
	}
}

// Parameter is a parameter with its name in the model, such as "0.weight".
type Parameter struct {
	Name string // unique in the model
	*Tensor
}

// NamedModule is a module with its name in the model, such as "0.up".
type NamedModule struct {
	Name string // unique in the model
	Module
}

// NamedModules returns all modules of a model, each once, in the order of declaration. The
// model itself comes first.
func NamedModules(model any) []NamedModule {
	var found []NamedModule
	walk(model, func(path []string, v any) {
		if m, ok := v.(Module); ok {
			found = append(found, NamedModule{strings.Join(path, "."), m})
		}
	})
	return found
}

// Parameters returns the tensors of a model that training updates: those that require a
// gradient. It finds them in modules, structs with exported or unexported fields, slices, maps,
// and tensors. Each tensor is returned once, in the order of declaration.
//
// Parameters cannot look into functions: pass the modules that a function calls to [Lambda].
func Parameters(model any) []*Tensor {
	var found []*Tensor
	walk(model, func(_ []string, v any) {
		if t, ok := v.(*Tensor); ok && t.RequiresGrad() {
			found = append(found, t)
		}
	})
	return found
}

// NamedParameters returns the parameters of a model with their names: the names of the fields from
// the model to the parameter and the indices in slices and chains, with dots between them. A struct
// tag gives a field another name, such as that of a file of PyTorch:
//
//	type block struct {
//		Attention nn.Module `nn:"self_attn"`
//	}
//
// Embedded fields, and fields with the tag `nn:""`, add no name of their own.
func NamedParameters(model any) []Parameter {
	return slices.DeleteFunc(State(model), func(p Parameter) bool { return !p.RequiresGrad() })
}

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

// describe is [layer.Name] of a module that may be nil.
func describe(m Module) string {
	if isNil(m) {
		return "nil"
	}
	return layer.Name(m)
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

// Option changes what a function of this package returns or does. Each function lists those that it
// takes. With another one, or with arguments that are invalid, it panics with a *tensor.StateError;
// [Load] returns the error:
//
//	nn.MaxPool2D(2, nn.NoBias()) // MaxPool2D: does not take NoBias(): its options are Stride and Padding
type Option struct{ setting }

type setting = option.Of[options]

// options are the settings of all options of the package.
type options struct {
	noBias       bool                  // NoBias
	window       tensor.Window         // Stride, Padding, Groups, Dilation
	same         bool                  // Same
	end          int                   // OutputPadding
	epsilon      float64               // Epsilon
	causal       bool                  // Causal
	dropped      float64               // AttentionDropout
	ropeBase     float64               // RoPE; 0 for none
	headSize     int                   // HeadSize
	layers       int                   // NumLayers
	directions   int                   // Bidirectional: 2
	between      float64               // LayerDropout
	last, relu   bool                  // LastOutput, WithReLU
	feedForward  int                   // FeedForward
	dropout      float64               // TransformerDropout
	normFirst    bool                  // NormFirst
	gelu         bool                  // WithGELU
	std          float64               // InitStd
	bag          bagFunc               // BagSum, BagMax
	without      *int                  // BagPadding
	perChannel   bool                  // PerChannel
	bilinear     bool                  // Bilinear
	statistics   bool                  // FreezeStatistics
	weights      []float64             // ClassWeights; nil for 1
	ignore       *int                  // IgnoreIndex
	smoothing    float64               // LabelSmoothing
	blank        int                   // Blank
	zeroInfinity bool                  // ZeroInfinity
	rules        []func(string) string // Rename
	partial      bool                  // Partial
	report       *LoadReport           // Report

	text []string // as Go expressions, in the order in which they were given
}

// read changes settings by the options that are given to a function, and panics for those that it does
// not take.
func (o options) read(function string, given []Option, takes ...string) options {
	if hint := option.Reason(&o, given, takes...); hint != "" {
		panic(&tensor.StateError{Op: function, Hint: hint})
	}
	o.text = option.Texts(given)
	return o
}

// call returns the call of a function with these arguments and the options as Go code.
func (o options) call(function string, arguments ...int) string {
	all := make([]string, len(arguments))
	for i, a := range arguments {
		all[i] = fmt.Sprint(a)
	}
	return function + "(" + strings.Join(append(all, o.text...), ", ") + ")"
}
