package cuda

import (
	"context"
	"errors"
	"fmt"

	"github.com/quernlab/quern/accel/internal/cuda/cubin"
	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/kernels"
	"github.com/quernlab/quern/accel/internal/cuda/occupancy"
	"github.com/quernlab/quern/accel/internal/cuda/ptx"
	"github.com/quernlab/quern/accel/internal/engine/trace"
)

// code is the modules and kernels that were loaded onto the device.
type code struct {
	ctx     driver.Context
	waiting bool // kernels wait first for those before, so that they may begin before these end
	// assembler assembles modules before they are loaded; nil to let the driver compile them.
	assembler *cubin.Assembler
	modules   map[string]driver.Module
	entries   map[[2]string]driver.Function // by module and entry
	fused     map[string]driver.Function    // fused kernels by their PTX
	shared    map[driver.Function]int       // bytes of SetMaxShared
	names     map[driver.Function]string    // of entries
	uses      map[driver.Function]driver.FunctionInfo
}

func newCode(ctx driver.Context, waiting bool) *code {
	return &code{ctx: ctx, waiting: waiting, modules: map[string]driver.Module{}, entries: map[[2]string]driver.Function{},
		fused: map[string]driver.Function{}, shared: map[driver.Function]int{}, names: map[driver.Function]string{},
		uses: map[driver.Function]driver.FunctionInfo{}}
}

// describe adds to a kernel of a profile what a launch of it uses, and its occupancy.
func (c *code) describe(k *trace.Kernel, l driver.Launch) (err error) {
	uses, err := c.info(l.Function)
	if err != nil {
		return err
	}
	k.Registers, k.SharedBytes = uses.Registers, uses.Shared+l.Shared
	limits, ok := occupancy.Of(c.ctx.Info().Capability())
	if !ok {
		return nil
	}
	r, err := occupancy.Compute(limits, occupancy.Kernel{Threads: k.Threads, Registers: k.Registers, Shared: k.SharedBytes})
	if err != nil {
		return err
	}
	k.Occupancy = r.Fraction()
	for _, by := range r.LimitedBy {
		k.LimitedBy = append(k.LimitedBy, string(by))
	}
	return nil
}

// load loads a module.
func (c *code) load(text string) (m driver.Module, err error) {
	if c.waiting {
		if text, err = ptx.Waiting(text); err != nil {
			return 0, err
		}
	}
	return c.assembled(text)
}

// assembled loads a module as it is.
func (c *code) assembled(text string) (m driver.Module, err error) {
	if c.assembler != nil {
		code, err := c.assembler.Assemble(context.Background(), text) // some seconds at most, as in the driver
		if err != nil {
			return 0, err
		}
		text = string(code)
	}
	return c.ctx.Load(text)
}

// entry returns a kernel of package kernels, loading its module if necessary.
func (c *code) entry(module, name string) (driver.Function, error) {
	return c.function(module, name, name, func() (driver.Module, error) {
		text, err := kernels.PTX(module)
		if err != nil {
			return 0, err
		}
		m, err := c.load(text)
		if err != nil {
			return 0, fmt.Errorf("load the kernels of %s: %w", module, err)
		}
		return m, nil
	})
}

// function returns a kernel of a module, which load loads unless it was. The name is that of the kernel in profiles.
func (c *code) function(module, entry, name string, load func() (driver.Module, error)) (driver.Function, error) {
	key := [2]string{module, entry}
	if f, ok := c.entries[key]; ok {
		return f, nil
	}
	m, ok := c.modules[module]
	if !ok {
		var err error
		if m, err = load(); err != nil {
			return 0, err
		}
		c.modules[module] = m
	}
	f, err := c.ctx.Function(m, entry)
	if err != nil {
		return 0, err
	}
	c.entries[key], c.names[f] = f, name
	return f, nil
}

// program returns the kernel of a module that was written for it, such as a fused kernel of package ptx. The name is that of the kernel in profiles.
func (c *code) program(text, entry, name string) (driver.Function, error) {
	if f, ok := c.fused[text]; ok {
		return f, nil
	}
	m, err := c.load(text)
	if err != nil {
		return 0, fmt.Errorf("load a kernel: %w", err)
	}
	f, err := c.ctx.Function(m, entry)
	if err != nil {
		return 0, errors.Join(err, c.ctx.Unload(m))
	}
	c.fused[text], c.names[f] = f, name
	return f, nil
}

// info returns what a function uses.
func (c *code) info(f driver.Function) (uses driver.FunctionInfo, err error) {
	uses, ok := c.uses[f]
	if !ok {
		if uses, err = c.ctx.FunctionInfo(f); err != nil {
			return uses, err
		}
		c.uses[f] = uses
	}
	return uses, nil
}

// allowShared lets launches of a function have this many bytes of dynamic shared memory. Without it, a kernel may use 48 KiB, less its
// static shared memory.
func (c *code) allowShared(f driver.Function, bytes int) error {
	if bytes <= c.shared[f] {
		return nil
	}
	if err := c.ctx.SetMaxShared(f, bytes); err != nil {
		return err
	}
	c.shared[f] = bytes
	return nil
}

// launch converts a launch of package kernels to one of the driver.
func (c *code) launch(l kernels.Launch, label string) (driver.Launch, error) {
	f, err := c.entry(l.Module, l.Entry)
	if err != nil {
		return driver.Launch{}, err
	}
	if err := c.allowShared(f, l.Shared); err != nil {
		return driver.Launch{}, err
	}
	for _, m := range l.Maps {
		encoded, err := c.ctx.TensorMap(m.Tensor)
		if err != nil {
			return driver.Launch{}, err
		}
		copy(l.Params[m.Offset:], encoded[:])
	}
	return driver.Launch{Function: f, Grid: l.Grid, Block: l.Block, Shared: l.Shared, Params: l.Params, Label: label}, nil
}
