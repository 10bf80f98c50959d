package count

import (
	"maps"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
)

// NewGraph returns an empty graph.
func (c *Context) NewGraph() (driver.Graph, error) {
	g := driver.Graph(c.next())
	c.mu.Lock()
	defer c.mu.Unlock()
	c.graphs[g] = map[string]int{}
	return g, nil
}

// CloseGraph forgets a graph.
func (c *Context) CloseGraph(g driver.Graph) error {
	defer c.call()()
	delete(c.graphs, g)
	return nil
}

// add adds a node to a graph.
func (c *Context) add(g driver.Graph, name string) (driver.Node, error) {
	n := driver.Node(c.next())
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.graphs[g] == nil {
		return 0, &driver.Error{Code: driver.InvalidHandle, Call: "cuGraphAddNode", Op: name}
	}
	c.graphs[g][name]++
	return n, nil
}

// AddKernel adds a kernel. One that begins early may depend on kernels only.
func (c *Context) AddKernel(g driver.Graph, after []driver.Node, l driver.Launch) (driver.Node, error) {
	c.mu.Lock()
	name, kernels := c.names[l.Function], true
	for _, n := range after {
		kernels = kernels && c.kernels[n]
	}
	c.mu.Unlock()
	if l.Early && !kernels {
		return 0, &driver.Error{Code: driver.InvalidValue, Call: "cuGraphAddDependencies", Op: l.Label, Log: "a programmatic dependency on a node that is no kernel"}
	}
	n, err := c.add(g, name)
	if err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kernels[n] = true
	if l.Early {
		c.counts.Early++
	}
	return n, nil
}

// AddCopy adds a copy.
func (c *Context) AddCopy(g driver.Graph, _ []driver.Node, _, _ driver.Pointer, _ int) (driver.Node, error) {
	return c.add(g, "copy")
}

// AddCopyToDevice adds a copy.
func (c *Context) AddCopyToDevice(g driver.Graph, _ []driver.Node, _ driver.Pointer, _ []byte) (driver.Node, error) {
	return c.add(g, "copy")
}

// AddCopyToHost adds a copy.
func (c *Context) AddCopyToHost(g driver.Graph, _ []driver.Node, _ []byte, _ driver.Pointer) (driver.Node, error) {
	return c.add(g, "copy")
}

// AddFill adds a fill.
func (c *Context) AddFill(g driver.Graph, _ []driver.Node, _ driver.Pointer, _ uint32, _, _ int) (driver.Node, error) {
	return c.add(g, "fill")
}

// AddEvent adds an event.
func (c *Context) AddEvent(g driver.Graph, _ []driver.Node, _ driver.Event) (driver.Node, error) {
	return c.add(g, "event")
}

// Capture fails: there are no libraries whose calls could be captured.
func (c *Context) Capture(func(s driver.Stream) error) (driver.Graph, error) {
	return 0, &driver.Error{Code: driver.NotSupported, Call: "cuStreamBeginCapture"}
}

// AddGraph fails, as Capture does.
func (c *Context) AddGraph(driver.Graph, []driver.Node, driver.Graph, string) (driver.Node, error) {
	return 0, &driver.Error{Code: driver.NotSupported, Call: "cuGraphAddChildGraphNode"}
}

// UpdateGraph fails, as Capture does.
func (c *Context) UpdateGraph(driver.Executable, driver.Node, driver.Graph, string) error {
	return &driver.Error{Code: driver.NotSupported, Call: "cuGraphExecChildGraphNodeSetParams"}
}

// Instantiate makes a graph executable.
func (c *Context) Instantiate(g driver.Graph) (driver.Executable, error) {
	x := driver.Executable(c.next())
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts.Instantiates++
	c.executables[x] = maps.Clone(c.graphs[g])
	return x, nil
}

// CloseExecutable forgets an executable.
func (c *Context) CloseExecutable(x driver.Executable) error {
	defer c.call()()
	delete(c.executables, x)
	return nil
}

// UpdateKernel counts an update.
func (c *Context) UpdateKernel(driver.Executable, driver.Node, driver.Launch) error {
	defer c.call()()
	c.counts.Updates++
	return nil
}

// LaunchGraph counts the graph and its nodes.
func (c *Context) LaunchGraph(x driver.Executable, _ driver.Stream) error {
	defer c.call()()
	nodes, ok := c.executables[x]
	if !ok {
		return &driver.Error{Code: driver.InvalidHandle, Call: "cuGraphLaunch"}
	}
	c.counts.GraphLaunches++
	for name, n := range nodes {
		c.counts.Nodes[name] += n
		c.counts.GraphNodes += n
	}
	return nil
}
