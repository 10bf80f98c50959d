package cuda

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/kernels"
	"github.com/quernlab/quern/accel/internal/cuda/library"
)

// launch is a unit of work of a step: one of our kernels, or a call of a library.
type launch struct {
	driver.Launch              // of a kernel
	call          *libraryCall // of a library; nil for a kernel
	step          int          // index of the step in its program
}

// launches converts launches of package kernels.
func (c *code) launches(list []kernels.Launch, label string) ([]launch, error) {
	out := make([]launch, len(list))
	for i, l := range list {
		var err error
		if out[i].Launch, err = c.launch(l, label); err != nil {
			return nil, err
		}
	}
	return out, nil
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
func (q *queue) nameOf(l launch) string {
	if l.call != nil {
		return l.call.name
	}
	return q.code.names[l.Function]
}

// launch puts a unit of work into the stream.
func (q *queue) launch(l launch) error {
	if l.call == nil {
		return q.ctx.Launch(l.Launch, q.stream)
	}
	return q.current(func() error { return q.callLibrary(l.call, q.stream) })
}

// callLibrary makes a call; its error names the op.
func (q *queue) callLibrary(c *libraryCall, s driver.Stream) error { return withOp(c.op, c.run(s)) }

// capture returns the work of a library call as a graph.
func (q *queue) capture(c *libraryCall) (driver.Graph, error) {
	return q.ctx.Capture(func(s driver.Stream) error { return q.callLibrary(c, s) })
}

// add adds a node to a graph. A library call becomes a child graph.
func (q *queue) add(g driver.Graph, before []driver.Node, l launch) (n driver.Node, err error) {
	if l.call == nil {
		return q.ctx.AddKernel(g, before, l.Launch)
	}
	part, err := q.capture(l.call)
	if err != nil {
		return 0, err
	}
	n, err = q.ctx.AddGraph(g, before, part, l.call.op)
	return n, errors.Join(err, q.ctx.CloseGraph(part))
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
func (q *queue) revise(x driver.Executable, n driver.Node, l launch) (ok bool, err error) {
	if l.call == nil {
		return true, q.ctx.UpdateKernel(x, n, l.Launch)
	}
	part, err := q.capture(l.call)
	if err != nil {
		return false, err
	}
	err = q.ctx.UpdateGraph(x, n, part, l.call.op)
	ok = !errors.Is(err, driver.UpdateFailure)
	if !ok {
		err = nil
	}
	return ok, errors.Join(err, q.ctx.CloseGraph(part))
}

// withOp adds to an error the op for which a library was called.
func withOp(op string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*library.CallError](err); ok && e.Op == "" {
		named := *e
		named.Op = op
		return &named
	}
	return fmt.Errorf("%s: %w", op, err)
}
