//go:build linux && cgo

package driver

// #include "shim.h"
import "C"

import "runtime"

// Capture captures a new stream of its own, so that no other work is recorded.
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
	// Libraries use the context that is current in the thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := failure(C.quern_capture_begin(c.table, c.handle, C.handle(s)), "cuStreamBeginCapture", ""); err != nil {
		return 0, err
	}
	failed := work(s)
	var g C.handle
	err := failure(C.quern_capture_end(c.table, c.handle, C.handle(s), &g), "cuStreamEndCapture", "")
	if failed != nil { // the likely reason why the capture failed
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
	// According to the manual, a different topology is InvalidValue, and any other
	// forbidden change is UpdateFailure.
	if Code(code) == InvalidValue {
		code = C.int(UpdateFailure)
	}
	return failure(code, "cuGraphExecChildGraphNodeSetParams", label)
}
