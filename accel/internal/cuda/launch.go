package cuda

import (
	"bytes"
	"errors"
	"runtime"
	"slices"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
)

// launch is a piece of work of a step: a kernel of our own, or what a library is
// asked to do.
type launch struct {
	driver.Launch       // of a kernel
	call          *call // of a library; nil for a kernel
}

// call asks a library for work.
type call struct {
	name string           // of the library, and its way to do it
	op   string           // for errors
	plan any              // what is asked; calls of one plan differ in addresses alone
	at   []driver.Pointer // that the plan is given
	run  func(s driver.Stream) error
}

// nameOf is that of a kernel, or of a library.
func (d *Device) nameOf(l launch) string {
	if l.call != nil {
		return l.call.name
	}
	return d.code.names[l.Function]
}

// launch asks the stream for a piece of work.
func (d *Device) launch(l launch) error {
	if l.call == nil {
		return d.ctx.Launch(l.Launch, d.stream)
	}
	return d.current(func() error { return d.asked(l.call, d.stream) })
}

// current has libraries find the device's context in the thread that calls them.
func (d *Device) current(call func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := d.ctx.Current(); err != nil {
		return err
	}
	return call()
}

// asked makes a call, whose error says for what op.
func (d *Device) asked(c *call, s driver.Stream) error { return during(c.op, c.run(s)) }

// capture makes a graph of a call.
func (d *Device) capture(c *call) (driver.Graph, error) {
	return d.ctx.Capture(func(s driver.Stream) error { return d.asked(c, s) })
}

// add makes a node of a graph. That of a library is a graph of its own.
func (d *Device) add(g driver.Graph, before []driver.Node, l launch) (n driver.Node, err error) {
	if l.call == nil {
		return d.ctx.AddKernel(g, before, l.Launch)
	}
	part, err := d.capture(l.call)
	if err != nil {
		return 0, err
	}
	n, err = d.ctx.AddGraph(g, before, part, l.call.op)
	return n, errors.Join(err, d.ctx.CloseGraph(part))
}

// like tells whether a node of one can be given the parameters of the other.
func (l launch) like(other launch) bool {
	if l.call == nil || other.call == nil {
		return l.call == other.call && l.Function == other.Function
	}
	return l.call.plan == other.call.plan
}

// same tells whether two that are alike do the same.
func (l launch) same(other launch) bool {
	if l.call != nil {
		return slices.Equal(l.call.at, other.call.at)
	}
	return bytes.Equal(l.Params, other.Params) && l.Grid == other.Grid && l.Shared == other.Shared
}

// revise gives a node the parameters of another launch that is like its own. ok is
// false where a library does otherwise at the new addresses.
func (d *Device) revise(x driver.Executable, n driver.Node, l launch) (ok bool, err error) {
	if l.call == nil {
		return true, d.ctx.UpdateKernel(x, n, l.Launch)
	}
	part, err := d.capture(l.call)
	if err != nil {
		return false, err
	}
	err = d.ctx.UpdateGraph(x, n, part, l.call.op)
	ok = !errors.Is(err, driver.UpdateFailure)
	if !ok {
		err = nil
	}
	return ok, errors.Join(err, d.ctx.CloseGraph(part))
}
