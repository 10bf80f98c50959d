package fake

import (
	"fmt"
	"sync"
	"time"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/ptxsim"
)

// Options describe the machine. The zero value is one GPU of compute capability 8.0 with
// 256 MiB that runs work at once.
type Options struct {
	Version    int // version of CUDA; 0 for 12040
	Devices    int // 0 for one, negative for none
	Capability int // 0 for 80
	Memory     int // bytes of each device; 0 for 256 MiB
	// Seed determines the random order of unordered work and its delays; 0 runs work at
	// once, in the order of the calls.
	Seed uint64
	// MaxSteps is the maximum number of instructions of one kernel; 0 for two billion.
	MaxSteps int64
	// KernelTime returns how long a kernel takes, for events; nil measures the simulator.
	// Work begins when it is queued or when the work before it has ended, whichever is
	// later, and calls that wait for it sleep until it has ended.
	KernelTime func(kernel string, grid, block driver.Dim) time.Duration
	// EventTime is how long a node of a graph takes that records an event, if KernelTime is set.
	EventTime time.Duration
	// Instant is true if the host takes no time and no call sleeps: event times depend on
	// KernelTime only and are the same in each run.
	Instant bool
	// Modules caches parsed modules for several drivers; nil caches none.
	Modules *Modules
}

// Modules caches parsed modules by their text. It is safe for concurrent use.
type Modules struct{ parsed sync.Map }

func (m *Modules) parse(ptx string) (*ptxsim.Module, error) {
	if found, ok := m.parsed.Load(ptx); ok {
		return found.(*ptxsim.Module), nil
	}
	module, err := ptxsim.Parse(ptx)
	if err != nil {
		return nil, err
	}
	m.parsed.Store(ptx, module)
	return module, nil
}

// Driver is a fake CUDA driver.
type Driver struct {
	options  Options
	devices  []driver.Info
	counting bool

	mutex    sync.Mutex
	injected []*Injection
	opened   *context // the last one
}

var _ driver.Driver = (*Driver)(nil)

// Open returns a driver, or the error that [driver.Open] returns on such a machine.
func Open(o Options) (*Driver, error) {
	if o.Version == 0 {
		o.Version = 12040
	}
	if o.Capability == 0 {
		o.Capability = 80
	}
	if o.Memory == 0 {
		o.Memory = 256 << 20
	}
	if o.MaxSteps == 0 {
		o.MaxSteps = 2e9
	}
	if o.Modules == nil {
		o.Modules = &Modules{}
	}
	d := &Driver{options: o}
	n := max(o.Devices, 0)
	if o.Devices == 0 {
		n = 1
	}
	for i := range n {
		info := driver.Info{
			Name: "Fake GPU", UUID: fmt.Sprintf("GPU-00000000-0000-0000-0000-%012d", i), PCI: fmt.Sprintf("0000:%02x:00.0", i),
			Major: o.Capability / 10, Minor: o.Capability % 10, SMs: 4, Memory: o.Memory, L2: 4 << 20, CUDA: o.Version,
			RegistersPerSM: 1 << 16, ThreadsPerBlock: 1024,
			ClockKHz: 1e6, MemoryClockKHz: 1e6, MemoryBusBits: 256, MemoryPools: true,
			EarlyLaunches: o.Capability >= 90 && o.Version >= 12030,
		}
		l := limitsOf(o.Capability)
		info.SharedPerSM, info.SharedPerBlock, info.ThreadsPerSM = l.shared<<10, (l.shared-1)<<10, l.threads
		d.devices = append(d.devices, info)
	}
	if err := driver.Usable(o.Version, d.devices); err != nil {
		return nil, err
	}
	return d, nil
}

// limits are the resources of an SM.
type limits struct {
	capability int // the lowest compute capability with these limits
	shared     int // KiB per SM; a block may use all but one
	threads    int
	blocks     int
}

// all is from the CUDA C++ Programming Guide, Technical Specifications per Compute
// Capability.
var all = []limits{
	{120, 100, 1536, 24}, {100, 228, 2048, 32}, {90, 228, 2048, 32}, {89, 100, 1536, 24}, {87, 164, 1536, 16}, {86, 100, 1536, 16}, {80, 164, 2048, 32},
}

func limitsOf(capability int) limits {
	for _, l := range all {
		if capability >= l.capability {
			return l
		}
	}
	return all[len(all)-1]
}

// Version returns the version of the options.
func (d *Driver) Version() int { return d.options.Version }

// Devices returns the devices of the options.
func (d *Driver) Devices() []driver.Info { return d.devices }

// Context creates a context with its own memory.
func (d *Driver) Context(device int) (driver.Context, error) {
	if device < 0 || device >= len(d.devices) {
		return nil, &driver.Error{Code: driver.InvalidDevice, Call: "cuDevicePrimaryCtxRetain", Op: fmt.Sprintf("device %d of %d", device, len(d.devices))}
	}
	if err := d.injectedError("Context"); err != nil {
		return nil, err
	}
	c := newContext(d, device)
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.opened = c
	return c, nil
}

// Injection makes calls fail.
type Injection struct {
	// Call is the method of driver.Context that fails: Alloc, Launch,
	// LaunchGraph, CopyToHost, … or Context.
	Call string
	// Skip is the number of such calls that succeed first.
	Skip int
	// Times is the number of calls that fail; 0 for one, negative for all.
	Times int
	// Code is the error. A sticky one breaks the context, as on a GPU. For calls that only
	// queue work (Launch, LaunchGraph, copies, fills), the next call that waits returns a
	// sticky error.
	Code driver.Code
}

// Inject makes calls of all contexts fail from now on.
func (d *Driver) Inject(i Injection) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if i.Times == 0 {
		i.Times = 1
	}
	d.injected = append(d.injected, &i)
}

// injectedCode returns the code with which a call must fail, 0 for none.
func (d *Driver) injectedCode(call string) driver.Code {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	for _, i := range d.injected {
		if i.Call != call || i.Times == 0 {
			continue
		}
		if i.Skip > 0 {
			i.Skip--
			continue
		}
		i.Times--
		return i.Code
	}
	return 0
}

func (d *Driver) injectedError(call string) error {
	if code := d.injectedCode(call); code != 0 {
		return &driver.Error{Code: code, Call: calls[call], Op: "injected"}
	}
	return nil
}

// calls maps methods to CUDA functions, for errors.
var calls = map[string]string{
	"Context": "cuDevicePrimaryCtxRetain", "Alloc": "cuMemAllocAsync", "Free": "cuMemFreeAsync", "MemoryInfo": "cuMemGetInfo", "Trim": "cuMemPoolTrimTo",
	"AllocHost": "cuMemAllocHost", "FreeHost": "cuMemFreeHost", "CopyToDevice": "cuMemcpyHtoDAsync", "CopyToHost": "cuMemcpyDtoHAsync",
	"Copy": "cuMemcpyDtoDAsync", "Fill": "cuMemsetD8Async", "Load": "cuModuleLoadDataEx", "Unload": "cuModuleUnload",
	"Function": "cuModuleGetFunction", "Global": "cuModuleGetGlobal", "FunctionInfo": "cuFuncGetAttribute", "SetMaxShared": "cuFuncSetAttribute",
	"Occupancy": "cuOccupancyMaxActiveBlocksPerMultiprocessor", "Launch": "cuLaunchKernel", "TensorMap": "cuTensorMapEncodeTiled",
	"NewStream": "cuStreamCreate", "CloseStream": "cuStreamDestroy", "SyncStream": "cuStreamSynchronize", "Sync": "cuCtxSynchronize",
	"NewEvent": "cuEventCreate", "CloseEvent": "cuEventDestroy", "Record": "cuEventRecord", "Wait": "cuStreamWaitEvent", "Done": "cuEventQuery",
	"SyncEvent": "cuEventSynchronize", "Elapsed": "cuEventElapsedTime", "NewGraph": "cuGraphCreate", "CloseGraph": "cuGraphDestroy",
	"AddKernel": "cuGraphAddKernelNode", "AddCopy": "cuGraphAddMemcpyNode", "AddCopyToDevice": "cuGraphAddMemcpyNode",
	"AddCopyToHost": "cuGraphAddMemcpyNode", "AddFill": "cuGraphAddMemsetNode", "AddEvent": "cuGraphAddEventRecordNode", "Instantiate": "cuGraphInstantiate",
	"CloseExecutable": "cuGraphExecDestroy", "UpdateKernel": "cuGraphExecKernelNodeSetParams", "LaunchGraph": "cuGraphLaunch",
	"Capture": "cuStreamBeginCapture", "AddGraph": "cuGraphAddChildGraphNode", "UpdateGraph": "cuGraphExecChildGraphNodeSetParams", "LaunchFunc": "a library's kernel",
	"Current": "cuCtxSetCurrent", "Close": "cuDevicePrimaryCtxRelease",
}
