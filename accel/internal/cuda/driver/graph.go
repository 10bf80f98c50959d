//go:build linux && cgo

package driver

// #include "shim.h"
import "C"

import (
	"fmt"
	"unsafe"
)

func (c *context) NewGraph() (Graph, error) {
	var g C.handle
	err := failure(C.quern_graph_create(c.table, c.handle, &g), "cuGraphCreate", "")
	return Graph(g), err
}

func (c *context) CloseGraph(g Graph) error {
	c.forget(uintptr(g))
	return failure(C.quern_graph_destroy(c.table, c.handle, C.handle(g)), "cuGraphDestroy", "")
}

// forget drops the count of a graph's nodes, since CUDA may reuse the handle.
func (c *context) forget(graph uintptr) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	delete(c.nodes, graph)
}

// handles converts nodes for C; nil for none.
func handles(nodes []Node) (*C.handle, C.size_t) {
	if len(nodes) == 0 {
		return nil, 0
	}
	return (*C.handle)(unsafe.Pointer(&nodes[0])), C.size_t(len(nodes))
}

func (c *context) AddKernel(g Graph, after []Node, l Launch) (Node, error) {
	var n C.handle
	list, count := handles(after)
	shim, params, bytes := l.shim()
	err := failure(C.quern_graph_kernel(c.table, c.handle, &n, C.handle(g), list, count, shim, params, bytes), "cuGraphAddKernelNode", l.Label)
	if err == nil && l.Early {
		c.count(func(n *Counts) { n.Early++ })
	}
	return Node(n), c.added(g, err)
}

// added counts a node of a graph, unless err.
func (c *context) added(g Graph, err error) error {
	if err == nil {
		c.mutex.Lock()
		defer c.mutex.Unlock()
		c.nodes[uintptr(g)]++
	}
	return err
}

func (c *context) copyNode(g Graph, after []Node, dst, src Pointer, host []byte, toHost bool, bytes int, op string) (Node, error) {
	op = fmt.Sprintf(op, bytes)
	var p unsafe.Pointer
	var direction C.int
	if host != nil {
		c.mutex.Lock()
		pinned := c.pinned(host)
		c.mutex.Unlock()
		if !pinned || bytes == 0 {
			return 0, &Error{Code: InvalidValue, Call: "cuGraphAddMemcpyNode", Op: op, Log: "host memory of a graph must come from AllocHost"}
		}
		p = unsafe.Pointer(&host[0])
		if toHost {
			direction = 1
		}
	}
	var n C.handle
	for at := 0; at < bytes || at == 0; at += maxCopyBytes {
		list, count := handles(after)
		err := failure(C.quern_graph_copy(c.table, c.handle, &n, C.handle(g), list, count, C.address(dst), C.address(src), p, direction, C.size_t(min(bytes-at, maxCopyBytes))), "cuGraphAddMemcpyNode", op)
		if err := c.added(g, err); err != nil {
			return 0, err
		}
		after = []Node{Node(n)}
		dst, src = dst+maxCopyBytes, src+maxCopyBytes
		if p != nil {
			p = unsafe.Add(p, maxCopyBytes)
		}
	}
	return Node(n), nil
}

// maxCopyBytes is the most that one graph node copies; a larger copy takes several nodes,
// one after the other. A copy is one row, and the length of a row is limited by
// CU_DEVICE_ATTRIBUTE_MAX_PITCH, 2³¹-1 bytes on all devices so far.
const maxCopyBytes = 1 << 30

func (c *context) AddCopy(g Graph, after []Node, dst, src Pointer, bytes int) (Node, error) {
	return c.copyNode(g, after, dst, src, nil, false, bytes, "copy of %d bytes on the device")
}

func (c *context) AddCopyToDevice(g Graph, after []Node, dst Pointer, src []byte) (Node, error) {
	return c.copyNode(g, after, dst, 0, src[:len(src):len(src)], false, len(src), "copy of %d bytes to the device")
}

func (c *context) AddCopyToHost(g Graph, after []Node, dst []byte, src Pointer) (Node, error) {
	return c.copyNode(g, after, 0, src, dst[:len(dst):len(dst)], true, len(dst), "copy of %d bytes to the host")
}

func (c *context) AddFill(g Graph, after []Node, dst Pointer, value uint32, width, count int) (Node, error) {
	op := fmt.Sprintf("fill of %d × %d bytes", count, width)
	if width != 1 && width != 2 && width != 4 || count <= 0 {
		return 0, &Error{Code: InvalidValue, Call: "cuGraphAddMemsetNode", Op: op}
	}
	var n C.handle
	list, size := handles(after)
	err := failure(C.quern_graph_fill(c.table, c.handle, &n, C.handle(g), list, size, C.address(dst), C.uint(value), C.uint(width), C.size_t(count)), "cuGraphAddMemsetNode", op)
	return Node(n), c.added(g, err)
}

func (c *context) AddEvent(g Graph, after []Node, e Event) (Node, error) {
	var n C.handle
	list, count := handles(after)
	err := failure(C.quern_graph_event(c.table, c.handle, &n, C.handle(g), list, count, C.handle(e)), "cuGraphAddEventRecordNode", "")
	return Node(n), c.added(g, err)
}

func (c *context) Instantiate(g Graph) (Executable, error) {
	var x C.handle
	if err := failure(C.quern_graph_instantiate(c.table, c.handle, &x, C.handle(g)), "cuGraphInstantiate", ""); err != nil {
		return 0, err
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.counts.Instantiates++
	c.nodes[uintptr(x)] = c.nodes[uintptr(g)]
	return Executable(x), nil
}

func (c *context) CloseExecutable(x Executable) error {
	c.forget(uintptr(x))
	return failure(C.quern_graph_exec_destroy(c.table, c.handle, C.handle(x)), "cuGraphExecDestroy", "")
}

func (c *context) UpdateKernel(x Executable, n Node, l Launch) error {
	c.count(func(n *Counts) { n.Updates++ })
	shim, params, bytes := l.shim()
	return failure(C.quern_graph_update(c.table, c.handle, C.handle(x), C.handle(n), shim, params, bytes), "cuGraphExecKernelNodeSetParams", l.Label)
}

func (c *context) LaunchGraph(x Executable, s Stream) error {
	c.mutex.Lock()
	c.counts.GraphLaunches++
	c.counts.GraphNodes += c.nodes[uintptr(x)]
	c.mutex.Unlock()
	return failure(C.quern_graph_launch(c.table, c.handle, C.handle(x), c.stream(s)), "cuGraphLaunch", "")
}
