//go:build linux && cgo

package nccl

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/accel/internal/cuda/library"
	"github.com/quernlab/quern/accel/internal/cuda/library/librarytest"
	"github.com/quernlab/quern/internal/testenv"
)

func TestFunctionsOfTheRealLibrary(t *testing.T) {
	found := librarytest.Installed(t, library.NCCL)
	l, err := Open(found)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("NCCL %s, %s", l.Version(), found.Path)
	// An id needs no GPU, but a network interface.
	id, err := l.NewID()
	if err != nil {
		var e *library.CallError
		if !errors.As(err, &e) || e.Call != "ncclGetUniqueId" {
			t.Error(err)
		}
		testenv.Optional(t, "%v", err)
	}
	other, err := l.NewID()
	if err != nil || id == other || id == (ID{}) {
		t.Errorf("ids %x and %x, %v", id[:16], other[:16], err)
	}
	// Without a GPU, creating a communicator soon fails with an error.
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	begin := time.Now()
	if c, err := l.Join(ctx, id, 0, 1); err != nil {
		t.Logf("join: %v (%v)", err, time.Since(begin))
		var e *library.CallError
		if !errors.As(err, &e) || !strings.HasPrefix(e.Call, "ncclComm") {
			t.Errorf("no GPU: %v", err)
		}
	} else if err := c.Close(); err != nil { // this machine has a GPU
		t.Error(err)
	}
}

// The numbers of this package must be those of the real header.
func TestConstantsOfTheRealHeader(t *testing.T) {
	include, text := librarytest.Include(t, librarytest.Installed(t, library.NCCL), "nccl.h")
	enum, _ := librarytest.Enum(t)
	// The header includes CUDA's only for two names.
	for _, name := range []string{"#include <cuda_runtime.h>", "#include <cuda_fp16.h>", "#include <cuda_bf16.h>", "#include <cuda_fp8.h>"} {
		text = strings.ReplaceAll(text, name, "")
	}
	source := "#define __CUDA_BF16_TYPES_EXIST__ 1\ntypedef struct CUstream_st *cudaStream_t;\ntypedef struct CUevent_st *cudaEvent_t;\n" + text + "\n#include \"shim.h\"\n" + enum
	pairs := map[string]string{
		"op_sum": "ncclSum", "invalid_argument": "ncclInvalidArgument", "1": "ncclUint8", "7": "ncclFloat32", "8": "ncclFloat64", "9": "ncclBfloat16", "(7+0)": "ncclInProgress",
		"config_magic": "(int)NCCL_API_MAGIC", "sizeof(unique)": "sizeof(ncclUniqueId)",
		"offsetof(config, magic)": "offsetof(ncclConfig_t, magic)", "offsetof(config, version)": "offsetof(ncclConfig_t, version)",
		"offsetof(config, blocking)": "offsetof(ncclConfig_t, blocking)", "config_version": "NCCL_VERSION(2,14,0)",
	}
	if !strings.Contains(text, "NCCL_API_MAGIC") {
		pairs["config_magic"] = "(int)0xcafebeef"
		if !strings.Contains(text, "0xcafebeef") {
			t.Error("the header has another magic number")
		}
	}
	librarytest.CheckEqual(t, source, pairs, "-I", include, "-I", ".")
}

// Every call must have the right arguments: the fake rejects wrong ones.
func TestCallsArrive(t *testing.T) {
	l, err := Open(librarytest.Fake(t, library.NCCL, "testdata/libnccl.c"))
	if err != nil {
		t.Fatal(err)
	}
	if l.Version() != "2.22.3" {
		t.Errorf("version %s", l.Version())
	}
	id, err := l.NewID()
	if err != nil {
		t.Fatal(err)
	}
	// The first of two ranks waits until its context is done.
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := l.Join(ctx, id, 0, 2); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("alone: %v", err)
	}
	c, err := l.Join(t.Context(), id, 1, 2) // the fake also counts the rank that has stopped waiting
	if err != nil {
		t.Fatal(err)
	}
	single, double := []float32{1, 2, 3}, []float64{4, 5}
	moved, gathered := []byte("ab"), make([]byte, 4)
	copied, received := make([]byte, 2), make([]byte, 1)
	at, to := librarytest.Pointer(single), librarytest.Pointer(double)
	for _, calls := range [][]Call{
		{{Op: AllReduce, From: at, To: at, Count: 2, Type: Float32}},
		{{Op: AllReduce, From: to, To: to, Count: 2, Type: Float64}},
		{{Op: ReduceScatter, From: at, To: at + 8, Count: 1, Type: Float32}},
		{{Op: AllGather, From: librarytest.Pointer(moved), To: librarytest.Pointer(gathered), Count: 2, Type: Bytes}},
		{{Op: Broadcast, From: librarytest.Pointer(moved), To: librarytest.Pointer(copied), Count: 2, Type: Bytes, Peer: 1}},
		{{Op: Send, From: librarytest.Pointer(moved) + 1, Count: 1, Type: Bytes, Peer: 1}, {Op: Recv, To: librarytest.Pointer(received), Count: 1, Type: Bytes, Peer: 1}},
		nil,
	} {
		if err := c.Queue(t.Context(), 0x51, calls...); err != nil {
			t.Errorf("%v: %v", calls, err)
		}
	}
	if single[0] != 2 || single[1] != 4 || single[2] != 8 || double[1] != 10 || string(gathered) != "abab" || string(copied) != "ab" || string(received) != "b" {
		t.Error(single, double, gathered, copied, received)
	}
	var e *library.CallError
	if err := c.Queue(t.Context(), 0x52, Call{Op: AllReduce, From: at, To: at, Count: 1, Type: Float32}); !errors.As(err, &e) || e.Call != "ncclAllReduce" || e.Status != "invalid argument" || e.Words != "the arguments of ncclAllReduce" {
		t.Errorf("another stream: %v", err)
	}
	wrong := Call{Op: Send, From: at, Count: 1, Type: Bytes, Peer: 5}
	if err := c.Queue(t.Context(), 0x51, wrong, wrong); !errors.As(err, &e) || e.Call != "ncclSend" {
		t.Errorf("another peer: %v", err)
	}
	if err := c.Queue(t.Context(), 0x51, wrong); !errors.As(err, &e) || e.Call != "ncclSend" { // the group before has ended
		t.Errorf("not in a group: %v", err)
	}
	if err := errors.Join(c.Err(), c.Close(), c.Close(), c.Abort()); err != nil {
		t.Error(err)
	}
	if err := c.Queue(t.Context(), 0x51, Call{Op: AllReduce, From: at, To: at, Count: 1, Type: Float32}); !errors.Is(err, errGone) {
		t.Errorf("closed: %v", err)
	}
	if _, err := l.Join(t.Context(), ID{}, 0, 2); !errors.As(err, &e) || e.Words != "the id" {
		t.Errorf("another id: %v", err)
	}
}
