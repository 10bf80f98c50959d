//go:build linux && cgo

package driver

// #include <stdlib.h>
// #include "shim.h"
import "C"

import (
	"bytes"
	"fmt"
	"unsafe"

	"github.com/quernlab/quern/accel/internal/cuda/library"
	"github.com/quernlab/quern/internal/loader"
)

// libraryName is the library of the NVIDIA driver for CUDA.
const libraryName = "libcuda.so.1"

// Open loads and initializes the CUDA driver. Its errors wrap [ErrNoGPU] and explain in one
// line why there is no GPU to use.
func Open() (Driver, error) {
	m := thisMachine()
	path, err := loader.Find(libraryName, loader.Path())
	if err != nil {
		return nil, m.withoutLibrary(err)
	}
	return openLibrary(path, m)
}

// symbols returns the names of the functions that the package calls, and of those that only later drivers have.
func symbols() (required, optional []string) {
	return library.Names(unsafe.Pointer(&C.quern_symbols)), library.Names(unsafe.Pointer(&C.quern_optional_symbols))
}

// opened is the real driver. It stays loaded until the process ends, because CUDA has
// threads of its own by then.
type opened struct {
	loaded  *library.Handle
	table   *C.cuda_driver
	version int
	devices []Info
	ordinal []C.int // CUdevice of each device
}

func openLibrary(path string, m machine) (*opened, error) {
	l, err := loadLibrary(path, m)
	if err != nil {
		return nil, err
	}
	var version, count C.int
	code := Code(C.quern_init(l.table, &version, &count))
	l.version = int(version)
	if code != 0 && l.version > 0 && l.version < oldestVersion {
		code = 0 // report the old version instead
	}
	if code != 0 {
		l.close()
		return nil, m.withoutInit(code)
	}
	for i := range int(count) {
		if err := l.describe(i); err != nil {
			l.close()
			return nil, fmt.Errorf("%w: device %d: %w", ErrNoGPU, i, err)
		}
	}
	if err := Usable(l.version, l.devices); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// loadLibrary looks up the library's functions and calls none.
func loadLibrary(path string, m machine) (*opened, error) {
	loaded, err := library.Load(path)
	if err != nil {
		return nil, m.withoutLibrary(err)
	}
	table, err := loaded.Table(symbols())
	if err != nil {
		loaded.Close()
		return nil, fmt.Errorf("%w: %w: the NVIDIA driver is too old, it must support CUDA %s", ErrNoGPU, err, versionText(oldestVersion))
	}
	return &opened{loaded: loaded, table: (*C.cuda_driver)(table)}, nil
}

func (l *opened) close() {
	l.loaded.Close()
	C.free(unsafe.Pointer(l.table))
	l.table = nil
}

// CUdevice_attribute values.
const (
	attributeThreadsPerBlock = 1
	attributeClock           = 13
	attributeSMs             = 16
	attributeIntegrated      = 18
	attributeComputeMode     = 20
	attributeMemoryClock     = 36
	attributeBusWidth        = 37
	attributeL2              = 38
	attributeThreadsPerSM    = 39
	attributeMajor           = 75
	attributeMinor           = 76
	attributeSharedPerSM     = 81
	attributeRegistersPerSM  = 82
	attributeSharedPerBlock  = 97
	attributeMemoryPools     = 115
)

// describe queries a device for the fields of Info.
func (l *opened) describe(i int) error {
	var device C.int
	var name [256]byte
	var pci [32]byte
	var uuid [16]byte
	var memory C.size_t
	code := C.quern_device(l.table, C.int(i), &device, (*C.char)(unsafe.Pointer(&name)), C.int(len(name)),
		(*C.char)(unsafe.Pointer(&pci)), C.int(len(pci)), unsafe.Pointer(&uuid), &memory)
	if code != 0 {
		return Code(code)
	}
	info := Info{Name: text(name[:]), PCI: text(pci[:]), Memory: int(memory), CUDA: l.version}
	info.UUID = fmt.Sprintf("GPU-%x-%x-%x-%x-%x", uuid[:4], uuid[4:6], uuid[6:8], uuid[8:10], uuid[10:])
	var mode, integrated, pools int
	for attribute, into := range map[C.int]*int{
		attributeThreadsPerBlock: &info.ThreadsPerBlock, attributeClock: &info.ClockKHz, attributeSMs: &info.SMs,
		attributeIntegrated: &integrated, attributeComputeMode: &mode, attributeMemoryClock: &info.MemoryClockKHz,
		attributeBusWidth: &info.MemoryBusBits, attributeL2: &info.L2, attributeThreadsPerSM: &info.ThreadsPerSM,
		attributeMajor: &info.Major, attributeMinor: &info.Minor, attributeSharedPerSM: &info.SharedPerSM,
		attributeRegistersPerSM: &info.RegistersPerSM, attributeSharedPerBlock: &info.SharedPerBlock, attributeMemoryPools: &pools,
	} {
		var value C.int
		if code := C.quern_attribute(l.table, attribute, device, &value); code != 0 {
			return fmt.Errorf("attribute %d: %w", attribute, Code(code))
		}
		*into = int(value)
	}
	const exclusiveProcess = 3
	info.EarlyLaunches = info.Capability() >= 90 && l.version >= 12030 && l.table.cuGraphAddDependencies_v2 != nil
	info.Integrated, info.MemoryPools, info.Exclusive = integrated != 0, pools != 0, mode == exclusiveProcess
	l.devices = append(l.devices, info)
	l.ordinal = append(l.ordinal, device)
	return nil
}

// text returns the bytes before the first zero byte.
func text(b []byte) string {
	before, _, _ := bytes.Cut(b, []byte{0})
	return string(before)
}

func (l *opened) Version() int { return l.version }

func (l *opened) Devices() []Info { return l.devices }

// Context retains the primary context, which is shared with other libraries in the process.
func (l *opened) Context(device int) (Context, error) {
	if device < 0 || device >= len(l.devices) {
		return nil, &Error{Code: InvalidDevice, Call: "cuDevicePrimaryCtxRetain", Op: fmt.Sprintf("device %d of %d", device, len(l.devices))}
	}
	c := &context{library: l, table: l.table, info: l.devices[device], device: l.ordinal[device], hosts: map[*byte]int{}, nodes: map[uintptr]int{}}
	op := "open " + c.info.Name
	if err := failure(C.quern_retain(c.table, c.device, &c.handle), "cuDevicePrimaryCtxRetain", op); err != nil {
		return nil, err
	}
	if c.info.MemoryPools {
		if err := failure(C.quern_keep_pool(c.table, c.device), "cuMemPoolSetAttribute", op); err != nil {
			C.quern_release(c.table, c.device)
			return nil, err
		}
	}
	if err := failure(C.quern_stream_create(c.table, c.handle, &c.base), "cuStreamCreate", op); err != nil {
		C.quern_release(c.table, c.device)
		return nil, err
	}
	return c, nil
}

// failure returns the error of a call, nil for success.
func failure(code C.int, call, op string) error {
	if code == 0 {
		return nil
	}
	return &Error{Code: Code(code), Call: call, Op: op}
}
