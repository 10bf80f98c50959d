//go:build linux && cgo

package driver

// #include "shim.h"
import "C"

import "runtime"

// Capture captures a stream that is made for it, so that nothing else gets in.
func (c *context) Capture(work func(s Stream) error) (Graph, error) {
	s, err := c.NewStream()
	if err != nil {
		return 0, err
	}
	g, err := c.capture(s, work)
	if closed := c.CloseStream(s); err == nil && closed != nil {
		C.quern_graph_destroy(c.table, c.handle, C.handle(g))
		return 0, closed
	}
	return g, err
}

func (c *context) capture(s Stream, work func(s Stream) error) (Graph, error) {
	// Libraries take the context that is the thread's.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := failure(C.quern_capture_begin(c.table, c.handle, C.handle(s)), "cuStreamBeginCapture", ""); err != nil {
		return 0, err
	}
	failed := work(s)
	var g C.handle
	err := failure(C.quern_capture_end(c.table, c.handle, C.handle(s), &g), "cuStreamEndCapture", "")
	if failed != nil { // and is why the capture ended badly
		if err == nil {
			C.quern_graph_destroy(c.table, c.handle, g)
		}
		return 0, failed
	}
	return Graph(g), err
}

func (c *context) AddGraph(g Graph, after []Node, part Graph, label string) (Node, error) {
	var n C.handle
	list, count := handles(after)
	err := failure(C.quern_graph_part(c.table, c.handle, &n, C.handle(g), list, count, C.handle(part)), "cuGraphAddChildGraphNode", label)
	return Node(n), c.added(g, err)
}

func (c *context) UpdateGraph(x Executable, n Node, part Graph, label string) error {
	c.count(func(n *Counts) { n.Updates++ })
	code := C.quern_graph_update_part(c.table, c.handle, C.handle(x), C.handle(n), C.handle(part))
	// By the manual another topology is an invalid value, and what else may not change
	// is the failure of an update.
	if Code(code) == InvalidValue {
		code = C.int(UpdateFailure)
	}
	return failure(code, "cuGraphExecChildGraphNodeSetParams", label)
}
