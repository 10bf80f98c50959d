package nn

import "slices"

// Func is a module made of a function; [Custom] makes it.
type Func struct {
	function func(*Tensor) *Tensor
	uses     []Module
}

// Custom makes a module of a function. The modules that the function calls are
// given after it, since their parameters cannot be found in a function.
func Custom(function func(x *Tensor) *Tensor, uses ...Module) *Func {
	return &Func{function, slices.Clone(uses)}
}

// Forward calls the function.
func (f *Func) Forward(x *Tensor) *Tensor { return f.function(x) }

func (f *Func) parts() []Module { return f.uses }

// String names the module and what it uses.
func (f *Func) String() string { return "Custom" + list(f.uses) }
