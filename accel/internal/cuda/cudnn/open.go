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
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

// dataTypes are the element types by their cudnnDataType_t values.
var dataTypes = map[tensortype.DType]C.int{tensortype.Float32: 0, tensortype.Float16: 2, tensortype.BFloat16: 9}

// Open initializes a library that package library has loaded. The device's context must
// be current.
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

// symbols returns the functions of cuDNN that the package calls, in the order of the table.
func symbols() []string { return library.Names(unsafe.Pointer(&C.quern_dnn_symbols)) }

// opened is the real library.
type opened struct {
	table   *C.table
	handle  C.handle // 0 if JSON describes the device
	json    string   // of the device; empty for the one of the context
	version library.Version
}

// bind looks up the functions.
func bind(found *library.Handle) (*opened, error) {
	table, err := found.Table(symbols(), nil)
	return &opened{table: (*C.table)(table), version: found.Version}, err
}

// Version returns the version of the library.
func (l *opened) Version() string { return l.version.String() }

// Close releases the library's handle.
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

// failed returns the error of a call.
func (l *opened) failed(status C.int, call string) error {
	var words [1024]C.char
	C.quern_dnn_words(l.table, &words[0], C.size_t(len(words)))
	return &library.CallError{Library: library.CuDNN, Call: call, Code: int(status),
		Status: C.GoString(C.quern_dnn_status(l.table, status)), Words: strings.TrimSpace(C.GoString(&words[0]))}
}

// statusNoPart is CUDNN_STATUS_NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE: a part of
// cuDNN is not installed.
const statusNoPart = 3009

// refused reports whether an error means that cuDNN does not support an operation: its
// code is 3000 to 3999.
func refused(err error) bool {
	var e *library.CallError
	return errors.As(err, &e) && e.Code/1000 == 3 && e.Code != statusNoPart
}

// The heuristics, values of cudnnBackendHeurMode_t, in the order in which they are called:
// the second one returns engines that compute nearly everything, none of them fast.
var modes = []C.int{3, 2}

// Plans calls the heuristics until one has plans. Plans of one engine differ in its knobs.
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
	names := map[string]bool{}
	engines := (*[C.max_engines]C.engine)(C.calloc(C.max_engines, C.size_t(unsafe.Sizeof(C.engine{}))))
	defer C.free(unsafe.Pointer(engines))
	for i := 0; i < len(modes) && len(plans) == 0; i++ {
		var count C.int
		var call *C.char
		if status := C.quern_dnn_engines(l.table, shared.descriptors, modes[i], &engines[0], &count, &call); status != 0 {
			err := l.failed(status, C.GoString(call))
			l.drop(engines[:count])
			if refused(err) {
				continue
			}
			return nil, err
		}
		for i := range engines[:count] {
			name := nameOf(&engines[i])
			if len(plans) == n || names[name] || !c.accepts(uint32(engines[i].notes), uint32(engines[i].behavior)) {
				continue
			}
			if p, ok := l.plan(shared, &engines[i], c.Workspace); ok {
				plans, names[name] = append(plans, p), true
			}
		}
		l.drop(engines[:count])
	}
	return plans, nil
}

// nameOf returns the number of an engine and its knobs, by their cudnnBackendKnobType_t values.
func nameOf(w *C.engine) string {
	var b strings.Builder
	fmt.Fprintf(&b, "cuDNN engine %d", int(w.number))
	for i, k := range w.knobs[:w.known] {
		separator := ","
		if i == 0 {
			separator = " with knobs "
		}
		fmt.Fprintf(&b, "%s%d=%d", separator, int(k._type), int(k.value))
	}
	return b.String()
}

// drop releases engines; those that a plan owns are empty.
func (l *opened) drop(engines []C.engine) {
	for i := range engines {
		C.quern_dnn_drop(l.table, &engines[i])
	}
}

// plan finalizes an engine's configuration; ok is false for one that does not work:
// heuristics may return such.
func (l *opened) plan(shared *shared, w *C.engine, workspace int) (p *plan, ok bool) {
	var call *C.char
	if status := C.quern_dnn_plan(l.table, l.handle, shared.descriptors, w, &call); status != 0 || int(w.workspace) > workspace {
		return nil, false
	}
	own := (*C.engine)(C.malloc(C.size_t(unsafe.Sizeof(C.engine{}))))
	*own, *w = *w, C.engine{}
	shared.users++
	return &plan{library: l, shared: shared, engine: own}, true
}

// shared is the descriptors of a convolution, to which its plans refer.
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

func flag(b bool) C.int {
	if b {
		return 1
	}
	return 0
}

func two(v [2]int) [2]C.int64_t { return [2]C.int64_t{C.int64_t(v[0]), C.int64_t(v[1])} }

// describe creates the descriptors of a convolution, with one user.
func (l *opened) describe(c Convolution) (*shared, error) {
	shim := C.convolution{
		kind: C.int(c.Kind), _type: dataTypes[c.Type], channels_last: flag(c.ChannelsLast),
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

// plan is an engine with its knobs set.
type plan struct {
	library *opened
	shared  *shared
	engine  *C.engine // nil after Close
}

func (p *plan) Name() string { return nameOf(p.engine) }

func (p *plan) Workspace() int { return int(p.engine.workspace) }

func (p *plan) Close() {
	if p.engine != nil {
		C.quern_dnn_drop(p.library.table, p.engine)
		C.free(unsafe.Pointer(p.engine))
		p.engine = nil
		p.shared.release()
	}
}

func (p *plan) Run(s driver.Stream, x, w, y, work driver.Pointer) error {
	var call *C.char
	status := C.quern_dnn_run(p.library.table, p.library.handle, p.engine, C.address(x), C.address(w), C.address(y), C.address(work), C.handle(s), &call)
	if status != 0 {
		return p.library.failed(status, C.GoString(call))
	}
	return nil
}
