package cuda

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// LaunchKernel runs a kernel that the program has written, in the stream, and waits for its fault record.
func (d *Device) LaunchKernel(k ir.Kernel, memory []ir.Elements) error {
	text, entry, err := k.PTX()
	if err != nil {
		return err
	}
	f, err := d.code.module(text, entry, k.Name())
	if err != nil {
		return d.failed("load a kernel", err)
	}
	record, err := d.memory.alloc(k.RecordBytes())
	if err != nil {
		return err
	}
	defer d.memory.free(record)
	if err := d.Write(record, 0, bytes.Repeat([]byte{255}, k.RecordBytes())); err != nil {
		return err
	}
	addresses := make([]uint64, len(memory))
	written := []*storage{record}
	for i, m := range memory {
		s := m.Storage.(*storage)
		addresses[i] = uint64(s.at) + uint64(m.Offset)
		if m.Written {
			written = append(written, s)
		}
	}
	var detected error
	l := launchOf(k, f, addresses, record.at)
	l.Detected = func(err error) { detected = k.Explain(err) }
	if err := d.ctx.Launch(l, d.stream); err != nil {
		return d.failed("launch", err)
	}
	if err := d.mark(written...); err != nil {
		return err
	}
	found := make([]byte, k.RecordBytes())
	if err := d.Read(found, record, 0); err != nil {
		return err
	}
	if detected != nil {
		return detected
	}
	return k.Check(found)
}

var _ ir.KernelLauncher = (*Device)(nil)

// launchOf returns the launch of a kernel.
func launchOf(k ir.Kernel, f driver.Function, addresses []uint64, record driver.Pointer) driver.Launch {
	dim := func(n [3]int) driver.Dim { return driver.Dim{X: uint32(n[0]), Y: uint32(n[1]), Z: uint32(n[2])} }
	grid, block := k.Shape()
	return driver.Launch{Function: f, Grid: dim(grid), Block: dim(block), Shared: k.SharedBytes(), Params: k.Params(addresses, uint64(record)), Label: "kernel " + k.Name()}
}

// module returns a kernel of a module that the program has written, which other kernels do not launch early. Kernels with the same text
// share the module and its variables.
func (c *code) module(text, entry, name string) (driver.Function, error) {
	key := [2]string{text, entry}
	if f, ok := c.entries[key]; ok {
		return f, nil
	}
	m, ok := c.modules[text]
	if !ok {
		var err error
		if m, err = c.assembled(text); err != nil {
			return 0, fmt.Errorf("load a kernel: %w", err)
		}
		c.modules[text] = m
	}
	f, err := c.ctx.Function(m, entry)
	if err != nil {
		return 0, err
	}
	c.entries[key], c.names[f] = f, name
	return f, nil
}

// program returns a kernel of a module that the program has written. The name is that of the kernel in profiles.
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
