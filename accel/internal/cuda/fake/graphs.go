package fake

import (
	"fmt"
	"slices"
	"time"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
)

// graph is a list of nodes. Each comes after the nodes that it depends on.
type graph struct{ nodes []node }

type node struct {
	handle   driver.Node
	call     string
	name     string // for Counts.Nodes
	op       string
	function driver.Function // of a kernel node
	early    bool            // of a kernel node
	after    []int           // indices of the nodes that it depends on
	run      func() error
	part     []node // nodes of a child graph
	host     []byte
	event    *event // the event that it records
	takes    time.Duration
}

// executable is a snapshot of a graph at instantiation, with later updates.
type executable struct {
	graph driver.Graph // the graph that the node handles belong to
	nodes []node
	last  *command // end of the last launch; the next one waits for it
}

func (c *context) NewGraph() (driver.Graph, error) {
	return call(c, "NewGraph", func() (driver.Graph, error) {
		g := driver.Graph(c.next())
		c.graphs[g] = &graph{}
		return g, nil
	})
}

func (c *context) CloseGraph(g driver.Graph) error {
	return c.call("CloseGraph", func() error {
		_, err := find(c, "CloseGraph", "graph", c.graphs[g], g)
		delete(c.graphs, g)
		return err
	})
}

// add adds a node to a graph; make fills in what it does.
func (c *context) add(name, kind string, g driver.Graph, after []driver.Node, make func(n *node) error) (driver.Node, error) {
	return call(c, name, func() (driver.Node, error) {
		found, err := find(c, name, "graph", c.graphs[g], g)
		if err != nil {
			return 0, err
		}
		n := node{call: name, name: kind}
		for k, before := range after {
			if slices.Contains(after[:k], before) {
				return 0, c.fail(name, driver.InvalidValue, "node %d is listed twice", before)
			}
			i := slices.IndexFunc(found.nodes, func(n node) bool { return n.handle == before })
			if i < 0 {
				return 0, c.fail(name, driver.InvalidValue, "node %d does not belong to this graph", before)
			}
			n.after = append(n.after, i)
		}
		if err := make(&n); err != nil {
			return 0, err
		}
		n.handle = driver.Node(c.next())
		found.nodes = append(found.nodes, n)
		return n.handle, nil
	})
}

func (c *context) AddKernel(g driver.Graph, after []driver.Node, l driver.Launch) (driver.Node, error) {
	return c.add("AddKernel", "", g, after, func(n *node) (err error) {
		n.op, n.function, n.early = l.Label, l.Function, l.Early
		if l.Early {
			if !c.info.EarlyLaunches {
				return c.fail("AddKernel", driver.NotSupported, "programmatic dependencies need compute capability 9.0 and CUDA 12.3")
			}
			for _, i := range n.after {
				if before := c.graphs[g].nodes[i]; before.function == 0 {
					return c.fail("AddKernel", driver.InvalidValue, "a programmatic dependency on a node of %s", before.call)
				}
			}
			c.counts.Early++
		}
		if n.run, n.takes, err = c.kernel("AddKernel", l); err == nil {
			n.name = c.functions[l.Function].kernel.Name()
		}
		return err
	})
}

func (c *context) AddCopy(g driver.Graph, after []driver.Node, dst, src driver.Pointer, bytes int) (driver.Node, error) {
	return c.add("AddCopy", "copy", g, after, func(n *node) error {
		if bytes <= 0 || dst < src+driver.Pointer(bytes) && src < dst+driver.Pointer(bytes) {
			return c.fail("AddCopy", driver.InvalidValue, "%d bytes from %#x to %#x", bytes, src, dst)
		}
		n.op = fmt.Sprintf("copy of %d bytes on the device", bytes)
		n.run = func() error { return c.memory.Copy(uint64(dst), uint64(src), bytes) }
		return nil
	})
}

func (c *context) AddCopyToDevice(g driver.Graph, after []driver.Node, dst driver.Pointer, src []byte) (driver.Node, error) {
	return c.add("AddCopyToDevice", "copy", g, after, func(n *node) error {
		if len(src) == 0 || !c.pinned(src) {
			return c.fail("AddCopyToDevice", driver.InvalidValue, "host memory of a graph must come from AllocHost")
		}
		n.op = fmt.Sprintf("copy of %d bytes to the device", len(src))
		n.host = src
		n.run = func() error { return c.memory.Write(uint64(dst), src) }
		return nil
	})
}

func (c *context) AddCopyToHost(g driver.Graph, after []driver.Node, dst []byte, src driver.Pointer) (driver.Node, error) {
	return c.add("AddCopyToHost", "copy", g, after, func(n *node) error {
		if len(dst) == 0 || !c.pinned(dst) {
			return c.fail("AddCopyToHost", driver.InvalidValue, "host memory of a graph must come from AllocHost")
		}
		n.op = fmt.Sprintf("copy of %d bytes to the host", len(dst))
		n.host = dst
		n.run = func() error { return c.memory.Read(dst, uint64(src)) }
		return nil
	})
}

func (c *context) AddFill(g driver.Graph, after []driver.Node, dst driver.Pointer, value uint32, width, count int) (driver.Node, error) {
	return c.add("AddFill", "fill", g, after, func(n *node) error {
		if count == 0 {
			return c.fail("AddFill", driver.InvalidValue, "no elements")
		}
		if err := c.checkFill("AddFill", dst, width, count); err != nil {
			return err
		}
		n.op = fmt.Sprintf("fill of %d × %d bytes", count, width)
		n.run = func() error { return c.fill(dst, value, width, count) }
		return nil
	})
}

func (c *context) AddEvent(g driver.Graph, after []driver.Node, e driver.Event) (driver.Node, error) {
	return c.add("AddEvent", "event", g, after, func(n *node) error {
		if n.event = c.events[e]; n.event == nil {
			return c.fail("AddEvent", driver.InvalidHandle, "no event has the handle %d", e)
		}
		n.takes = c.driver.options.EventTime
		return nil
	})
}

func (c *context) Instantiate(g driver.Graph) (driver.Executable, error) {
	return call(c, "Instantiate", func() (driver.Executable, error) {
		found, err := find(c, "Instantiate", "graph", c.graphs[g], g)
		if err != nil {
			return 0, err
		}
		c.counts.Instantiates++
		x := driver.Executable(c.next())
		c.executables[x] = &executable{graph: g, nodes: append([]node(nil), found.nodes...)}
		return x, nil
	})
}

func (c *context) executable(call string, x driver.Executable) (*executable, error) {
	return find(c, call, "instantiated graph", c.executables[x], x)
}

func (c *context) CloseExecutable(x driver.Executable) error {
	return c.call("CloseExecutable", func() error {
		_, err := c.executable("CloseExecutable", x)
		delete(c.executables, x)
		return err
	})
}

// update changes a node of an instantiated graph.
func (c *context) update(name string, x driver.Executable, n driver.Node, change func(*node) error) error {
	return c.call(name, func() error {
		found, err := c.executable(name, x)
		if err != nil {
			return err
		}
		if c.graphs[found.graph] == nil {
			return c.fail(name, driver.InvalidValue, "the graph that the nodes belong to is closed")
		}
		i := slices.IndexFunc(found.nodes, func(own node) bool { return own.handle == n })
		if i < 0 {
			return c.fail(name, driver.InvalidValue, "node %d does not belong to this graph", n)
		}
		if err := change(&found.nodes[i]); err != nil {
			return err
		}
		c.counts.Updates++
		return nil
	})
}

func (c *context) UpdateKernel(x driver.Executable, n driver.Node, l driver.Launch) error {
	return c.update("UpdateKernel", x, n, func(n *node) (err error) {
		if n.function != l.Function {
			return c.fail("UpdateKernel", driver.InvalidValue, "the node launches a different function")
		}
		l.Early = n.early // the edges do not change
		run, takes, err := c.kernel("UpdateKernel", l)
		if err == nil {
			n.run, n.takes, n.op = run, takes, l.Label
		}
		return err
	})
}

// LaunchGraph queues the nodes between two markers in the stream.
func (c *context) LaunchGraph(x driver.Executable, s driver.Stream) error {
	return c.on("LaunchGraph", s, func(q *stream) error {
		found, err := c.executable("LaunchGraph", x)
		if err != nil {
			return err
		}
		c.counts.GraphLaunches++
		c.counts.GraphNodes += len(found.nodes)
		var start []*command
		for _, before := range []*command{q.last, found.last} {
			if before != nil && !before.done {
				start = append(start, before)
			}
		}
		all, asked := make([]*command, len(found.nodes)), time.Since(c.began)
		for i, n := range found.nodes {
			c.nodes[n.name]++
			cmd := &command{call: "LaunchGraph", op: n.op, run: n.run}
			if n.event != nil {
				cmd = c.marking(n.event, "LaunchGraph")
			}
			cmd.asked, cmd.takes, cmd.after = asked, n.takes, append([]*command(nil), start...)
			if n.host != nil {
				cmd.hosts = [][]byte{n.host}
			}
			for _, j := range n.after {
				cmd.after = append(cmd.after, all[j])
			}
			all[i] = cmd
		}
		c.waiting = append(c.waiting, all...)
		found.last = &command{call: "LaunchGraph", after: all}
		c.push(q, found.last)
		return nil
	})
}
