package cpu

import (
	"runtime"
	"unsafe"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// Device runs programs on the CPU.
type Device struct {
	pool     *pool
	kernel   gemmKernel
	shift    shiftKernel
	winograd *winogradKernel
	channels channelKernel
	vectors  *vectors
	bytes    *byteKernel
	library  libraryProduct     // multiplies large matrices
	free     map[int][]*storage // freed memory, by size in bytes
	pooled   int                // total bytes in free

	// Memory that all programs share, because only one runs at a time. Compile makes it
	// large enough.
	workspace *storage
	panel     []float32   // packed right-hand side of a matmul
	scratch   [][]float32 // scratch memory of each worker
	widened   []float32   // int8 weights converted to floats
}

var (
	_ ir.Device       = (*Device)(nil)
	_ ir.KernelLister = (*Device)(nil)
)

// Implementations returns the names of the kernel sets that this CPU can run, the fastest
// first.
func Implementations() []string {
	var names []string
	for _, v := range append(nativeVectors(), genericVectors) {
		names = append(names, v.name)
	}
	return names
}

// NewWith is New with one of Implementations, for tests that compare them.
func NewWith(implementation string, threads int) *Device {
	d := newDevice(threads)
	for i, name := range Implementations() {
		if name == implementation {
			d.kernel = append(nativeTiles(), genericKernel)[i]
			d.shift = append(nativeShifts(), genericShift)[i]
			d.winograd = append(nativeWinograds(), genericWinograd)[i]
			d.channels = append(nativeChannels(), genericChannels)[i]
			d.vectors = append(nativeVectors(), genericVectors)[i]
		}
	}
	for _, k := range byteKernels() {
		if k.set == implementation {
			d.bytes = k
			break
		}
	}
	return d
}

// IntegerKernel returns the name of the instruction set used for int8 matmul.
func IntegerKernel() string { return byteKernels()[0].name }

// New returns a device with a number of threads, GOMAXPROCS for 0. The owner must call
// Close.
func New(threads int) *Device {
	d := newDevice(threads)
	d.library, _ = library()
	return d
}

// newDevice returns a device that uses no library.
func newDevice(threads int) *Device {
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	return &Device{
		pool:     newPool(threads),
		kernel:   append(nativeTiles(), genericKernel)[0],
		shift:    append(nativeShifts(), genericShift)[0],
		winograd: append(nativeWinograds(), genericWinograd)[0],
		channels: append(nativeChannels(), genericChannels)[0],
		vectors:  append(nativeVectors(), genericVectors)[0],
		bytes:    byteKernels()[0],
		free:     map[int][]*storage{}, workspace: newStorage(0), scratch: make([][]float32, threads),
	}
}

// reserve grows the shared memory to the needs of a step.
func (d *Device) reserve(panel, scratch int) {
	if len(d.panel) < panel {
		d.panel = shared(panel)
	}
	for i := range d.scratch {
		if len(d.scratch[i]) < scratch {
			d.scratch[i] = shared(scratch)
		}
	}
}

// shared allocates elements that steps share.
func shared(n int) []float32 {
	if n < hugePage/8 { // less than half a huge page
		return aligned(n)
	}
	return unsafe.Slice((*float32)(hugeStorage(n*4).base), n)
}

// Close stops the device's threads.
func (d *Device) Close() { d.pool.close() }

// Name returns "cpu".
func (d *Device) Name() string { return "cpu" }

// storage is memory aligned to a cache line.
type storage struct {
	base unsafe.Pointer
	size int
}

// Size returns the number of bytes.
func (s *storage) Size() int { return s.size }

func (s *storage) bytes() []byte { return unsafe.Slice((*byte)(s.base), s.size) }

const (
	cacheLine = 64
	hugePage  = 2 << 20
)

// newStorage allocates memory for a tensor.
func newStorage(bytes int) *storage {
	if bytes >= 8*hugePage { // for less memory, the alignment would waste too much
		return hugeStorage(bytes)
	}
	raw := make([]byte, bytes+cacheLine)
	if bytes >= hugePage { // also for parts of pages, since what else is in them is memory of this process
		from := uintptr(unsafe.Pointer(&raw[0]))
		hugePages(from/hugePage*hugePage, (from+uintptr(len(raw))+hugePage-1)/hugePage*hugePage)
	}
	return &storage{base: unsafe.Pointer(&raw[toBoundary(raw, cacheLine)]), size: bytes}
}

// hugeStorage allocates huge pages, if the system has them.
func hugeStorage(bytes int) *storage {
	whole := roundUp(bytes, hugePage)
	raw := make([]byte, whole+hugePage)
	from := toBoundary(raw, hugePage)
	s := &storage{base: unsafe.Pointer(&raw[from]), size: bytes}
	hugePages(uintptr(s.base), uintptr(s.base)+uintptr(whole))
	return s
}

// toBoundary returns the number of bytes up to the next multiple of size.
func toBoundary(raw []byte, size uintptr) int {
	return int(-uintptr(unsafe.Pointer(unsafe.SliceData(raw))) % size)
}

// Alloc returns memory, preferably freed memory of the same size. The garbage collector
// takes memory that is not freed.
func (d *Device) Alloc(bytes int) (ir.Storage, error) {
	size := (bytes + cacheLine - 1) / cacheLine * cacheLine
	if list := d.free[size]; len(list) > 0 {
		s := list[len(list)-1]
		list[len(list)-1] = nil
		d.free[size] = list[:len(list)-1]
		d.pooled -= size
		return s, nil
	}
	return newStorage(size), nil
}

// maxPooled limits the freed memory that is kept; the garbage collector takes the rest.
const maxPooled = 256 << 20

// Free keeps the memory for the next Alloc of the same size.
func (d *Device) Free(s ir.Storage) {
	st := s.(*storage)
	if d.pooled += st.size; d.pooled > maxPooled {
		d.pooled -= st.size
		return
	}
	d.free[st.size] = append(d.free[st.size], st)
}

// Write copies host bytes to dst.
func (d *Device) Write(dst ir.Storage, offset int, src []byte) error {
	copy(dst.(*storage).bytes()[offset:], src)
	return nil
}

// Read copies bytes of src to the host.
func (d *Device) Read(dst []byte, src ir.Storage, offset int) error {
	copy(dst, src.(*storage).bytes()[offset:])
	return nil
}

// Bytes returns the memory itself.
func (d *Device) Bytes(s ir.Storage) []byte { return s.(*storage).bytes() }
