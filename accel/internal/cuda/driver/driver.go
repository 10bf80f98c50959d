package driver

import "errors"

// ErrNoGPU is wrapped by errors that say why no GPU can be used.
var ErrNoGPU = errors.New("no CUDA GPU")

// Driver is an initialised CUDA driver.
type Driver interface {
	// Version is the newest CUDA version that the driver supports, as CUDA
	// writes it: 1000*major + 10*minor.
	Version() int
	// Devices describes the GPUs that the process may use, in CUDA's order.
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
	Memory          int    // bytes in all
	L2              int    // bytes of the level 2 cache
	SharedPerBlock  int    // bytes of shared memory that one block may have (after SetMaxShared)
	SharedPerSM     int    // bytes of shared memory of one multiprocessor
	RegistersPerSM  int    // 32-bit registers of one multiprocessor
	ThreadsPerBlock int    // most threads of one block
	ThreadsPerSM    int    // most threads resident on one multiprocessor
	ClockKHz        int    // highest clock of the multiprocessors
	MemoryClockKHz  int    // highest clock of the memory
	MemoryBusBits   int    // width of the memory bus
	MemoryPools     bool   // memory is allocated in stream order
	Integrated      bool   // memory is shared with the host
	Exclusive       bool   // only one process at a time may use the device
	CUDA            int    // newest version that the driver supports, as [Driver.Version]
}

// Capability is the compute capability as one number, 90 for 9.0.
func (i Info) Capability() int { return 10*i.Major + i.Minor }

// Handles. Zero is never a valid one, but for Stream, where it is the stream
// that the context was made with.
type (
	Pointer    uint64  // address in device memory
	Stream     uintptr // queue of work in order
	Event      uintptr // mark in a stream
	Module     uintptr // loaded PTX
	Function   uintptr // entry of a module
	Graph      uintptr // work and what depends on what, not yet runnable
	Node       uintptr // piece of work of a graph
	Executable uintptr // instantiated graph
)

// Dim is a number of blocks or threads along x, y, z; zero counts as one.
type Dim struct{ X, Y, Z uint32 }

// Count is the product.
func (d Dim) Count() int { return int(max(d.X, 1)) * int(max(d.Y, 1)) * int(max(d.Z, 1)) }

// Launch is one run of a kernel.
type Launch struct {
	Function Function
	Grid     Dim    // blocks
	Block    Dim    // threads of a block
	Cluster  Dim    // blocks of a cluster (compute capability 9.0); zero for none
	Shared   int    // bytes of dynamic shared memory
	Params   []byte // laid out as the .param space of the entry: each at a multiple of its own alignment
	Label    string // op and shapes, for errors
}

// Memory makes, frees, fills and copies memory. All but AllocHost, FreeHost, Trim and
// MemoryInfo are asynchronous in the order of a stream. Host memory that came
// from AllocHost is copied while the host goes on, and must stay untouched
// until then; any other is copied before the call returns.
type Memory interface {
	// Alloc gives device memory, aligned to 256 bytes at least, that work of
	// the stream may use from here on; other streams must wait for an event.
	// The error is OutOfMemory.
	Alloc(bytes int, s Stream) (Pointer, error)
	// Free takes memory of Alloc back when the stream gets there.
	Free(p Pointer, s Stream) error
	// Trim gives the memory that was freed back to the system; without it the
	// driver keeps it for the next Alloc, and other libraries and processes
	// cannot have it. What no stream has freed yet stays.
	Trim() error
	// MemoryInfo is the free and the whole memory of the device in bytes.
	MemoryInfo() (free, total int, err error)
	// AllocHost gives pinned host memory, zeroed.
	AllocHost(bytes int) ([]byte, error)
	// FreeHost takes back what AllocHost gave. No copy may be using it.
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
	// Load compiles PTX for the device. The compiler's words are the error's Log.
	Load(ptx string) (Module, error)
	Unload(m Module) error
	// Function finds a .visible .entry by name. The error is NotFound.
	Function(m Module, name string) (Function, error)
	// Global finds a .visible .global or .const variable of a module.
	Global(m Module, name string) (p Pointer, bytes int, err error)
	// FunctionInfo says what the compiler made of a function.
	FunctionInfo(f Function) (FunctionInfo, error)
	// SetMaxShared lets a function have more than 48 KiB of dynamic shared memory.
	SetMaxShared(f Function, bytes int) error
	// Occupancy is how many blocks of so many threads and bytes of dynamic
	// shared memory run on one multiprocessor at a time.
	Occupancy(f Function, threads, shared int) (int, error)
	Launch(l Launch, s Stream) error
	// TensorMap describes a tensor in device memory to cp.async.bulk.tensor
	// (compute capability 9.0). The result is a kernel parameter, aligned to 64.
	TensorMap(t TensorMap) ([128]byte, error)
}

// FunctionInfo is what the compiler made of a function.
type FunctionInfo struct {
	Registers   int // of a thread
	Local       int // bytes of local memory of a thread: spills and arrays
	Shared      int // bytes of static shared memory of a block
	Threads     int // most threads of a block
	BinaryMajor int // compute capability of the machine code
	BinaryMinor int
}

// Streams orders work.
type Streams interface {
	NewStream() (Stream, error)
	CloseStream(s Stream) error
	// SyncStream waits until the stream is empty; the error may be of any work
	// before.
	SyncStream(s Stream) error
	// Sync waits for all streams of the context.
	Sync() error
	// NewEvent makes an event, with or without a time.
	NewEvent(timed bool) (Event, error)
	CloseEvent(e Event) error
	// Record marks the end of the stream's present work.
	Record(e Event, s Stream) error
	// Wait makes later work of the stream wait for what was recorded.
	Wait(s Stream, e Event) error
	// Done says without waiting whether what was recorded has happened.
	Done(e Event) (bool, error)
	// SyncEvent waits until it has.
	SyncEvent(e Event) error
	// Elapsed is the time in milliseconds between two timed events that have
	// happened.
	Elapsed(from, to Event) (float64, error)
}

// Graphs records work once and launches it many times. A node runs when all
// that it comes after have run.
type Graphs interface {
	// No node may be named twice in the lists of what a node comes after.
	NewGraph() (Graph, error)
	// CloseGraph ends a graph. What was instantiated of it runs on, but its nodes can
	// no longer be updated: they are known by the graph.
	CloseGraph(g Graph) error
	AddKernel(g Graph, after []Node, l Launch) (Node, error)
	AddCopy(g Graph, after []Node, dst, src Pointer, bytes int) (Node, error)
	// AddCopyToDevice reads host memory of AllocHost at every launch.
	AddCopyToDevice(g Graph, after []Node, dst Pointer, src []byte) (Node, error)
	// AddCopyToHost writes host memory of AllocHost at every launch.
	AddCopyToHost(g Graph, after []Node, dst []byte, src Pointer) (Node, error)
	AddFill(g Graph, after []Node, dst Pointer, value uint32, width, count int) (Node, error)
	// AddEvent records an event at every launch.
	AddEvent(g Graph, after []Node, e Event) (Node, error)
	// Capture makes a graph of what work asks of a stream, that of libraries for
	// instance, and runs none of it. The context is current in the thread that
	// calls work, which must not wait for the device; the error may be work's.
	Capture(work func(s Stream) error) (Graph, error)
	// AddGraph puts a copy of another graph into a graph, as one node.
	AddGraph(g Graph, after []Node, part Graph, label string) (Node, error)
	// UpdateGraph gives a node of AddGraph in an instantiated graph the parameters
	// of another graph of the same nodes. The error is UpdateFailure where they
	// are not the same; the instantiated graph is then of no more use.
	UpdateGraph(x Executable, n Node, part Graph, label string) error
	Instantiate(g Graph) (Executable, error)
	CloseExecutable(x Executable) error
	// UpdateKernel gives a kernel node of an instantiated graph other launch
	// parameters; the function stays the same. Launches under way keep theirs.
	UpdateKernel(x Executable, n Node, l Launch) error
	// LaunchGraph runs the graph after the present work of the stream.
	LaunchGraph(x Executable, s Stream) error
}

// Context is all that is done with one device.
type Context interface {
	Info() Info
	Memory
	Kernels
	Streams
	Graphs
	// Counts is what was asked of the device so far.
	Counts() Counts
	// Raw is the CUcontext for libraries such as cuBLAS, which want it current
	// in the calling thread (Current); 0 for a fake.
	Raw() uintptr
	// Current makes the context the calling thread's. Lock the thread before.
	Current() error
	// Close waits for all work and releases the context with all it owns.
	Close() error
}

// Counts counts calls since the context was made.
type Counts struct {
	Launches      int // kernels, outside of graphs
	GraphLaunches int
	GraphNodes    int // nodes that those graphs had, events among them
	Copies        int // outside of graphs
	Fills         int // outside of graphs
	BytesToDevice int // outside of graphs
	BytesToHost   int // outside of graphs
	Syncs         int // waits of the host: SyncStream, Sync, SyncEvent, and copies of memory that is not pinned
	Allocs        int
	Frees         int
	Instantiates  int
	Updates       int
}

// TensorMap describes a tiled tensor for cp.async.bulk.tensor; the innermost
// dimension comes first.
type TensorMap struct {
	Type    TensorType
	Address Pointer  // multiple of 16
	Shape   []uint64 // elements, 1 to 5 dimensions
	Strides []uint64 // bytes, of all dimensions but the innermost; multiples of 16
	Box     []uint32 // elements that one copy takes, at most 256 each
	Steps   []uint32 // elements from one to the next; nil for ones
	Swizzle Swizzle
	NaNFill bool // elements out of bounds are NaN and not zero
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

// Swizzle is a CUtensorMapSwizzle: how a tile lies in shared memory.
type Swizzle uint32

const (
	SwizzleNone Swizzle = 0
	Swizzle32   Swizzle = 1
	Swizzle64   Swizzle = 2
	Swizzle128  Swizzle = 3
)
