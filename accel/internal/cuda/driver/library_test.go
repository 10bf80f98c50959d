//go:build linux && cgo

package driver

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/internal/testenv"
)

// The real driver must have every function that is called.
func TestSymbols(t *testing.T) {
	t.Parallel()
	path := realLibrary()
	if path == "" {
		t.Skip("libcuda.so is not installed; testdata/libcuda.sh fetches one for QUERN_LIBCUDA")
	}
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	defined, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, s := range defined {
		known[s.Name] = s.Section != elf.SHN_UNDEF
	}
	required, optional := symbols()
	if len(required) < 40 || len(optional) < 4 {
		t.Fatalf("only %d symbols, and %d of later drivers", len(required), len(optional))
	}
	for _, name := range append(required, optional...) {
		if !known[name] {
			t.Errorf("%s has no %s", path, name)
		}
	}
	// And they are found at run time. Nothing is called: as root, cuInit creates files in
	// /dev.
	l, err := loadLibrary(path, thisMachine())
	if err != nil {
		t.Fatal(err)
	}
	l.close()
}

// realLibrary finds a libcuda.so. It returns "" if there is none.
func realLibrary() string {
	if path := os.Getenv("QUERN_LIBCUDA"); path != "" {
		return path
	}
	for _, pattern := range []string{"/usr/lib/x86_64-linux-gnu/libcuda.so.1", "/usr/lib/x86_64-linux-gnu/nvidia/current/libcuda.so.1", "/usr/lib64/libcuda.so.1", "/usr/lib/libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1"} {
		if _, err := os.Stat(pattern); err == nil {
			return pattern
		}
	}
	return ""
}

// stubLibrary compiles testdata/libcuda.c.
func stubLibrary(t *testing.T) string {
	t.Helper()
	cc := testenv.Command(t, "cc")
	path := filepath.Join(t.TempDir(), "libcuda.so.1")
	if out, err := exec.Command(cc, "-shared", "-fPIC", "-O1", "-o", path, "testdata/libcuda.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Every call must arrive with its arguments in order: the stub rejects wrong arguments.
func TestCallsArrive(t *testing.T) {
	l, err := openLibrary(stubLibrary(t), machineOf(nil, nil))
	ok(t, err)
	if l.Version() != 12040 || len(l.Devices()) != 2 {
		t.Fatalf("version %d, %d devices", l.Version(), len(l.Devices()))
	}
	want := Info{Name: "Device 7", UUID: "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f", PCI: "0000:07:00.0", Major: 9, Memory: 80 << 30,
		SMs: 1016, L2: 1038, SharedPerBlock: 1097, SharedPerSM: 1081, RegistersPerSM: 1082, ThreadsPerBlock: 1001, ThreadsPerSM: 1039,
		ClockKHz: 1013, MemoryClockKHz: 1036, MemoryBusBits: 1037, MemoryPools: true, Exclusive: true, EarlyLaunches: true, CUDA: 12040}
	if got := l.Devices()[0]; got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if _, err := l.Context(2); !errors.Is(err, InvalidDevice) {
		t.Errorf("nonexistent device: %v", err)
	}
	c, err := l.Context(0)
	ok(t, err)
	t.Run("memory", func(t *testing.T) { testMemory(t, c) })
	t.Run("kernels", func(t *testing.T) { testKernels(t, c) })
	t.Run("streams", func(t *testing.T) { testStreams(t, c) })
	t.Run("graphs", func(t *testing.T) { testGraphs(t, c) })
	t.Run("capture", func(t *testing.T) { testCapture(t, c) })
	if c.Raw() != 0xc7 {
		t.Errorf("raw context %#x", c.Raw())
	}
	ok(t, c.Current())
	ok(t, c.Close())
	if err := c.Close(); !errors.Is(err, InvalidContext) {
		t.Errorf("second close: %v", err)
	}
}

func testMemory(t *testing.T, c Context) {
	if free, total, err := c.MemoryInfo(); err != nil || free != 123 || total != 456 {
		t.Errorf("memory %d of %d, %v", free, total, err)
	}
	if _, err := c.Alloc(2<<20, 0); !errors.Is(err, OutOfMemory) || !strings.Contains(err.Error(), "2097152 bytes") {
		t.Errorf("too much memory: %v", err)
	}
	p, err := c.Alloc(64, 0)
	ok(t, err)
	q, err := c.Alloc(64, 0)
	ok(t, err)
	host, err := c.AllocHost(64)
	ok(t, err)
	if slices.ContainsFunc(host, func(b byte) bool { return b != 0 }) {
		t.Error("pinned memory is not zero")
	}
	for i := range host {
		host[i] = byte(i)
	}
	ok(t, c.CopyToDevice(p, host, 0))
	ok(t, c.Copy(q, p, 64, 0))
	ok(t, c.Fill(q+4, 0xaabbccdd, 4, 1, 0))
	ok(t, c.Fill(q+8, 0x1234, 2, 2, 0))
	ok(t, c.Fill(q+12, 0xee, 1, 3, 0))
	back := make([]byte, 64)
	ok(t, c.CopyToHost(back, q, 0))
	if want := []byte{0, 1, 2, 3, 0xdd, 0xcc, 0xbb, 0xaa, 0x34, 0x12, 0x34, 0x12, 0xee, 0xee, 0xee, 15}; !slices.Equal(back[:16], want) {
		t.Errorf("got %x, want %x", back[:16], want)
	}
	// Pageable memory is copied when the call returns.
	loose := []byte{1, 2, 3, 4}
	ok(t, c.CopyToDevice(p, loose, 0))
	clear(loose)
	ok(t, c.CopyToHost(loose, p, 0))
	if !slices.Equal(loose, []byte{1, 2, 3, 4}) {
		t.Errorf("there and back came %v", loose)
	}
	if err := c.Copy(p+4, p, 8, 0); !errors.Is(err, InvalidValue) {
		t.Errorf("overlapping copy: %v", err)
	}
	ok(t, c.Free(p, 0))
	ok(t, c.Free(q, 0))
	ok(t, c.Trim())
	ok(t, c.FreeHost(host))
	if err := c.FreeHost(host); !errors.Is(err, InvalidValue) {
		t.Errorf("second free: %v", err)
	}
	n := c.Counts()
	if n.Allocs != 2 || n.Frees != 2 || n.Copies != 5 || n.Fills != 3 || n.BytesToDevice != 68 || n.BytesToHost != 68 || n.Syncs != 3 {
		t.Errorf("counts %+v", n)
	}
}

// axpyLaunch launches the stub's kernel.
func axpyLaunch(f Function, y, x Pointer, n uint32, a float32) Launch {
	p := binary.LittleEndian.AppendUint64(nil, uint64(y))
	p = binary.LittleEndian.AppendUint64(p, uint64(x))
	p = binary.LittleEndian.AppendUint32(p, n)
	p = binary.LittleEndian.AppendUint32(p, math.Float32bits(a))
	return Launch{Function: f, Grid: Dim{2, 3, 0}, Block: Dim{X: 32, Z: 4}, Shared: 64, Params: p, Label: "axpy [4]"}
}

func floats(values ...float32) []byte {
	var b []byte
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

// device allocates memory with values.
func device(t *testing.T, c Context, values ...float32) Pointer {
	t.Helper()
	p, err := c.Alloc(4*len(values), 0)
	ok(t, err)
	ok(t, c.CopyToDevice(p, floats(values...), 0))
	return p
}

func testKernels(t *testing.T, c Context) {
	var e *Error
	if _, err := c.Load("nonsense"); !errors.As(err, &e) || e.Code != InvalidPTX || e.Log != "line 1: no version" {
		t.Errorf("load of nonsense: %v", err)
	}
	if _, err := c.Load("\x7fELF\x02\x00\x00\x00xy"); err != nil {
		t.Errorf("load of machine code: %v", err)
	}
	m, err := c.Load(".version 7.0")
	ok(t, err)
	if _, err := c.Function(m, "nothing"); !errors.Is(err, NotFound) {
		t.Errorf("nonexistent function: %v", err)
	}
	f, err := c.Function(m, "axpy")
	ok(t, err)
	if p, n, err := c.Global(m, "g"); err != nil || p != 0x1000 || n != 24 {
		t.Errorf("global %#x, %d bytes, %v", p, n, err)
	}
	if info, err := c.FunctionInfo(f); err != nil || info != (FunctionInfo{Registers: 14, Local: 13, Shared: 11, Threads: 10, BinaryMajor: 9}) {
		t.Errorf("function %+v, %v", info, err)
	}
	ok(t, c.SetMaxShared(f, 100000))
	if n, err := c.Occupancy(f, 128, 2048); err != nil || n != 5 {
		t.Errorf("occupancy %d, %v", n, err)
	}
	x, y := device(t, c, 1, 2, 3, 4), device(t, c, 10, 20, 30, 40)
	l := axpyLaunch(f, y, x, 4, 2)
	ok(t, c.Launch(l, 0))
	l.Cluster = Dim{X: 2}
	ok(t, c.Launch(l, 0))
	got := make([]byte, 16)
	ok(t, c.CopyToHost(got, y, 0))
	if !slices.Equal(got, floats(14, 28, 42, 56)) {
		t.Errorf("got %x", got)
	}
	if err := c.Launch(axpyLaunch(f, y, x, 0, 2), 0); !errors.Is(err, IllegalAddress) || !strings.Contains(err.Error(), "axpy [4]: cuLaunchKernel") {
		t.Errorf("failing launch: %v", err)
	}
	tm, err := c.TensorMap(TensorMap{Type: TensorBFloat16, Address: 0x1000, Shape: []uint64{64, 128}, Strides: []uint64{256}, Box: []uint32{32, 16}, Swizzle: Swizzle128, NaNFill: true})
	ok(t, err)
	if tm[0] != 0xab || tm[127] != 0xab {
		t.Errorf("tensor map %x", tm)
	}
	if _, err := c.TensorMap(TensorMap{Shape: []uint64{1}, Strides: []uint64{1}, Box: []uint32{1}}); !errors.Is(err, InvalidValue) {
		t.Errorf("wrong tensor map: %v", err)
	}
	ok(t, c.Unload(m))
}

func testStreams(t *testing.T, c Context) {
	s, err := c.NewStream()
	ok(t, err)
	e, err := c.NewEvent(true)
	ok(t, err)
	ok(t, c.Record(e, s))
	ok(t, c.Wait(s, e))
	for i, want := range []bool{false, true} {
		if done, err := c.Done(e); err != nil || done != want {
			t.Errorf("query %d: %v, %v", i, done, err)
		}
	}
	ok(t, c.SyncEvent(e))
	if ms, err := c.Elapsed(e, e); err != nil || ms != 1.5 {
		t.Errorf("elapsed %v, %v", ms, err)
	}
	ok(t, c.SyncStream(s))
	ok(t, c.Sync())
	ok(t, c.CloseEvent(e))
	ok(t, c.CloseStream(s))
	if err := c.CloseStream(0); !errors.Is(err, InvalidHandle) {
		t.Errorf("close of the context's stream: %v", err)
	}
}

func testGraphs(t *testing.T, c Context) {
	m, err := c.Load(".version 7.0")
	ok(t, err)
	f, err := c.Function(m, "axpy")
	ok(t, err)
	x, y, z := device(t, c, 0, 0, 0, 0), device(t, c, 0, 0, 0, 0), device(t, c, 0, 0, 0, 0)
	in, err := c.AllocHost(16)
	ok(t, err)
	out, err := c.AllocHost(16)
	ok(t, err)
	copy(in, floats(1, 2, 3, 4))
	g, err := c.NewGraph()
	ok(t, err)
	up, err := c.AddCopyToDevice(g, nil, x, in)
	ok(t, err)
	zero, err := c.AddFill(g, []Node{up}, y, math.Float32bits(100), 4, 4)
	ok(t, err)
	k, err := c.AddKernel(g, []Node{zero}, axpyLaunch(f, y, x, 4, 2))
	ok(t, err)
	e, err := c.NewEvent(true)
	ok(t, err)
	mark, err := c.AddEvent(g, []Node{k}, e)
	ok(t, err)
	move, err := c.AddCopy(g, []Node{mark}, z, y, 16)
	ok(t, err)
	_, err = c.AddCopyToHost(g, []Node{move}, out, z)
	ok(t, err)
	if _, err := c.AddCopyToHost(g, []Node{move}, make([]byte, 16), z); !errors.Is(err, InvalidValue) {
		t.Errorf("copy to memory that is not pinned: %v", err)
	}
	before := c.Counts()
	exec, err := c.Instantiate(g)
	ok(t, err)
	ok(t, c.LaunchGraph(exec, 0))
	if want := floats(102, 104, 106, 108); !slices.Equal(out, want) {
		t.Errorf("got %x, want %x", out, want)
	}
	ok(t, c.UpdateKernel(exec, k, axpyLaunch(f, y, x, 2, -1)))
	ok(t, c.LaunchGraph(exec, 0))
	if want := floats(99, 98, 100, 100); !slices.Equal(out, want) {
		t.Errorf("got %x, want %x", out, want)
	}
	n := c.Counts()
	if n.GraphLaunches-before.GraphLaunches != 2 || n.GraphNodes-before.GraphNodes != 12 || n.Instantiates != 1 || n.Updates != 1 {
		t.Errorf("counts %+v", n)
	}
	ok(t, c.CloseExecutable(exec))
	ok(t, c.CloseGraph(g))
	// A kernel that begins early depends on kernels only.
	g, err = c.NewGraph()
	ok(t, err)
	first, err := c.AddKernel(g, nil, axpyLaunch(f, y, x, 4, 1))
	ok(t, err)
	early := axpyLaunch(f, z, y, 4, 1)
	early.Early = true
	second, err := c.AddKernel(g, []Node{first}, early)
	ok(t, err)
	exec, err = c.Instantiate(g)
	ok(t, err)
	ok(t, c.LaunchGraph(exec, 0))
	ok(t, c.UpdateKernel(exec, second, early))
	ok(t, c.CloseExecutable(exec))
	if n, err := c.AddFill(g, []Node{second}, y, 0, 4, 4); err != nil {
		t.Error(err)
	} else if _, err := c.AddKernel(g, []Node{n}, early); !errors.Is(err, InvalidValue) {
		t.Errorf("a kernel that begins before the end of a fill: %v", err)
	}
	if n := c.Counts().Early; n != 1 {
		t.Errorf("%d kernels that begin early", n)
	}
	ok(t, c.CloseGraph(g))
	// A copy longer than the maximum row takes two nodes.
	g, err = c.NewGraph()
	ok(t, err)
	if n, err := c.AddCopy(g, nil, 1<<40, 1<<41, maxCopyBytes+16); err != nil || n != 2 {
		t.Errorf("long copy: node %d, %v", n, err)
	}
	ok(t, c.CloseGraph(g))
}

func testCapture(t *testing.T, c Context) {
	m, err := c.Load(".version 7.0")
	ok(t, err)
	f, err := c.Function(m, "axpy")
	ok(t, err)
	x := device(t, c, 1, 2, 3, 4)
	part := func(launches int) Graph {
		t.Helper()
		g, err := c.Capture(func(s Stream) error {
			for range launches {
				if err := c.Launch(axpyLaunch(f, x, x, 4, 1), s); err != nil {
					return err
				}
			}
			return nil
		})
		ok(t, err)
		return g
	}
	one, two := part(1), part(2)
	g, err := c.NewGraph()
	ok(t, err)
	n, err := c.AddGraph(g, nil, two, "two")
	ok(t, err)
	exec, err := c.Instantiate(g)
	ok(t, err)
	ok(t, c.UpdateGraph(exec, n, part(2), "two"))
	if err := c.UpdateGraph(exec, n, part(3), "MatMul [2 2]"); !errors.Is(err, UpdateFailure) {
		t.Errorf("update with a graph of three: %v", err)
	}
	if err := c.UpdateGraph(exec, n, one, "MatMul [2 2]"); !errors.Is(err, UpdateFailure) || !strings.Contains(err.Error(), "MatMul [2 2]: cuGraphExecChildGraphNodeSetParams") {
		t.Errorf("update with another graph: %v", err)
	}
	if back := make([]byte, 16); c.CopyToHost(back, x, 0) != nil || !slices.Equal(back, floats(1, 2, 3, 4)) {
		t.Errorf("the captured work ran: %x", back)
	}
	cause := errors.New("refused")
	if _, err := c.Capture(func(Stream) error { return cause }); !errors.Is(err, cause) {
		t.Errorf("failing capture: %v", err)
	}
	if _, err := c.Capture(func(s Stream) error {
		for range 9 {
			ok(t, c.Launch(axpyLaunch(f, x, x, 4, 1), s))
		}
		return nil
	}); !errors.Is(err, CaptureInvalidated) {
		t.Errorf("failing end of capture: %v", err)
	}
	for _, g := range []Graph{one, two} {
		ok(t, c.CloseGraph(g))
	}
}

func TestOpenFailures(t *testing.T) {
	path := stubLibrary(t)
	for _, row := range []struct{ variable, value, want string }{
		{"FAKE_CUDA_INIT", "100", "is missing"},
		{"FAKE_CUDA_INIT", "803", "its library differ"},
		{"FAKE_CUDA_VERSION", "11000", "only supports CUDA 11.0"},
	} {
		t.Setenv(row.variable, row.value)
		_, err := openLibrary(path, machineOf([]string{memoryFile}, nil))
		if !errors.Is(err, ErrNoGPU) || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s=%s: %v, want %q", row.variable, row.value, err, row.want)
		}
		os.Unsetenv(row.variable)
	}
	if _, err := openLibrary(filepath.Join(t.TempDir(), "nothing.so"), machineOf(nil, nil)); !errors.Is(err, ErrNoGPU) {
		t.Errorf("no library: %v", err)
	}
	empty := filepath.Join(t.TempDir(), "empty.so")
	if out, err := exec.Command("cc", "-shared", "-o", empty, "-x", "c", "/dev/null").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if _, err := openLibrary(empty, machineOf(nil, nil)); !errors.Is(err, ErrNoGPU) || !strings.Contains(err.Error(), "has no cuInit") {
		t.Errorf("library without functions: %v", err)
	}
}
