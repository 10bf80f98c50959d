package fake

import (
	"time"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/ptxsim"
)

// capture is a graph under construction from the commands of a stream.
type capture struct {
	graph   graph
	spoiled error // the error of a call that a graph cannot contain
}

// add appends a node that runs after the previous one.
func (p *capture) add(c *context, cmd *command) {
	n := node{handle: driver.Node(c.next()), call: cmd.call, op: cmd.op, run: cmd.run, takes: cmd.takes}
	if before := len(p.graph.nodes); before > 0 {
		n.after = []int{before - 1}
	}
	p.graph.nodes = append(p.graph.nodes, n)
}

// capturable returns an error if the stream is captured and the call is not one that a
// graph of one context can contain. The error also invalidates the capture, as on a GPU.
func (c *context) capturable(call string, s *stream) error {
	if s.capture == nil {
		return nil
	}
	switch call {
	case "Launch", "Copy", "Fill", "LaunchFunc":
		return nil
	}
	err := c.fail(call, driver.CaptureUnsupported, "the stream is being captured")
	s.capture.spoiled = err
	return err
}

func (c *context) Capture(work func(s driver.Stream) error) (driver.Graph, error) {
	p := &capture{}
	s, err := call(c, "Capture", func() (driver.Stream, error) {
		s := driver.Stream(c.next())
		c.streams[s] = &stream{capture: p}
		return s, nil
	})
	if err != nil {
		return 0, err
	}
	failed := work(s) // calls the context
	c.mutex.Lock()
	defer c.mutex.Unlock()
	delete(c.streams, s)
	switch {
	case failed != nil:
		return 0, failed
	case p.spoiled != nil:
		return 0, c.fail("Capture", driver.CaptureInvalidated, "%v", p.spoiled)
	}
	g := driver.Graph(c.next())
	c.graphs[g] = &p.graph
	return g, nil
}

// set makes a node run the nodes of a graph one after the other.
func (n *node) set(part []node) {
	n.part, n.takes = part, 0
	for _, one := range part {
		n.takes += one.takes
	}
	n.run = func() error {
		for _, one := range part {
			if one.run == nil {
				continue
			}
			if err := one.run(); err != nil {
				return err
			}
		}
		return nil
	}
}

func (c *context) AddGraph(g driver.Graph, after []driver.Node, part driver.Graph, label string) (driver.Node, error) {
	return c.add("AddGraph", "library", g, after, func(n *node) error {
		found, err := c.part("AddGraph", part)
		if err != nil {
			return err
		}
		n.op = label
		n.set(found)
		return nil
	})
}

// part returns the nodes of a graph that another graph may contain.
func (c *context) part(call string, g driver.Graph) ([]node, error) {
	found, err := find(c, call, "graph", c.graphs[g], g)
	if err != nil {
		return nil, err
	}
	for _, n := range found.nodes {
		if n.host != nil || n.event != nil {
			return nil, c.fail(call, driver.NotSupported, "a child graph may only contain kernels, and copies and fills on the device")
		}
	}
	return append([]node(nil), found.nodes...), nil
}

func (c *context) UpdateGraph(x driver.Executable, n driver.Node, part driver.Graph, label string) error {
	return c.update("UpdateGraph", x, n, func(n *node) error {
		nodes, err := c.part("UpdateGraph", part)
		if err != nil {
			return err
		}
		if !alike(n.part, nodes) {
			return c.fail("UpdateGraph", driver.UpdateFailure, "the graphs have different nodes")
		}
		n.set(nodes)
		n.op = label
		return nil
	})
}

// alike reports whether graphs differ in parameters only.
func alike(a, b []node) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].call != b[i].call || a[i].op != b[i].op {
			return false
		}
	}
	return true
}

// FuncLauncher is implemented by the contexts of this package. It runs a Go function
// instead of a kernel, for the libraries that tests simulate. The function may only use the
// memory, which stops it at the first byte that is out of bounds or was never written.
type FuncLauncher interface {
	LaunchFunc(s driver.Stream, op string, takes time.Duration, run func(m *ptxsim.Memory) error) error
}

var _ FuncLauncher = (*context)(nil)

// LaunchFunc queues a function.
func (c *context) LaunchFunc(s driver.Stream, op string, takes time.Duration, run func(m *ptxsim.Memory) error) error {
	return c.on("LaunchFunc", s, func(q *stream) error {
		c.push(q, &command{call: "LaunchFunc", op: op, takes: takes, run: func() error { return run(c.memory) }})
		return nil
	})
}
