package count

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
)

// Driver is a driver with one GPU.
type Driver struct {
	// Opened is what the last call of Context returned.
	Opened *Context

	info driver.Info
}

var _ driver.Driver = (*Driver)(nil)

// H100 describes the GPU of [New], an H100 with 80 GiB.
var H100 = driver.Info{
	Name: "counting H100", Major: 9, SMs: 132, Memory: 80 << 30, L2: 50 << 20, SharedPerBlock: 227 << 10, SharedPerSM: 228 << 10, RegistersPerSM: 65536,
	ThreadsPerBlock: 1024, ThreadsPerSM: 2048, ClockKHz: 1980000, MemoryClockKHz: 2619000, MemoryBusBits: 5120, MemoryPools: true, EarlyLaunches: true, CUDA: 13000,
}

// New returns a driver with a GPU.
func New(gpu driver.Info) *Driver { return &Driver{info: gpu} }

// Version returns that of CUDA 13.0.
func (d *Driver) Version() int { return d.info.CUDA }

// Devices returns the GPU.
func (d *Driver) Devices() []driver.Info { return []driver.Info{d.info} }

// Context opens the GPU.
func (d *Driver) Context(int) (driver.Context, error) {
	d.Opened = &Context{
		info: d.info, names: map[driver.Function]string{}, sizes: map[driver.Pointer]int{}, graphs: map[driver.Graph]map[string]int{},
		executables: map[driver.Executable]map[string]int{}, counts: Counts{Nodes: map[string]int{}},
		kernels: map[driver.Node]bool{},
	}
	return d.Opened, nil
}

// Counts are the numbers of calls and the memory in use.
type Counts struct {
	driver.Counts
	// Nodes counts what ran, alone or in a graph, by the name of the kernel; a graph's other
	// nodes are called copy, fill and event.
	Nodes map[string]int
	// Calls counts all calls of the driver, whatever they do.
	Calls int
	Live  int // bytes that are allocated
	Peak  int // maximum of Live
}

// Context is the open GPU.
type Context struct {
	info driver.Info

	mu          sync.Mutex // guards all fields below
	counts      Counts
	handle      uintptr
	names       map[driver.Function]string
	sizes       map[driver.Pointer]int // of allocations
	allocated   uint64                 // bytes, ever
	graphs      map[driver.Graph]map[string]int
	executables map[driver.Executable]map[string]int
	kernels     map[driver.Node]bool // the nodes that are kernels
}

var _ driver.Context = (*Context)(nil)

// Total returns the counts since the context was opened.
func (c *Context) Total() Counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.counts
	all.Nodes = maps.Clone(all.Nodes)
	return all
}

// call counts a call until the returned function is called.
func (c *Context) call() (end func()) {
	c.mu.Lock()
	c.counts.Calls++
	return c.mu.Unlock
}

// next counts a call that creates something, and returns its handle.
func (c *Context) next() uintptr {
	defer c.call()()
	c.handle++
	return c.handle
}

// nothing is a call that has no effect.
func (c *Context) nothing() error {
	c.call()()
	return nil
}

// Info describes the GPU.
func (c *Context) Info() driver.Info { return c.info }

// Counts returns the driver's own counts.
func (c *Context) Counts() driver.Counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts.Counts
}

// Raw returns 0: there is no CUcontext.
func (c *Context) Raw() uintptr { return 0 }

// Current does nothing.
func (c *Context) Current() error { return nil }

// Close does nothing.
func (c *Context) Close() error { return nil }

// firstAddress is that of the first allocation.
const firstAddress = 1 << 34

// Alloc returns an address that no other allocation had. It fails if the GPU's memory is
// in use.
func (c *Context) Alloc(bytes int, _ driver.Stream) (driver.Pointer, error) {
	defer c.call()()
	const align = 512
	n := (bytes + align - 1) / align * align
	if bytes <= 0 || n > c.info.Memory-c.counts.Live {
		return 0, &driver.Error{Code: driver.OutOfMemory, Call: "cuMemAllocAsync", Op: fmt.Sprintf("%d bytes", bytes)}
	}
	p := driver.Pointer(firstAddress + c.allocated)
	c.allocated += uint64(n)
	c.sizes[p] = n
	c.counts.Allocs++
	c.counts.Live += n
	c.counts.Peak = max(c.counts.Peak, c.counts.Live)
	return p, nil
}

// Free frees an allocation.
func (c *Context) Free(p driver.Pointer, _ driver.Stream) error {
	defer c.call()()
	n, ok := c.sizes[p]
	if !ok {
		return &driver.Error{Code: driver.InvalidValue, Call: "cuMemFreeAsync", Log: fmt.Sprintf("%#x was not allocated, or was already freed", p)}
	}
	delete(c.sizes, p)
	c.counts.Frees++
	c.counts.Live -= n
	return nil
}

// Trim does nothing: freed memory is free at once.
func (c *Context) Trim() error { return c.nothing() }

// MemoryInfo returns the free and the total memory.
func (c *Context) MemoryInfo() (free, total int, err error) {
	defer c.call()()
	return c.info.Memory - c.counts.Live, c.info.Memory, nil
}

// AllocHost allocates memory of the host.
func (c *Context) AllocHost(bytes int) ([]byte, error) { return make([]byte, bytes), c.nothing() }

// FreeHost leaves the memory to the garbage collector.
func (c *Context) FreeHost([]byte) error { return c.nothing() }

// CopyToDevice drops the bytes.
func (c *Context) CopyToDevice(_ driver.Pointer, src []byte, _ driver.Stream) error {
	defer c.call()()
	c.counts.Copies++
	c.counts.BytesToDevice += len(src)
	return nil
}

// CopyToHost sets all bits.
func (c *Context) CopyToHost(dst []byte, _ driver.Pointer, _ driver.Stream) error {
	defer c.call()()
	c.counts.Copies++
	c.counts.BytesToHost += len(dst)
	for i := range dst {
		dst[i] = 0xff
	}
	return nil
}

// Copy copies nothing.
func (c *Context) Copy(_, _ driver.Pointer, _ int, _ driver.Stream) error {
	defer c.call()()
	c.counts.Copies++
	return nil
}

// Fill fills nothing.
func (c *Context) Fill(driver.Pointer, uint32, int, int, driver.Stream) error {
	defer c.call()()
	c.counts.Fills++
	return nil
}

// Load accepts any PTX.
func (c *Context) Load(string) (driver.Module, error) { return driver.Module(c.next()), nil }

// Unload does nothing.
func (c *Context) Unload(driver.Module) error { return c.nothing() }

// Function returns a function that has any name.
func (c *Context) Function(_ driver.Module, name string) (driver.Function, error) {
	f := driver.Function(c.next())
	c.mu.Lock()
	defer c.mu.Unlock()
	c.names[f] = name
	return f, nil
}

// Functions returns the names of the kernels that have been loaded, in no order.
func (c *Context) Functions() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Values(c.names))
}

// Global fails: modules have no memory.
func (c *Context) Global(_ driver.Module, name string) (driver.Pointer, int, error) {
	return 0, 0, &driver.Error{Code: driver.NotFound, Call: "cuModuleGetGlobal", Op: name}
}

// FunctionInfo returns nothing: no function is compiled.
func (c *Context) FunctionInfo(driver.Function) (driver.FunctionInfo, error) {
	return driver.FunctionInfo{}, c.nothing()
}

// SetMaxShared does nothing.
func (c *Context) SetMaxShared(driver.Function, int) error { return c.nothing() }

// Occupancy returns 1.
func (c *Context) Occupancy(driver.Function, int, int) (int, error) { return 1, c.nothing() }

// Launch counts the kernel.
func (c *Context) Launch(l driver.Launch, _ driver.Stream) error {
	defer c.call()()
	c.counts.Launches++
	c.counts.Nodes[c.names[l.Function]]++
	return nil
}

// TensorMap returns zeros.
func (c *Context) TensorMap(driver.TensorMap) (m [128]byte, err error) { return m, c.nothing() }

// NewStream returns a stream, in which nothing ever waits.
func (c *Context) NewStream() (driver.Stream, error) { return driver.Stream(c.next()), nil }

// CloseStream does nothing.
func (c *Context) CloseStream(driver.Stream) error { return c.nothing() }

// SyncStream counts a wait.
func (c *Context) SyncStream(driver.Stream) error { return c.wait() }

// Sync counts a wait.
func (c *Context) Sync() error { return c.wait() }

func (c *Context) wait() error {
	defer c.call()()
	c.counts.Syncs++
	return nil
}

// NewEvent returns an event, which has always happened.
func (c *Context) NewEvent(bool) (driver.Event, error) { return driver.Event(c.next()), nil }

// CloseEvent does nothing.
func (c *Context) CloseEvent(driver.Event) error { return c.nothing() }

// Record does nothing.
func (c *Context) Record(driver.Event, driver.Stream) error { return c.nothing() }

// Wait does nothing.
func (c *Context) Wait(driver.Stream, driver.Event) error { return c.nothing() }

// Done returns true.
func (c *Context) Done(driver.Event) (bool, error) { return true, c.nothing() }

// SyncEvent counts a wait.
func (c *Context) SyncEvent(driver.Event) error { return c.wait() }

// Elapsed returns 0.
func (c *Context) Elapsed(_, _ driver.Event) (float64, error) { return 0, c.nothing() }
