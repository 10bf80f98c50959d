package nn

import "slices"

// Custom makes a module of a function. The modules that the function calls are
// given after it, since their parameters cannot be found in a function.
func Custom(function func(x *Tensor) *Tensor, uses ...Module) Module {
	return &custom{function, slices.Clone(uses)}
}

type custom struct {
	function func(*Tensor) *Tensor
	uses     []Module
}

func (c *custom) Forward(x *Tensor) *Tensor { return c.function(x) }
func (c *custom) String() string            { return "Custom" + list(c.uses) }
func (c *custom) parts() []Module           { return c.uses }
