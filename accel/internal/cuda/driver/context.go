//go:build linux && cgo

package driver

// #include <stdlib.h>
// #include "shim.h"
import "C"

import (
	"fmt"
	"runtime"
	"sync"
	"unsafe"
)

// context is a retained primary context.
type context struct {
	library *opened
	table   *C.cuda_driver
	info    Info
	device  C.int
	handle  C.handle
	base    C.handle // default stream of the context

	mutex  sync.Mutex // guards all fields below
	counts Counts
	hosts  map[*byte]int   // sizes of pinned memory
	nodes  map[uintptr]int // number of nodes of each graph and executable
	closed bool
}

var _ Context = (*context)(nil)

func (c *context) Info() Info { return c.info }

// stream returns CUDA's handle.
func (c *context) stream(s Stream) C.handle {
	if s == 0 {
		return c.base
	}
	return C.handle(s)
}

// count updates the counts.
func (c *context) count(change func(n *Counts)) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	change(&c.counts)
}

func (c *context) Counts() Counts {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.counts
}

func (c *context) Raw() uintptr { return uintptr(c.handle) }

func (c *context) Current() error {
	return failure(C.quern_current(c.table, c.handle), "cuCtxSetCurrent", "")
}

// Close waits for all work and returns the error that the work met.
func (c *context) Close() error {
	c.mutex.Lock()
	closed := c.closed
	c.closed = true
	c.mutex.Unlock()
	if closed {
		return &Error{Code: InvalidContext, Call: "cuDevicePrimaryCtxRelease"}
	}
	err := failure(C.quern_sync(c.table, c.handle), "cuCtxSynchronize", "close "+c.info.Name)
	C.quern_stream_destroy(c.table, c.handle, c.base)
	if released := failure(C.quern_release(c.table, c.device), "cuDevicePrimaryCtxRelease", "close "+c.info.Name); err == nil {
		err = released
	}
	return err
}

func (c *context) Alloc(bytes int, s Stream) (Pointer, error) {
	op := fmt.Sprintf("%d bytes", bytes)
	if bytes <= 0 {
		return 0, &Error{Code: InvalidValue, Call: "cuMemAllocAsync", Op: op}
	}
	var p C.address
	if err := failure(C.quern_alloc(c.table, c.handle, &p, C.size_t(bytes), c.stream(s), c.pools()), "cuMemAllocAsync", op); err != nil {
		return 0, err
	}
	c.count(func(n *Counts) { n.Allocs++ })
	return Pointer(p), nil
}

func (c *context) pools() C.int {
	if c.info.MemoryPools {
		return 1
	}
	return 0
}

func (c *context) Free(p Pointer, s Stream) error {
	c.count(func(n *Counts) { n.Frees++ })
	return failure(C.quern_free(c.table, c.handle, C.address(p), c.stream(s), c.pools()), "cuMemFreeAsync", "")
}

func (c *context) Trim() error {
	if !c.info.MemoryPools {
		return nil // Free returned it to the system
	}
	return failure(C.quern_trim_pool(c.table, c.device), "cuMemPoolTrimTo", "")
}

func (c *context) MemoryInfo() (free, total int, err error) {
	var f, t C.size_t
	err = failure(C.quern_memory_info(c.table, c.handle, &f, &t), "cuMemGetInfo", "")
	return int(f), int(t), err
}

func (c *context) AllocHost(bytes int) ([]byte, error) {
	op := fmt.Sprintf("%d bytes of host memory", bytes)
	if bytes <= 0 {
		return nil, &Error{Code: InvalidValue, Call: "cuMemHostAlloc", Op: op}
	}
	var p unsafe.Pointer
	if err := failure(C.quern_alloc_host(c.table, c.handle, &p, C.size_t(bytes)), "cuMemHostAlloc", op); err != nil {
		return nil, err
	}
	b := unsafe.Slice((*byte)(p), bytes)
	clear(b)
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.hosts[&b[0]] = bytes
	return b, nil
}

func (c *context) FreeHost(b []byte) error {
	if len(b) == 0 {
		return &Error{Code: InvalidValue, Call: "cuMemFreeHost"}
	}
	c.mutex.Lock()
	_, known := c.hosts[&b[0]]
	delete(c.hosts, &b[0])
	c.mutex.Unlock()
	if !known {
		return &Error{Code: InvalidValue, Call: "cuMemFreeHost", Op: "memory that does not come from AllocHost, or was already freed"}
	}
	return failure(C.quern_free_host(c.table, c.handle, unsafe.Pointer(&b[0])), "cuMemFreeHost", "")
}

// pinned reports whether memory comes from AllocHost. The mutex must be held.
func (c *context) pinned(b []byte) bool {
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	for start, size := range c.hosts {
		if from := uintptr(unsafe.Pointer(start)); at >= from && at+uintptr(len(b)) <= from+uintptr(size) {
			return true
		}
	}
	return false
}

// counted counts a copy, and a synchronization if the memory is not pinned.
func (c *context) counted(host []byte, bytes func(n *Counts) *int) (pinned bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.counts.Copies++
	*bytes(&c.counts) += len(host)
	if pinned = c.pinned(host); !pinned {
		c.counts.Syncs++
	}
	return pinned
}

// copied completes a copy. CUDA may return before pageable memory is copied, on systems
// where the device reads the host's pages directly, but our caller may reuse it when the
// call returns.
func (c *context) copied(code C.int, pinned bool, s Stream, call, op string) error {
	if code == 0 && !pinned {
		code = C.quern_stream_sync(c.table, c.handle, c.stream(s))
	}
	return failure(code, call, op)
}

func (c *context) CopyToDevice(dst Pointer, src []byte, s Stream) error {
	if len(src) == 0 {
		return nil
	}
	pinned := c.counted(src, func(n *Counts) *int { return &n.BytesToDevice })
	code := C.quern_to_device(c.table, c.handle, C.address(dst), unsafe.Pointer(&src[0]), C.size_t(len(src)), c.stream(s))
	return c.copied(code, pinned, s, "cuMemcpyHtoDAsync", fmt.Sprintf("copy of %d bytes to the device", len(src)))
}

func (c *context) CopyToHost(dst []byte, src Pointer, s Stream) error {
	if len(dst) == 0 {
		return nil
	}
	pinned := c.counted(dst, func(n *Counts) *int { return &n.BytesToHost })
	code := C.quern_to_host(c.table, c.handle, unsafe.Pointer(&dst[0]), C.address(src), C.size_t(len(dst)), c.stream(s))
	return c.copied(code, pinned, s, "cuMemcpyDtoHAsync", fmt.Sprintf("copy of %d bytes to the host", len(dst)))
}

func (c *context) Copy(dst, src Pointer, bytes int, s Stream) error {
	if bytes == 0 {
		return nil
	}
	op := fmt.Sprintf("copy of %d bytes on the device", bytes)
	if bytes < 0 || dst < src+Pointer(bytes) && src < dst+Pointer(bytes) {
		return &Error{Code: InvalidValue, Call: "cuMemcpyDtoDAsync", Op: op, Log: "the ranges overlap"}
	}
	c.count(func(n *Counts) { n.Copies++ })
	return failure(C.quern_copy(c.table, c.handle, C.address(dst), C.address(src), C.size_t(bytes), c.stream(s)), "cuMemcpyDtoDAsync", op)
}

func (c *context) Fill(dst Pointer, value uint32, width, count int, s Stream) error {
	if count == 0 {
		return nil
	}
	op := fmt.Sprintf("fill of %d × %d bytes", count, width)
	if width != 1 && width != 2 && width != 4 || count < 0 {
		return &Error{Code: InvalidValue, Call: "cuMemsetAsync", Op: op}
	}
	c.count(func(n *Counts) { n.Fills++ })
	return failure(C.quern_fill(c.table, c.handle, C.address(dst), C.uint(value), C.int(width), C.size_t(count), c.stream(s)), "cuMemsetAsync", op)
}

// logBytes is the size of the buffer for the PTX compiler's log.
const logBytes = 16 << 10

func (c *context) Load(code string) (Module, error) {
	source := C.CString(code) // all bytes of a cubin, and a zero after them
	defer C.free(unsafe.Pointer(source))
	log := make([]byte, logBytes)
	var m C.handle
	result := C.quern_load(c.table, c.handle, &m, source, (*C.char)(unsafe.Pointer(&log[0])), logBytes)
	if result != 0 {
		return 0, &Error{Code: Code(result), Call: "cuModuleLoadDataEx", Log: text(log)}
	}
	return Module(m), nil
}

func (c *context) Unload(m Module) error {
	return failure(C.quern_unload(c.table, c.handle, C.handle(m)), "cuModuleUnload", "")
}

func (c *context) Function(m Module, name string) (Function, error) {
	s := C.CString(name)
	defer C.free(unsafe.Pointer(s))
	var f C.handle
	err := failure(C.quern_function(c.table, c.handle, &f, C.handle(m), s), "cuModuleGetFunction", name)
	return Function(f), err
}

func (c *context) Global(m Module, name string) (p Pointer, bytes int, err error) {
	s := C.CString(name)
	defer C.free(unsafe.Pointer(s))
	var a C.address
	var n C.size_t
	err = failure(C.quern_global(c.table, c.handle, &a, &n, C.handle(m), s), "cuModuleGetGlobal", name)
	return Pointer(a), int(n), err
}

// CUfunction_attribute values.
const (
	functionThreads   = 0
	functionShared    = 1
	functionLocal     = 3
	functionRegisters = 4
	functionBinary    = 6
	functionMaxShared = 8
)

func (c *context) FunctionInfo(f Function) (FunctionInfo, error) {
	var info FunctionInfo
	var binary int
	for attribute, into := range map[C.int]*int{
		functionThreads: &info.Threads, functionShared: &info.Shared, functionLocal: &info.Local, functionRegisters: &info.Registers, functionBinary: &binary,
	} {
		var v C.int
		if err := failure(C.quern_function_attribute(c.table, c.handle, &v, attribute, C.handle(f)), "cuFuncGetAttribute", ""); err != nil {
			return FunctionInfo{}, err
		}
		*into = int(v)
	}
	info.BinaryMajor, info.BinaryMinor = binary/10, binary%10
	return info, nil
}

func (c *context) SetMaxShared(f Function, bytes int) error {
	return failure(C.quern_set_function_attribute(c.table, c.handle, C.handle(f), functionMaxShared, C.int(bytes)), "cuFuncSetAttribute", fmt.Sprintf("%d bytes of shared memory", bytes))
}

func (c *context) Occupancy(f Function, threads, shared int) (int, error) {
	var blocks C.int
	err := failure(C.quern_occupancy(c.table, c.handle, &blocks, C.handle(f), C.int(threads), C.size_t(shared)),
		"cuOccupancyMaxActiveBlocksPerMultiprocessor", fmt.Sprintf("%d threads, %d bytes of shared memory", threads, shared))
	return int(blocks), err
}

// shim converts a launch for the C shim; params is nil if there are none.
func (l *Launch) shim() (s C.launch, params unsafe.Pointer, bytes C.size_t) {
	triple := func(d Dim) [3]C.uint { return [3]C.uint{C.uint(max(d.X, 1)), C.uint(max(d.Y, 1)), C.uint(max(d.Z, 1))} }
	s = C.launch{function: C.handle(l.Function), grid: triple(l.Grid), block: triple(l.Block), cluster: triple(l.Cluster), shared: C.uint(l.Shared)}
	if l.Early {
		s.early = 1
	}
	if len(l.Params) > 0 {
		params = unsafe.Pointer(&l.Params[0])
	}
	return s, params, C.size_t(len(l.Params))
}

func (c *context) Launch(l Launch, s Stream) error {
	c.count(func(n *Counts) { n.Launches++ })
	shim, params, bytes := l.shim()
	return failure(C.quern_launch(c.table, c.handle, shim, params, bytes, c.stream(s)), "cuLaunchKernel", l.Label)
}

func (c *context) TensorMap(t TensorMap) (m [128]byte, err error) {
	rank := len(t.Shape)
	steps := t.Steps
	if steps == nil {
		steps = []uint32{1, 1, 1, 1, 1}
	}
	if rank < 1 || rank > 5 || len(t.Box) != rank || len(t.Strides) != rank-1 || len(steps) < rank {
		return m, &Error{Code: InvalidValue, Call: "cuTensorMapEncodeTiled", Op: fmt.Sprintf("shape %v, strides %v, box %v, steps %v", t.Shape, t.Strides, t.Box, t.Steps)}
	}
	// CUDA requires the map to be aligned to 64 bytes.
	buffer := make([]byte, len(m)+64)
	shift := -uintptr(unsafe.Pointer(&buffer[0])) % 64
	at := buffer[shift : shift+128]
	var strides *C.uint64_t
	if rank > 1 {
		strides = (*C.uint64_t)(&t.Strides[0])
	}
	fill := 0
	if t.NaNFill {
		fill = 1
	}
	code := C.quern_tensor_map(c.table, c.handle, unsafe.Pointer(&at[0]), C.int(t.Type), C.uint(rank), C.address(t.Address), (*C.uint64_t)(&t.Shape[0]), strides,
		(*C.uint)(&t.Box[0]), (*C.uint)(&steps[0]), C.int(t.Swizzle), C.int(fill))
	copy(m[:], at)
	runtime.KeepAlive(buffer)
	return m, failure(code, "cuTensorMapEncodeTiled", fmt.Sprintf("shape %v, strides %v, box %v", t.Shape, t.Strides, t.Box))
}
