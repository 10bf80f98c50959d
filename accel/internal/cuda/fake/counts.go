package fake

import (
	"maps"
	"slices"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
)

// H100 describes an H100 with 80 GiB, for [Counting].
var H100 = driver.Info{
	Name: "counting H100", Major: 9, SMs: 132, Memory: 80 << 30, L2: 50 << 20, SharedPerBlock: 227 << 10, SharedPerSM: 228 << 10, RegistersPerSM: 65536,
	ThreadsPerBlock: 1024, ThreadsPerSM: 2048, ClockKHz: 1980000, MemoryClockKHz: 2619000, MemoryBusBits: 5120, MemoryPools: true, EarlyLaunches: true, CUDA: 13000,
}

// Counting returns a driver with one GPU that runs nothing, so that the plans of models at full size can be inspected in
// seconds. Device memory has no content: whatever is read has all bits set, which is NaN in a float and "no fault" in a
// fault record. So a program must not depend on computed values. Drivers with the same modules parse each once.
func Counting(gpu driver.Info, parsed *Modules) *Driver {
	return &Driver{options: Options{Version: gpu.CUDA, Memory: gpu.Memory, Modules: parsed}, devices: []driver.Info{gpu}, counting: true}
}

// Counts are the numbers of calls and the memory in use.
type Counts struct {
	driver.Counts
	// Nodes counts what ran, alone or in a graph, by the name of the kernel; a graph's other
	// nodes are called copy, fill, event and library.
	Nodes map[string]int
	// Calls counts all calls of the driver, whatever they do.
	Calls int
	Live  int // bytes of device memory that are allocated
	Peak  int // maximum of Live
}

// Total returns the counts of the context that was opened last.
func (d *Driver) Total() Counts {
	c := d.last()
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return Counts{c.counts, maps.Clone(c.nodes), c.calls, c.live, c.peak}
}

// Functions returns the names of the kernels that the context that was opened last has loaded, sorted.
func (d *Driver) Functions() (names []string) {
	c := d.last()
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for _, f := range c.functions {
		names = append(names, f.kernel.Name())
	}
	slices.Sort(names)
	return names
}

func (d *Driver) last() *context {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return d.opened
}
