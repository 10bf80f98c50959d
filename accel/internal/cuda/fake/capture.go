package fake

import (
	"time"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/ptxsim"
)

// capture is the graph that a stream makes of its commands.
type capture struct {
	graph   graph
	spoiled error // what was asked of the stream that a graph cannot hold
}

// add appends what a command does, behind what was asked before.
func (p *capture) add(c *context, cmd *command) {
	n := node{handle: driver.Node(c.next()), call: cmd.call, op: cmd.op, run: cmd.run, takes: cmd.takes}
	if before := len(p.graph.nodes); before > 0 {
		n.after = []int{before - 1}
	}
	p.graph.nodes = append(p.graph.nodes, n)
}

// capturable gives an error where a stream is captured and the call is not one that
// a graph of one context can hold. That spoils the capture, as on a GPU.
func (c *context) capturable(call string, s *stream) error {
	if s.capture == nil {
		return nil
	}
	switch call {
	case "Launch", "Copy", "Fill", "Perform":
		return nil
	}
	err := c.fail(call, driver.CaptureUnsupported, "the stream is captured")
	s.capture.spoiled = err
	return err
}

func (c *context) Capture(work func(s driver.Stream) error) (driver.Graph, error) {
	s, p, err := c.beginCapture()
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

func (c *context) beginCapture() (driver.Stream, *capture, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if err := c.begin("Capture"); err != nil {
		return 0, nil, err
	}
	s, p := driver.Stream(c.next()), &capture{}
	c.streams[s] = &stream{capture: p}
	return s, p, nil
}

// set has a node run the nodes of a graph, one behind the other.
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
	return c.add("AddGraph", g, after, func(n *node) error {
		found, err := c.part("AddGraph", part)
		if err != nil {
			return err
		}
		n.op = label
		n.set(found)
		return nil
	})
}

// part are the nodes of a graph that another one may hold.
func (c *context) part(call string, g driver.Graph) ([]node, error) {
	found := c.graphs[g]
	if found == nil {
		return nil, c.fail(call, driver.InvalidHandle, "there is no graph %d", g)
	}
	for _, n := range found.nodes {
		if n.host != nil || n.event != nil {
			return nil, c.fail(call, driver.NotSupported, "a graph of kernels, copies and fills on the device is wanted")
		}
	}
	return append([]node(nil), found.nodes...), nil
}

func (c *context) UpdateGraph(x driver.Executable, n driver.Node, part driver.Graph, label string) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	found, err := c.updatable("UpdateGraph", x)
	if err != nil {
		return err
	}
	for i := range found.nodes {
		if found.nodes[i].handle != n {
			continue
		}
		nodes, err := c.part("UpdateGraph", part)
		if err != nil {
			return err
		}
		if !alike(found.nodes[i].part, nodes) {
			return c.fail("UpdateGraph", driver.UpdateFailure, "the graphs have other nodes")
		}
		found.nodes[i].set(nodes)
		found.nodes[i].op = label
		c.counts.Updates++
		return nil
	}
	return c.fail("UpdateGraph", driver.InvalidValue, "node %d is not of this graph", n)
}

// alike tells whether graphs differ in parameters alone.
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

// Performer is a context of this package. It runs a function of Go in the place of
// a kernel, for libraries that the tests play. The function may use the memory
// alone, which stops it at the first byte that is out of bounds or was never
// written.
type Performer interface {
	Perform(s driver.Stream, op string, takes time.Duration, run func(m *ptxsim.Memory) error) error
}

var _ Performer = (*context)(nil)

// Perform queues a function.
func (c *context) Perform(s driver.Stream, op string, takes time.Duration, run func(m *ptxsim.Memory) error) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	q, err := c.open("Perform", s)
	if err != nil {
		return err
	}
	c.push(q, &command{call: "Perform", op: op, takes: takes, run: func() error { return run(c.memory) }})
	return nil
}
