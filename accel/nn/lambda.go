package nn

import "slices"

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
