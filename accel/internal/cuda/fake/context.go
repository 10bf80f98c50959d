package fake

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/ptxsim"
)

// context is a device with its memory and everything that was created on it.
type context struct {
	driver *Driver
	info   driver.Info

	mutex   sync.Mutex // guards all fields below
	memory  *ptxsim.Memory
	kept    int        // bytes that were freed but stay reserved until Trim
	random  *rand.Rand // nil to run commands at once
	waiting []*command // in the order of the calls
	broken  *driver.Error
	closed  bool
	counts  driver.Counts
	calls   int
	nodes   map[string]int // see Counts
	live    int            // bytes of device memory that are allocated
	peak    int            // maximum of live
	handle  uintptr        // the last handle that was handed out

	began time.Time
	clock time.Duration // the time at which the last work ended, if Options.KernelTime is set

	base        stream
	streams     map[driver.Stream]*stream
	events      map[driver.Event]*event
	modules     map[driver.Module]*ptxsim.Loaded
	functions   map[driver.Function]*function
	named       map[namedFunction]driver.Function
	graphs      map[driver.Graph]*graph
	executables map[driver.Executable]*executable
	hosts       map[*byte][]byte
	allocations map[driver.Pointer]int // size of each allocation
}

var _ driver.Context = (*context)(nil)

func newContext(d *Driver, device int) *context {
	c := &context{driver: d, info: d.devices[device], memory: ptxsim.NewMemory(d.options.Memory), began: time.Now(), nodes: map[string]int{}}
	if d.counting {
		c.memory = ptxsim.NewAddresses(d.options.Memory)
	}
	if d.options.Seed != 0 {
		c.random = rand.New(rand.NewPCG(d.options.Seed, uint64(device)))
	}
	c.streams, c.events = map[driver.Stream]*stream{}, map[driver.Event]*event{}
	c.modules, c.functions, c.named = map[driver.Module]*ptxsim.Loaded{}, map[driver.Function]*function{}, map[namedFunction]driver.Function{}
	c.graphs, c.executables = map[driver.Graph]*graph{}, map[driver.Executable]*executable{}
	c.hosts, c.allocations = map[*byte][]byte{}, map[driver.Pointer]int{}
	return c
}

func (c *context) Info() driver.Info { return c.info }

// begin starts a call. It returns an error if the context is broken or an error was
// injected for the call. The mutex must be held.
func (c *context) begin(call string) error {
	c.calls++
	if c.closed {
		return &driver.Error{Code: driver.InvalidContext, Call: calls[call]}
	}
	if c.broken != nil {
		return &driver.Error{Code: c.broken.Code, Call: calls[call], Op: c.broken.Op, Log: c.broken.Log, Cause: c.broken.Cause}
	}
	code := c.driver.injectedCode(call)
	if code == 0 {
		return nil
	}
	err := &driver.Error{Code: code, Call: calls[call], Op: "injected"}
	if !code.Sticky() {
		return err
	}
	switch call {
	case "Launch", "LaunchGraph", "CopyToDevice", "CopyToHost", "Copy", "Fill":
		c.push(&c.base, &command{call: call, run: func() error { return err }})
		return nil
	}
	c.broken = err
	return err
}

// call makes a call without other results: do runs with the mutex held, unless begin returns an error.
func (c *context) call(name string, do func() error) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if err := c.begin(name); err != nil {
		return err
	}
	return do()
}

// call is the method of this name for calls with a result.
func call[T any](c *context, name string, do func() (T, error)) (result T, err error) {
	err = c.call(name, func() error {
		result, err = do()
		return err
	})
	return result, err
}

// on makes a call for a stream.
func (c *context) on(name string, s driver.Stream, do func(q *stream) error) error {
	return c.call(name, func() error {
		q, err := c.stream(name, s)
		if err != nil {
			return err
		}
		return do(q)
	})
}

// find returns found, what has a handle, or the error that nothing has it.
func find[H ~uintptr, T any](c *context, call, what string, found *T, handle H) (*T, error) {
	if found == nil {
		return nil, c.fail(call, driver.InvalidHandle, "no %s has the handle %d", what, handle)
	}
	return found, nil
}

// end returns the error that the device has met so far, for calls that wait.
func (c *context) end() error {
	if c.broken != nil {
		return c.broken
	}
	return nil
}

func (c *context) fail(call string, code driver.Code, format string, args ...any) error {
	return &driver.Error{Code: code, Call: calls[call], Log: fmt.Sprintf(format, args...)}
}

// stream returns a stream by its handle.
func (c *context) stream(call string, s driver.Stream) (*stream, error) {
	if s == 0 {
		return &c.base, nil
	}
	found, err := find(c, call, "stream", c.streams[s], s)
	if err != nil {
		return nil, err
	}
	return found, c.capturable(call, found)
}

func (c *context) next() uintptr {
	c.handle++
	return c.handle
}

func (c *context) Counts() driver.Counts {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.counts
}

// Raw returns 0: there is no CUcontext.
func (c *context) Raw() uintptr { return 0 }

func (c *context) Current() error { return c.call("Current", func() error { return nil }) }

// Close runs all queued work and closes the context. It returns an error if memory was not
// freed.
func (c *context) Close() error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if err := c.begin("Close"); err != nil {
		c.closed = true
		return err
	}
	c.drain(nil)
	c.closed = true
	return c.end()
}
