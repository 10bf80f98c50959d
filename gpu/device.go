package gpu

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// ErrNoGPU is returned if there is no GPU to sample. The error that wraps it gives the reason
// in one line.
var ErrNoGPU = errors.New("no GPU")

// Device is a device whose use can be measured: a GPU, or the host's CPU and memory.
//
// Its methods may be called from any goroutine, but not during or after Close.
type Device interface {
	// Name returns the product name, such as "NVIDIA H200".
	Name() string
	// Sample measures once. Quantities that cannot be measured are NaN.
	Sample() Sample
	// Close releases the device.
	Close() error
}

// Sample is one measurement. A quantity that the device does not have, or that could not be
// read, is NaN.
type Sample struct {
	At time.Time // time of the measurement

	Busy        float64 // percent of the last moment in which the device worked, from 0 to 100
	ProcessBusy float64 // the part of Busy due to this process

	MemUsed    float64 // bytes
	MemTotal   float64 // bytes of the device, or that the container may use
	ProcessMem float64 // bytes of this process

	Watts      float64 // power drawn now
	WattsLimit float64 // power at which the device slows down
	Joules     float64 // energy since an arbitrary time; only differences are meaningful
	Celsius    float64 // temperature
	ClockMHz   float64 // SM clock

	// GPU performance counters since the previous sample, in percent from 0 to 100. GPUs before
	// Hopper do not have them.
	SMs         float64 // SMs that were active
	Occupancy   float64 // active warps, relative to the maximum of the SMs
	TensorCores float64 // time that the tensor cores were active
	MemoryBus   float64 // memory bandwidth used

	// Slowed says what limits the clock, such as "the power limit". It is empty if nothing does
	// or the reason is unknown.
	Slowed string
}

// unmeasured returns a sample without any measurement.
func unmeasured(at time.Time) Sample {
	none := math.NaN()
	return Sample{
		At: at, Busy: none, ProcessBusy: none, MemUsed: none, MemTotal: none, ProcessMem: none,
		Watts: none, WattsLimit: none, Joules: none, Celsius: none, ClockMHz: none,
		SMs: none, Occupancy: none, TensorCores: none, MemoryBus: none,
	}
}

// Link is how one GPU of the machine reaches another one.
type Link struct {
	From, To string // PCI bus ids, such as 0000:3b:00.0
	// NVLinks is how many NVLinks lead from one to the other, directly or through NVSwitch; 0 for none.
	NVLinks int
	// Path is what data crosses without NVLink.
	Path Path
}

// Path is what data crosses between two GPUs on PCI Express, from the shortest path to the longest. Its names are those of
// nvidia-smi topo -m.
type Path string

// The paths.
const (
	SameBoard       Path = "INT"  // within a board that has several GPUs; nvidia-smi shows PIX
	OneSwitch       Path = "PIX"  // one PCIe switch
	SeveralSwitches Path = "PXB"  // several PCIe switches, but no host bridge
	HostBridge      Path = "PHB"  // a PCIe host bridge
	SameNUMANode    Path = "NODE" // host bridges of a NUMA node
	BetweenSockets  Path = "SYS"  // the connection between NUMA nodes
)

// String returns what nvidia-smi topo -m shows: the number of NVLinks such as NV18, or the path.
func (l Link) String() string {
	if l.NVLinks > 0 {
		return fmt.Sprintf("NV%d", l.NVLinks)
	}
	return string(l.Path)
}
