//go:build linux && cgo

package mpi

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/quernlab/quern/internal/loader"
)

// file is libmpi of Open MPI 3 to 5, which have one binary interface.
const file = "libmpi.so.40"

// threadSerialized is MPI_THREAD_SERIALIZED: several threads call MPI, one at a time.
const threadSerialized = 2

// World are the processes of this run of mpirun.
type World struct {
	Rank, Size int
	Version    string // such as "Open MPI v4.1.4"

	allReduce              func(send, receive uintptr, count int32, kind, op, comm uintptr) int32
	finalize               func() int32
	inPlace                uintptr
	world, f32s, f64s, sum uintptr
}

// Find returns the path of libmpi, or why it cannot be used.
func Find() (path string, err error) {
	if os.Getenv(Variable) == "" {
		return "", errors.New("mpirun of Open MPI has not started this process")
	}
	if begun.Load() {
		return "", errUsed
	}
	return loader.Find(file, loader.Path())
}

var (
	begun   atomic.Bool // MPI can be initialized once in a process
	errUsed = errors.New("this process has already used MPI once")
)

// Init opens the library that [Find] has found, and initializes MPI. It returns when all processes have called it.
func Init(path string) (w *World, err error) {
	if begun.Swap(true) {
		return nil, errUsed
	}
	defer func() {
		if e := recover(); e != nil { // purego panics if a symbol is missing
			w, err = nil, fmt.Errorf("%s: %v", path, e)
		}
	}()
	// Open MPI would handle signals that Go needs, such as that of a nil pointer. Its plugins look for its symbols.
	if err := os.Setenv("OMPI_MCA_opal_signal", ""); err != nil {
		return nil, err
	}
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return nil, err
	}
	symbol := func(name string) uintptr {
		at, err := purego.Dlsym(handle, name)
		if err != nil {
			panic(err)
		}
		return at
	}
	// In Open MPI, what mpi.h calls MPI_COMM_WORLD, MPI_FLOAT and so on are addresses of variables. MPI_IN_PLACE is 1.
	w = &World{
		inPlace: 1, world: symbol("ompi_mpi_comm_world"), f32s: symbol("ompi_mpi_float"), f64s: symbol("ompi_mpi_double"), sum: symbol("ompi_mpi_op_sum"),
	}
	var (
		initThread      func(argc, argv uintptr, required int32, provided *int32) int32
		setErrorHandler func(comm, handler uintptr) int32
		rank, size      func(comm uintptr, n *int32) int32
		version         func(text *byte, length *int32) int32
	)
	for name, f := range map[string]any{
		"MPI_Init_thread": &initThread, "MPI_Comm_set_errhandler": &setErrorHandler, "MPI_Comm_rank": &rank, "MPI_Comm_size": &size,
		"MPI_Get_library_version": &version, "MPI_Allreduce": &w.allReduce, "MPI_Finalize": &w.finalize,
	} {
		purego.RegisterLibFunc(f, handle, name)
	}
	returnErrors := symbol("ompi_mpi_errors_return") // instead of ending the process
	var provided, r, n, length int32
	text := make([]byte, 1024) // MPI_MAX_LIBRARY_VERSION_STRING is 256
	for _, call := range []struct {
		name string
		f    func() int32
	}{
		{"MPI_Init_thread", func() int32 { return initThread(0, 0, threadSerialized, &provided) }},
		{"MPI_Comm_set_errhandler", func() int32 { return setErrorHandler(w.world, returnErrors) }},
		{"MPI_Comm_rank", func() int32 { return rank(w.world, &r) }},
		{"MPI_Comm_size", func() int32 { return size(w.world, &n) }},
		{"MPI_Get_library_version", func() int32 { return version(&text[0], &length) }},
	} {
		if code := call.f(); code != 0 {
			return nil, &CallError{call.name, int(code)}
		}
	}
	if provided < threadSerialized {
		return nil, fmt.Errorf("%s does not support calls from several threads", path)
	}
	w.Rank, w.Size = int(r), int(n)
	w.Version, _, _ = strings.Cut(string(text[:length]), ",")
	return w, nil
}

// Sum replaces each value by the sum over all processes, all of which pass equally many.
func Sum[T float32 | float64](w *World, values []T) error {
	if len(values) == 0 {
		return nil
	}
	var zero T
	kind := w.f32s
	if unsafe.Sizeof(zero) == 8 {
		kind = w.f64s
	}
	const most = 1 << 30 // MPI counts in int32
	for len(values) > 0 {
		part := values[:min(len(values), most)]
		values = values[len(part):]
		// The memory of Go does not move.
		code := w.allReduce(w.inPlace, uintptr(unsafe.Pointer(&part[0])), int32(len(part)), kind, w.sum, w.world)
		runtime.KeepAlive(part)
		if code != 0 {
			return &CallError{"MPI_Allreduce", int(code)}
		}
	}
	return nil
}

// Finalize ends the use of MPI. It returns when all processes have called it.
func (w *World) Finalize() error {
	if code := w.finalize(); code != 0 {
		return &CallError{"MPI_Finalize", int(code)}
	}
	return nil
}
