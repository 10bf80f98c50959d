//go:build linux && cgo

package cublaslt

// #include <stdlib.h>
// #include "shim.h"
import "C"

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/library"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

// statusNotSupported is CUBLAS_STATUS_NOT_SUPPORTED: there is no algorithm.
const statusNotSupported = 15

// dataTypes are the element types by their cudaDataType values.
var dataTypes = map[tensortype.DType]C.int{tensortype.Float32: 0, tensortype.Float64: 1, tensortype.Float16: 2, tensortype.BFloat16: 14, tensortype.Float8E4M3: 28, tensortype.Float8E5M2: 29}

// Open initializes a library that package library has loaded. The device's context must
// be current.
func Open(found *library.Handle) (Library, error) {
	l, err := bind(found)
	if err != nil {
		return nil, err
	}
	if status := C.quern_blas_create(l.table, &l.handle); status != 0 {
		err := l.failed(status, "cublasLtCreate")
		C.free(unsafe.Pointer(l.table))
		return nil, err
	}
	return l, nil
}

// symbols returns the functions of cuBLASLt that the package calls, in the order of the table.
func symbols() []string { return library.Names(unsafe.Pointer(&C.quern_blas_symbols)) }

// opened is the real library.
type opened struct {
	table   *C.table
	handle  C.handle
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
	status := C.quern_blas_destroy(l.table, l.handle)
	var err error
	if status != 0 {
		err = l.failed(status, "cublasLtDestroy")
	}
	C.free(unsafe.Pointer(l.table))
	l.table = nil
	return err
}

// failed returns the error of a call.
func (l *opened) failed(status C.int, call string) error {
	return &library.CallError{Library: library.CuBLASLt, Call: call, Code: int(status), Status: C.GoString(C.quern_blas_status(l.table, status))}
}

// Plans calls the heuristic.
func (l *opened) Plans(p Matmul, n int) ([]Plan, error) {
	if p.Unsupported() != "" {
		return nil, nil
	}
	d, err := l.describe(p)
	if err != nil {
		return nil, err
	}
	defer l.forget(d)
	found := make([]C.heuristic, n)
	var count C.int
	var call *C.char
	if status := C.quern_blas_plans(l.table, l.handle, d, C.int(n), &found[0], &count, &call); status != 0 {
		err := l.failed(status, C.GoString(call))
		if e := new(library.CallError); errors.As(err, &e) && e.Code == statusNotSupported {
			return nil, nil
		}
		return nil, err
	}
	var plans []Plan
	for i, h := range found[:count] {
		if h.state != 0 || int(h.workspace) > p.Workspace {
			continue
		}
		// Each plan has its own descriptors, since the address of the bias is part of them.
		own, err := l.describe(p)
		if err != nil {
			closeAll(plans)
			return nil, err
		}
		plans = append(plans, &plan{library: l, descriptors: own, how: h.algorithm, workspace: int(h.workspace),
			name: fmt.Sprintf("cuBLASLt %d", i)})
	}
	return plans, nil
}

func closeAll(plans []Plan) {
	for _, p := range plans {
		p.Close()
	}
}

func flag(b bool) C.int {
	if b {
		return 1
	}
	return 0
}

func (m Matrix) shim() C.matrix {
	return C.matrix{_type: dataTypes[m.Type], rows: C.uint64_t(m.Rows), cols: C.uint64_t(m.Cols), lead: C.int64_t(m.Lead), stride: C.int64_t(m.Stride), align: C.uint(m.Align)}
}

// describe creates the descriptors of a Matmul, in C memory.
func (l *opened) describe(p Matmul) (*C.descriptors, error) {
	shim := C.matmul{a: p.A.shim(), b: p.B.shim(), d: p.D.shim(), trans_a: flag(p.TransA), trans_b: flag(p.TransB), batch: C.int(p.Batch),
		tf32: flag(p.TF32), bias: flag(p.Bias), relu: flag(p.ReLU), gelu: C.int(p.GELU), summed: C.int(p.Summed), scales: flag(p.A.Type.IsFP8()), is_float64: flag(p.A.Type == tensortype.Float64), workspace: C.size_t(p.Workspace)}
	d := (*C.descriptors)(C.calloc(1, C.size_t(unsafe.Sizeof(C.descriptors{}))))
	var call *C.char
	if status := C.quern_blas_describe(l.table, &shim, d, &call); status != 0 {
		err := l.failed(status, C.GoString(call))
		l.forget(d)
		return nil, err
	}
	return d, nil
}

func (l *opened) forget(d *C.descriptors) {
	C.quern_blas_forget(l.table, d)
	C.free(unsafe.Pointer(d))
}

func (m *Matrix) read(c C.matrix) {
	for t, number := range dataTypes {
		if number == c._type {
			m.Type = t
		}
	}
	*m = Matrix{Type: m.Type, Rows: int(c.rows), Cols: int(c.cols), Lead: int(c.lead), Stride: int(c.stride), Align: int(c.align)}
}

// understood reads the descriptors back from the library.
func (l *opened) understood(d *C.descriptors) (p Matmul, err error) {
	var shim C.matmul
	var call *C.char
	if status := C.quern_blas_read(l.table, d, &shim, &call); status != 0 {
		return p, l.failed(status, C.GoString(call))
	}
	p = Matmul{TransA: shim.trans_a != 0, TransB: shim.trans_b != 0, Batch: int(shim.batch), TF32: shim.tf32 != 0, Bias: shim.bias != 0, ReLU: shim.relu != 0,
		GELU: GELU(shim.gelu), Summed: Factor(shim.summed), Workspace: int(shim.workspace)}
	p.A.read(shim.a)
	p.B.read(shim.b)
	p.D.read(shim.d)
	return p, nil
}

// plan is an algorithm with its descriptors.
type plan struct {
	library     *opened
	descriptors *C.descriptors
	how         C.algorithm
	workspace   int
	name        string
}

func (p *plan) Name() string { return p.name }

func (p *plan) Workspace() int { return p.workspace }

func (p *plan) Close() {
	if p.descriptors != nil {
		p.library.forget(p.descriptors)
		p.descriptors = nil
	}
}

func (p *plan) Run(s driver.Stream, at Addresses) error {
	addresses := C.addresses{d: C.address(at.D), a: C.address(at.A), b: C.address(at.B), bias: C.address(at.Bias), work: C.address(at.Work),
		scale_a: C.address(at.ScaleA), scale_b: C.address(at.ScaleB), argument: C.address(at.Argument), sums: C.address(at.Sums)}
	var call *C.char
	if status := C.quern_blas_run(p.library.table, p.library.handle, p.descriptors, &p.how, &addresses, C.size_t(p.workspace), C.handle(s), &call); status != 0 {
		return p.library.failed(status, C.GoString(call))
	}
	return nil
}
