package nn

import "slices"

// Lambda makes a module of a function. The modules that the function calls are
// given after it, since their parameters cannot be found in a function.
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
