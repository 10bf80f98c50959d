package cuda

import (
	"bytes"
	"errors"
	"runtime"
	"slices"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
)

// launch is a unit of work of a step: one of our kernels, or a call of a library.
type launch struct {
	driver.Launch              // of a kernel
	call          *libraryCall // of a library; nil for a kernel
}

// libraryCall is a call of a library that puts work into a stream.
type libraryCall struct {
	name string           // library and algorithm
	op   string           // for errors
	plan any              // calls with equal plans differ only in addresses
	at   []driver.Pointer // the addresses of the call
	run  func(s driver.Stream) error
}

// nameOf returns the name of the kernel, or of the library and its algorithm.
func (d *Device) nameOf(l launch) string {
	if l.call != nil {
		return l.call.name
	}
	return d.code.names[l.Function]
}

// launch puts a unit of work into the stream.
func (d *Device) launch(l launch) error {
	if l.call == nil {
		return d.ctx.Launch(l.Launch, d.stream)
	}
	return d.current(func() error { return d.callLibrary(l.call, d.stream) })
}

// current calls a library with the device's context current in the calling thread.
func (d *Device) current(call func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := d.ctx.Current(); err != nil {
		return err
	}
	return call()
}

// callLibrary makes a call; its error names the op.
func (d *Device) callLibrary(c *libraryCall, s driver.Stream) error { return withOp(c.op, c.run(s)) }

// capture returns the work of a library call as a graph.
func (d *Device) capture(c *libraryCall) (driver.Graph, error) {
	return d.ctx.Capture(func(s driver.Stream) error { return d.callLibrary(c, s) })
}

// add adds a node to a graph. A library call becomes a child graph.
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

// like reports whether a node for other can be updated to l: same kernel or plan.
func (l launch) like(other launch) bool {
	if l.call == nil || other.call == nil {
		return l.call == other.call && l.Function == other.Function
	}
	return l.call.plan == other.call.plan
}

// same reports whether two launches that are alike have equal parameters.
func (l launch) same(other launch) bool {
	if l.call != nil {
		return slices.Equal(l.call.at, other.call.at)
	}
	return bytes.Equal(l.Params, other.Params) && l.Grid == other.Grid && l.Shared == other.Shared
}

// revise updates a node to the parameters of another launch that is like its own. ok is
// false if a library launches other kernels for the new addresses.
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
