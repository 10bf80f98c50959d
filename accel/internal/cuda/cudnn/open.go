//go:build linux && cgo

package cudnn

// #include <stdlib.h>
// #include "shim.h"
import "C"

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/library"
	"github.com/quernlab/quern/accel/internal/tensor"
)

// dataTypes are the types as cudnnDataType_t numbers them.
var dataTypes = map[tensor.DType]C.int{tensor.Float32: 0, tensor.Float16: 2, tensor.BFloat16: 9}

// Open makes a library of a file that package library has found. The device's
// context must be current.
func Open(found *library.Handle) (Library, error) {
	l, err := bind(found)
	if err != nil {
		return nil, err
	}
	if status := C.quern_dnn_create(l.table, &l.handle); status != 0 {
		err := l.failed(status, "cudnnCreate")
		C.free(unsafe.Pointer(l.table))
		return nil, err
	}
	return l, nil
}

// Symbols are the functions of cuDNN that the package calls.
func Symbols() []string {
	return library.Names(func(i int) string { return C.GoString(C.quern_dnn_symbol(C.int(i))) })
}

// opened is the real library.
type opened struct {
	table   *C.table
	handle  C.handle // 0 where a device is described by JSON
	json    string   // of the device; empty for the one of the context
	version library.Version
}

// bind finds the functions.
func bind(found *library.Handle) (*opened, error) {
	l := &opened{table: (*C.table)(C.calloc(1, C.size_t(unsafe.Sizeof(C.table{})))), version: found.Version}
	set := func(i int, at uintptr) { C.quern_dnn_set(l.table, C.int(i), C.uintptr_t(at)) }
	if err := found.Bind(Symbols(), set); err != nil {
		C.free(unsafe.Pointer(l.table))
		return nil, err
	}
	return l, nil
}

// Version is that of the library.
func (l *opened) Version() string { return l.version.String() }

// Close gives the library's handle back.
func (l *opened) Close() error {
	var err error
	if l.handle != 0 {
		if status := C.quern_dnn_destroy(l.table, l.handle); status != 0 {
			err = l.failed(status, "cudnnDestroy")
		}
	}
	C.free(unsafe.Pointer(l.table))
	l.table = nil
	return err
}

// failed is the error of a call.
func (l *opened) failed(status C.int, call string) error {
	var words [1024]C.char
	C.quern_dnn_words(l.table, &words[0], C.size_t(len(words)))
	return &library.CallError{Library: library.CuDNN, Call: call, Code: int(status),
		Status: C.GoString(C.quern_dnn_status(l.table, status)), Words: strings.TrimSpace(C.GoString(&words[0]))}
}

// statusNoPart is CUDNN_STATUS_NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE: a file of cuDNN is
// not there that would know.
const statusNoPart = 3009

// refused tells whether an error says that cuDNN does not do what it is asked, which
// its numbers from 3000 up to 3999 do.
func refused(err error) bool {
	var e *library.CallError
	return errors.As(err, &e) && e.Code/1000 == 3 && e.Code != statusNoPart
}

// The heuristics, as cudnnBackendHeurMode_t numbers them, in the order in which they
// are asked: the second knows engines that compute nearly everything.
var modes = []C.int{3, 2}

// mostOfEngine is how many plans there are of one engine, whose knobs differ.
const mostOfEngine = 2

// Plans asks the heuristics.
func (l *opened) Plans(c Convolution, n int) ([]Plan, error) {
	shared, err := l.describe(c)
	if refused(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer shared.release()
	var plans []Plan
	ofEngine := map[C.int64_t]int{}
	ways := (*[C.most_ways]C.way)(C.calloc(C.most_ways, C.size_t(unsafe.Sizeof(C.way{}))))
	defer C.free(unsafe.Pointer(ways))
	for _, mode := range modes {
		var count C.int
		var call *C.char
		if status := C.quern_dnn_ways(l.table, shared.descriptors, mode, &ways[0], &count, &call); status != 0 {
			err := l.failed(status, C.GoString(call))
			l.drop(ways[:count])
			if refused(err) {
				continue
			}
			closeAll(plans)
			return nil, err
		}
		for i := range ways[:count] {
			if len(plans) == n || ofEngine[ways[i].number] == mostOfEngine || !c.takes(uint32(ways[i].notes), uint32(ways[i].behaviour)) {
				continue
			}
			if p, ok := l.plan(shared, &ways[i], c.Workspace); ok {
				plans = append(plans, p)
				ofEngine[p.way.number]++
			}
		}
		l.drop(ways[:count])
	}
	return plans, nil
}

// drop gives ways back; those that a plan has taken are empty.
func (l *opened) drop(ways []C.way) {
	for i := range ways {
		C.quern_dnn_drop(l.table, &ways[i])
	}
}

func closeAll(plans []Plan) {
	for _, p := range plans {
		p.Close()
	}
}

// plan makes a way ready; ok is false for one that does not work after all, as
// heuristics may give.
func (l *opened) plan(shared *shared, w *C.way, room int) (p *plan, ok bool) {
	var call *C.char
	if status := C.quern_dnn_plan(l.table, l.handle, shared.descriptors, w, &call); status != 0 || int(w.workspace) > room {
		return nil, false
	}
	own := (*C.way)(C.malloc(C.size_t(unsafe.Sizeof(C.way{}))))
	*own, *w = *w, C.way{}
	shared.users++
	return &plan{library: l, shared: shared, way: own}, true
}

// shared are the descriptors that plans of one convolution refer to.
type shared struct {
	library     *opened
	descriptors *C.descriptors
	users       int
}

func (s *shared) release() {
	if s.users--; s.users == 0 {
		C.quern_dnn_forget(s.library.table, s.descriptors)
		C.free(unsafe.Pointer(s.descriptors))
	}
}

func four(a, b, c, d int) [4]C.int64_t {
	return [4]C.int64_t{C.int64_t(a), C.int64_t(b), C.int64_t(c), C.int64_t(d)}
}

func two(v [2]int) [2]C.int64_t { return [2]C.int64_t{C.int64_t(v[0]), C.int64_t(v[1])} }

// describe makes the descriptors of a convolution, which have one user.
func (l *opened) describe(c Convolution) (*shared, error) {
	shim := C.convolution{
		kind: C.int(c.Kind), _type: dataTypes[c.Type],
		x: four(c.N, c.C, c.H, c.W), w: four(c.O, c.C/c.Groups, c.KH, c.KW), y: four(c.N, c.O, c.OH, c.OW),
		align_x: C.int64_t(c.AlignX), align_w: C.int64_t(c.AlignW), align_y: C.int64_t(c.AlignY),
		stride: two(c.Stride), padding: two(c.Padding), dilation: two(c.Dilation),
	}
	s := &shared{library: l, descriptors: (*C.descriptors)(C.calloc(1, C.size_t(unsafe.Sizeof(C.descriptors{})))), users: 1}
	var call *C.char
	var status C.int
	if l.json != "" {
		json := C.CString(l.json)
		defer C.free(unsafe.Pointer(json))
		status = C.quern_dnn_device(l.table, json, &s.descriptors.device, &call)
	}
	if status == 0 {
		status = C.quern_dnn_describe(l.table, l.handle, &shim, s.descriptors, &call)
	}
	if status != 0 {
		err := l.failed(status, C.GoString(call))
		s.release()
		return nil, err
	}
	return s, nil
}

// plan is an engine with its choices.
type plan struct {
	library *opened
	shared  *shared
	way     *C.way // nil when it is closed
}

func (p *plan) Name() string { return fmt.Sprintf("cuDNN engine %d", int(p.way.number)) }

func (p *plan) Workspace() int { return int(p.way.workspace) }

func (p *plan) Close() {
	if p.way != nil {
		C.quern_dnn_drop(p.library.table, p.way)
		C.free(unsafe.Pointer(p.way))
		p.way = nil
		p.shared.release()
	}
}

func (p *plan) Run(s driver.Stream, x, w, y, work driver.Pointer) error {
	var call *C.char
	status := C.quern_dnn_run(p.library.table, p.library.handle, p.way, C.address(x), C.address(w), C.address(y), C.address(work), C.handle(s), &call)
	if status != 0 {
		return p.library.failed(status, C.GoString(call))
	}
	return nil
}
