package driver

import (
	gocontext "context"
	"errors"
)

// ErrNoGPU is wrapped by errors that explain why no GPU can be used.
var ErrNoGPU = errors.New("no CUDA GPU")

// Driver is an initialized CUDA driver.
type Driver interface {
	// Version returns the newest CUDA version that the driver supports, in CUDA's format:
	// 1000*major + 10*minor.
	Version() int
	// Devices returns the GPUs that the process may use, in CUDA's order.
	Devices() []Info
	// Context retains the primary context of a device.
	Context(device int) (Context, error)
}

// Info describes a device.
type Info struct {
	Name            string
	UUID            string // as nvidia-smi prints it, GPU-…
	PCI             string // bus id, 0000:3b:00.0
	Major, Minor    int    // compute capability
	SMs             int    // streaming multiprocessors
	Memory          int    // total bytes
	L2              int    // bytes of the level 2 cache
	SharedPerBlock  int    // maximum bytes of shared memory per block (after SetMaxShared)
	SharedPerSM     int    // bytes of shared memory per SM
	RegistersPerSM  int    // 32-bit registers per SM
	ThreadsPerBlock int    // maximum threads per block
	ThreadsPerSM    int    // maximum resident threads per SM
	ClockKHz        int    // maximum clock of the SMs
	MemoryClockKHz  int    // maximum memory clock
	MemoryBusBits   int    // memory bus width
	MemoryPools     bool   // stream-ordered memory allocation is supported
	Integrated      bool   // the GPU shares the host's memory
	Exclusive       bool   // only one process at a time may use the device
	EarlyLaunches   bool   // graphs may have [Launch.Early]: CUDA 12.3 and compute capability 9.0
	CUDA            int    // newest CUDA version that the driver supports, as [Driver.Version]
}

// Capability returns the compute capability as one number, 90 for 9.0.
func (i Info) Capability() int { return 10*i.Major + i.Minor }

// Handles. Zero is never valid, except for Stream, where it is the context's default
// stream.
type (
	Pointer    uint64  // address in device memory
	Stream     uintptr // queue of work that runs in order
	Event      uintptr // position in a stream
	Module     uintptr // loaded PTX
	Function   uintptr // kernel of a module
	Graph      uintptr // nodes and their dependencies, not yet executable
	Node       uintptr // unit of work in a graph
	Executable uintptr // instantiated graph, CUgraphExec
)

// Dim is a number of blocks or threads along x, y and z; zero counts as one.
type Dim struct{ X, Y, Z uint32 }

// Count returns X·Y·Z.
func (d Dim) Count() int { return int(max(d.X, 1)) * int(max(d.Y, 1)) * int(max(d.Z, 1)) }

// Launch describes the launch of a kernel.
type Launch struct {
	Function Function
	Grid     Dim    // blocks
	Block    Dim    // threads per block
	Cluster  Dim    // blocks per cluster (compute capability 9.0); zero for no clusters
	Shared   int    // bytes of dynamic shared memory
	Params   []byte // laid out like the .param space of the entry: each parameter at its natural alignment
	Label    string // op and shapes, for errors

	// Early launches the kernel, in a graph, when all blocks of the kernels that it depends on have executed
	// griddepcontrol.launch_dependents or ended: programmatic dependent launch. The kernel must wait for their end with
	// griddepcontrol.wait before it accesses memory. It may depend on kernels only. A launch in a stream is never early.
	Early bool

	// Detected, unless it is nil, gets the error of a simulated kernel that does what a GPU does not detect, such as a race. The context
	// then works on; otherwise the error breaks it, as a fault does. It is called while the context is locked.
	Detected func(error)
	// Record, unless it is 0, is the address of a word that becomes 2 before Detected is called, so that later kernels find the fault.
	Record Pointer
	// Context returns a context that ends the kernel, if the device is simulated; a GPU executes a kernel to its end. It is called
	// by the goroutine in which the kernel runs, which calls end behind it. It may be nil. Detected then gets the error of the context.
	Context func() (ctx gocontext.Context, end func())
}

// Memory allocates, frees, fills and copies memory. All methods but AllocHost, FreeHost,
// Trim and MemoryInfo are asynchronous, in the order of a stream. Host memory from
// AllocHost is copied while the host continues, and must not be changed until then; any
// other host memory is copied before the call returns.
type Memory interface {
	// Alloc allocates device memory, aligned to at least 256 bytes. Later work of the
	// stream may use it; other streams must wait for an event. It fails with OutOfMemory.
	Alloc(bytes int, s Stream) (Pointer, error)
	// Free frees memory of Alloc when the stream reaches the call.
	Free(p Pointer, s Stream) error
	// Trim returns freed memory to the system. Otherwise the driver keeps it for later
	// calls of Alloc, and other libraries and processes cannot use it. Memory whose Free
	// the stream has not reached yet is not returned.
	Trim() error
	// MemoryInfo returns the free and the total memory of the device, in bytes.
	MemoryInfo() (free, total int, err error)
	// AllocHost allocates zeroed, pinned host memory.
	AllocHost(bytes int) ([]byte, error)
	// FreeHost frees memory of AllocHost. No queued copy may use it.
	FreeHost(b []byte) error
	CopyToDevice(dst Pointer, src []byte, s Stream) error
	CopyToHost(dst []byte, src Pointer, s Stream) error
	// Copy copies within the device; the ranges must not overlap.
	Copy(dst, src Pointer, bytes int, s Stream) error
	// Fill sets count elements of width 1, 2 or 4 bytes.
	Fill(dst Pointer, value uint32, width, count int, s Stream) error
}

// Kernels loads and launches code.
type Kernels interface {
	// Load compiles PTX for the device, or loads machine code for it, a cubin. The compiler's log is in the error's Log field.
	Load(code string) (Module, error)
	Unload(m Module) error
	// Function returns a .visible .entry by name. It fails with NotFound.
	Function(m Module, name string) (Function, error)
	// Global returns a .visible .global or .const variable of a module.
	Global(m Module, name string) (p Pointer, bytes int, err error)
	// FunctionInfo returns the resources that the compiler assigned to a function.
	FunctionInfo(f Function) (FunctionInfo, error)
	// SetMaxShared lets a function use more than 48 KiB of dynamic shared memory.
	SetMaxShared(f Function, bytes int) error
	// Occupancy returns the number of blocks, with the given threads and bytes of dynamic
	// shared memory, that are resident on one SM at a time.
	Occupancy(f Function, threads, shared int) (int, error)
	Launch(l Launch, s Stream) error
	// TensorMap encodes the description of a tensor in device memory for
	// cp.async.bulk.tensor (compute capability 9.0). The result is a kernel parameter,
	// aligned to 64 bytes.
	TensorMap(t TensorMap) ([128]byte, error)
}

// FunctionInfo is the resources that the compiler assigned to a function.
type FunctionInfo struct {
	Registers   int // per thread
	Local       int // bytes of local memory per thread: spills and arrays
	Shared      int // bytes of static shared memory per block
	Threads     int // maximum threads per block
	BinaryMajor int // compute capability of the machine code
	BinaryMinor int
}

// Streams orders work.
type Streams interface {
	NewStream() (Stream, error)
	CloseStream(s Stream) error
	// SyncStream waits until the stream is empty. The error may come from any earlier work.
	SyncStream(s Stream) error
	// Sync waits for all streams of the context.
	Sync() error
	// NewEvent creates an event, with or without timing.
	NewEvent(timed bool) (Event, error)
	CloseEvent(e Event) error
	// Record records the end of the work queued in the stream so far.
	Record(e Event, s Stream) error
	// Wait makes later work of the stream wait for the recorded work.
	Wait(s Stream, e Event) error
	// Done reports, without waiting, whether the recorded work has finished.
	Done(e Event) (bool, error)
	// SyncEvent waits until the recorded work has finished.
	SyncEvent(e Event) error
	// Elapsed returns the time in milliseconds between two timed events that have been
	// reached.
	Elapsed(from, to Event) (float64, error)
}

// Graphs records work once and launches it many times. A node runs after all nodes that it
// depends on; the after parameters list them.
type Graphs interface {
	// NewGraph creates an empty graph. A list of dependencies must not name a node twice.
	NewGraph() (Graph, error)
	// CloseGraph destroys a graph. Executables instantiated from it stay valid, but their
	// nodes can no longer be updated, because the node handles belong to the graph.
	CloseGraph(g Graph) error
	AddKernel(g Graph, after []Node, l Launch) (Node, error)
	AddCopy(g Graph, after []Node, dst, src Pointer, bytes int) (Node, error)
	// AddCopyToDevice adds a copy from host memory of AllocHost, read at every launch.
	AddCopyToDevice(g Graph, after []Node, dst Pointer, src []byte) (Node, error)
	// AddCopyToHost adds a copy to host memory of AllocHost, written at every launch.
	AddCopyToHost(g Graph, after []Node, dst []byte, src Pointer) (Node, error)
	AddFill(g Graph, after []Node, dst Pointer, value uint32, width, count int) (Node, error)
	// AddEvent adds a node that records an event at every launch.
	AddEvent(g Graph, after []Node, e Event) (Node, error)
	// Capture returns a graph of the calls that work makes on a stream, such as those of
	// libraries, and runs none of them. The context is current in the thread that calls
	// work, which must not wait for the device. Capture also returns the error of work.
	Capture(work func(s Stream) error) (Graph, error)
	// AddGraph adds a copy of another graph as one child node.
	AddGraph(g Graph, after []Node, part Graph, label string) (Node, error)
	// UpdateGraph changes the parameters of an AddGraph node, in an instantiated graph, to
	// those of another graph with the same nodes. It fails with UpdateFailure if the nodes
	// differ; the instantiated graph can then no longer be used.
	UpdateGraph(x Executable, n Node, part Graph, label string) error
	Instantiate(g Graph) (Executable, error)
	CloseExecutable(x Executable) error
	// UpdateKernel changes the launch parameters of a kernel node in an instantiated graph;
	// the function stays the same. Launches in flight keep their parameters.
	UpdateKernel(x Executable, n Node, l Launch) error
	// LaunchGraph runs the graph after the work queued in the stream so far.
	LaunchGraph(x Executable, s Stream) error
}

// Context is everything that can be done with one device.
type Context interface {
	Info() Info
	Memory
	Kernels
	Streams
	Graphs
	// Counts returns the number of calls so far.
	Counts() Counts
	// Raw returns the CUcontext for libraries such as cuBLAS, which require it to be
	// current in the calling thread (see Current); 0 for a fake.
	Raw() uintptr
	// Current makes the context current in the calling thread. Lock the goroutine to its
	// thread first.
	Current() error
	// Close waits for all work and releases the context and everything that it owns.
	Close() error
}

// Counts are the numbers of calls since the context was created.
type Counts struct {
	Launches      int // kernels, outside of graphs
	GraphLaunches int
	GraphNodes    int // nodes of those graphs, including event nodes
	Copies        int // outside of graphs
	Fills         int // outside of graphs
	BytesToDevice int // outside of graphs
	BytesToHost   int // outside of graphs
	Syncs         int // times the host waited: SyncStream, Sync, SyncEvent, and copies of pageable memory
	Allocs        int
	Frees         int
	Instantiates  int
	Early         int // nodes with [Launch.Early] that were added to graphs
	Updates       int
}

// TensorMap describes a tiled tensor for cp.async.bulk.tensor; the innermost
// dimension comes first.
type TensorMap struct {
	Type    TensorType
	Address Pointer  // multiple of 16
	Shape   []uint64 // elements, 1 to 5 dimensions
	Strides []uint64 // bytes, for all dimensions except the innermost; multiples of 16
	Box     []uint32 // elements of one copy, at most 256 per dimension
	Steps   []uint32 // distance between copied elements; nil for 1
	Swizzle Swizzle
	NaNFill bool // elements out of bounds are NaN instead of zero
}

// TensorType is a CUtensorMapDataType.
type TensorType uint32

const (
	TensorUint8    TensorType = 0
	TensorUint16   TensorType = 1
	TensorUint32   TensorType = 2
	TensorInt32    TensorType = 3
	TensorUint64   TensorType = 4
	TensorInt64    TensorType = 5
	TensorFloat16  TensorType = 6
	TensorFloat32  TensorType = 7
	TensorFloat64  TensorType = 8
	TensorBFloat16 TensorType = 9
)

// Swizzle is a CUtensorMapSwizzle: the arrangement of a tile in shared memory.
type Swizzle uint32

const (
	SwizzleNone Swizzle = 0
	Swizzle32   Swizzle = 1
	Swizzle64   Swizzle = 2
	Swizzle128  Swizzle = 3
)
