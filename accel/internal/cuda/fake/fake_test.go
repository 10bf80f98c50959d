package fake

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/ptxsim"
)

// twice writes y[i] = 2 x[i] + c for one block of 32 threads.
const twice = `.version 7.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 counter = 7;
.visible .entry twice(.param .u64 y, .param .u64 x, .param .u32 c)
{
	.reg .b32 %r<5>; .reg .b64 %rd<6>;
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd1, %r1, 4;
	ld.param.u64 %rd2, [x];
	ld.param.u64 %rd3, [y];
	ld.param.u32 %r4, [c];
	add.s64 %rd4, %rd2, %rd1;
	add.s64 %rd5, %rd3, %rd1;
	ld.global.u32 %r2, [%rd4];
	mad.lo.u32 %r3, %r2, 2, %r4;
	st.global.u32 [%rd5], %r3;
	ret;
}`

const lanes = 32

// device is a context with the kernel loaded.
type device struct {
	driver.Context
	t        testing.TB
	function driver.Function
}

func newDevice(t testing.TB, o Options) *device {
	t.Helper()
	d, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	c, err := d.Context(0)
	if err != nil {
		t.Fatal(err)
	}
	v := &device{Context: c, t: t}
	m, err := c.Load(twice)
	v.ok(err)
	v.function, err = c.Function(m, "twice")
	v.ok(err)
	return v
}

func (d *device) ok(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d *device) alloc(s driver.Stream) driver.Pointer {
	d.t.Helper()
	p, err := d.Alloc(4*lanes, s)
	d.ok(err)
	return p
}

func (d *device) host() []byte {
	d.t.Helper()
	b, err := d.AllocHost(4 * lanes)
	d.ok(err)
	return b
}

func (d *device) launch(y, x driver.Pointer, c uint32) driver.Launch {
	p := binary.LittleEndian.AppendUint64(nil, uint64(y))
	p = binary.LittleEndian.AppendUint64(p, uint64(x))
	return driver.Launch{Function: d.function, Block: driver.Dim{X: lanes}, Params: binary.LittleEndian.AppendUint32(p, c), Label: "twice [32]"}
}

func set(b []byte, v uint32) {
	for i := range lanes {
		binary.LittleEndian.PutUint32(b[4*i:], v)
	}
}

func first(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }

func TestStreamsKeepOrder(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		d := newDevice(t, Options{Seed: seed})
		other, err := d.NewStream()
		d.ok(err)
		ready, err := d.NewEvent(false)
		d.ok(err)
		x, y := d.alloc(0), d.alloc(0)
		in, out := d.host(), d.host()
		set(in, 3)
		d.ok(d.CopyToDevice(x, in, 0))
		d.ok(d.Launch(d.launch(y, x, 1), 0)) // 7
		d.ok(d.Record(ready, 0))
		d.ok(d.Wait(other, ready))
		d.ok(d.Launch(d.launch(x, y, 0), other)) // 14
		d.ok(d.CopyToHost(out, x, other))
		d.ok(d.SyncStream(other))
		if got := first(out); got != 14 {
			t.Errorf("seed %d: %d, want 14", seed, got)
		}
		d.ok(d.Free(x, other))
		d.ok(d.Free(y, other))
		d.ok(d.Close())
	}
}

// Without the event, at least one seed must run the second stream first.
func TestMissingDependencyShows(t *testing.T) {
	t.Parallel()
	wrong := 0
	for seed := uint64(1); seed < 30; seed++ {
		d := newDevice(t, Options{Seed: seed})
		other, err := d.NewStream()
		d.ok(err)
		x := d.alloc(0)
		in, out := d.host(), d.host()
		set(in, 3)
		d.ok(d.CopyToDevice(x, in, 0))
		err = d.CopyToHost(out, x, other)
		if err == nil {
			err = d.Sync()
		}
		if err != nil || first(out) != 3 {
			wrong++
		}
	}
	if wrong == 0 {
		t.Error("no seed shows that the copies are not ordered")
	}
}

func TestPinnedMemoryIsReadLate(t *testing.T) {
	t.Parallel()
	late := 0
	for seed := uint64(1); seed < 20; seed++ {
		d := newDevice(t, Options{Seed: seed})
		x, in, out := d.alloc(0), d.host(), make([]byte, 4*lanes)
		set(in, 1)
		d.ok(d.CopyToDevice(x, in, 0))
		set(in, 2) // before the copy has run
		d.ok(d.CopyToHost(out, x, 0))
		if first(out) == 2 {
			late++
		}
		plain := make([]byte, 4*lanes)
		set(plain, 5)
		d.ok(d.CopyToDevice(x, plain, 0))
		set(plain, 6) // allowed
		d.ok(d.CopyToHost(out, x, 0))
		if got := first(out); got != 5 {
			t.Errorf("seed %d: %d, want 5", seed, got)
		}
	}
	if late == 0 {
		t.Error("no seed reads pinned memory late")
	}
}

func TestGraph(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		d := newDevice(t, Options{Seed: seed})
		x, y, z := d.alloc(0), d.alloc(0), d.alloc(0)
		in, out := d.host(), d.host()
		set(in, 10)
		g, err := d.NewGraph()
		d.ok(err)
		up, err := d.AddCopyToDevice(g, nil, x, in)
		d.ok(err)
		k, err := d.AddKernel(g, []driver.Node{up}, d.launch(y, x, 1))
		d.ok(err)
		c, err := d.AddCopy(g, []driver.Node{k}, z, y, 4*lanes)
		d.ok(err)
		_, err = d.AddCopyToHost(g, []driver.Node{c}, out, z)
		d.ok(err)
		exec, err := d.Instantiate(g)
		d.ok(err)
		if _, err := d.AddKernel(g, []driver.Node{c, k, c}, d.launch(y, x, 1)); !errors.Is(err, driver.InvalidValue) {
			t.Errorf("seed %d: a node after another twice: %v", seed, err)
		}
		d.ok(d.LaunchGraph(exec, 0))
		d.ok(d.SyncStream(0))
		if got := first(out); got != 21 {
			t.Fatalf("seed %d: %d, want 21", seed, got)
		}
		set(in, 100)
		d.ok(d.UpdateKernel(exec, k, d.launch(y, x, 3)))
		d.ok(d.CloseGraph(g))
		if err := d.UpdateKernel(exec, k, d.launch(y, x, 5)); !errors.Is(err, driver.InvalidValue) {
			t.Errorf("seed %d: update of a node of a closed graph: %v", seed, err)
		}
		d.ok(d.LaunchGraph(exec, 0))
		d.ok(d.SyncStream(0))
		if got := first(out); got != 203 {
			t.Fatalf("seed %d: %d, want 203", seed, got)
		}
		if n := d.Counts(); n.GraphLaunches != 2 || n.GraphNodes != 8 || n.Syncs != 2 || n.Launches != 0 || n.Updates != 1 {
			t.Errorf("seed %d: counts %+v", seed, n)
		}
	}
}

// A kernel may begin early after kernels only, and waits before it accesses memory.
func TestEarlyLaunch(t *testing.T) {
	t.Parallel()
	waits := strings.Replace(strings.Replace(twice, ".version 7.0\n.target sm_80", ".version 7.8\n.target sm_90", 1), "\tmov.u32 %r1", "\tgriddepcontrol.wait;\n\tmov.u32 %r1", 1)
	for name, row := range map[string]struct {
		ptx   string
		fault bool
	}{"waits": {waits, false}, "does not": {twice, true}} {
		for _, update := range []bool{false, true} {
			d := newDevice(t, Options{Seed: 1, Capability: 90})
			m, err := d.Load(row.ptx)
			d.ok(err)
			f, err := d.Function(m, "twice")
			d.ok(err)
			x, y, z, in, out := d.alloc(0), d.alloc(0), d.alloc(0), d.host(), d.host()
			set(in, 10)
			g, err := d.NewGraph()
			d.ok(err)
			up, err := d.AddCopyToDevice(g, nil, x, in)
			d.ok(err)
			early := d.launch(z, y, 1)
			early.Early, early.Function = true, f
			if _, err := d.AddKernel(g, []driver.Node{up}, early); !errors.Is(err, driver.InvalidValue) {
				t.Errorf("a kernel that begins before the end of a copy: %v", err)
			}
			k, err := d.AddKernel(g, []driver.Node{up}, d.launch(y, x, 1))
			d.ok(err)
			if _, err := d.AddKernel(g, []driver.Node{k, up}, early); !errors.Is(err, driver.InvalidValue) {
				t.Errorf("a kernel that begins before the end of a kernel and of a copy: %v", err)
			}
			k, err = d.AddKernel(g, []driver.Node{k}, early)
			d.ok(err)
			_, err = d.AddCopyToHost(g, []driver.Node{k}, out, z)
			d.ok(err)
			exec, err := d.Instantiate(g)
			d.ok(err)
			if update { // the dependency remains
				early.Early = false
				d.ok(d.UpdateKernel(exec, k, early))
			}
			d.ok(d.LaunchGraph(exec, 0))
			var fault *ptxsim.Fault
			switch err := d.SyncStream(0); {
			case !row.fault:
				if got := first(out); err != nil || got != 43 {
					t.Errorf("%s: %d, %v, want 43", name, got, err)
				}
			case !errors.As(err, &fault) || fault.Kind != ptxsim.TooEarly:
				t.Errorf("%s, update %v: %v", name, update, err)
			}
			if n := d.Counts().Early; n != 1 {
				t.Errorf("%s: %d kernels that begin early", name, n)
			}
		}
	}
	for _, o := range []Options{{Capability: 80}, {Capability: 90, Version: 12020}} {
		d := newDevice(t, o)
		x, y := d.alloc(0), d.alloc(0)
		g, err := d.NewGraph()
		d.ok(err)
		k, err := d.AddKernel(g, nil, d.launch(y, x, 1))
		d.ok(err)
		early := d.launch(x, y, 1)
		early.Early = true
		if _, err := d.AddKernel(g, []driver.Node{k}, early); !errors.Is(err, driver.NotSupported) || d.Info().EarlyLaunches {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// Events within a graph measure its kernels, again at every launch.
func TestEventsOfGraph(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		took := 3 * time.Millisecond
		d := newDevice(t, Options{Seed: seed, KernelTime: func(kernel string, _, _ driver.Dim) time.Duration { return took }})
		x, y := d.alloc(0), d.alloc(0)
		d.ok(d.Fill(x, 1, 4, lanes, 0))
		d.ok(d.Fill(y, 1, 4, lanes, 0))
		g, err := d.NewGraph()
		d.ok(err)
		var events []driver.Event
		var before []driver.Node
		for k := range 3 {
			if k > 0 {
				n, err := d.AddKernel(g, before, d.launch(y, x, 1))
				d.ok(err)
				before = []driver.Node{n}
			}
			e, err := d.NewEvent(true)
			d.ok(err)
			events = append(events, e)
			n, err := d.AddEvent(g, before, e)
			d.ok(err)
			before = []driver.Node{n}
		}
		exec, err := d.Instantiate(g)
		d.ok(err)
		for range 2 {
			d.ok(d.LaunchGraph(exec, 0))
			if k := 1; seed == 0 { // everything has run
				ms, err := d.Elapsed(events[k], events[k+1])
				d.ok(err)
				if ms != 3 {
					t.Errorf("a kernel took %v ms, want 3", ms)
				}
			}
		}
		d.ok(d.SyncStream(0))
		for k := range 2 {
			if ms, err := d.Elapsed(events[k], events[k+1]); err != nil || ms != 3 {
				t.Errorf("seed %d: kernel %d took %v ms, want 3: %v", seed, k, ms, err)
			}
		}
		if _, err := d.AddEvent(g, nil, 1<<40); !errors.Is(err, driver.InvalidHandle) {
			t.Errorf("an event that does not exist: %v", err)
		}
	}
}

func TestFill(t *testing.T) {
	t.Parallel()
	d := newDevice(t, Options{})
	x, out := d.alloc(0), make([]byte, 4*lanes)
	d.ok(d.Fill(x, 0x01020304, 4, lanes, 0))
	d.ok(d.Fill(x+2, 0xaabb, 2, 1, 0))
	d.ok(d.Fill(x, 0xff, 1, 1, 0))
	d.ok(d.CopyToHost(out, x, 0))
	if want := []byte{0xff, 3, 0xbb, 0xaa, 4, 3, 2, 1}; !slices.Equal(out[:8], want) {
		t.Errorf("got %x, want %x", out[:8], want)
	}
	if err := d.Fill(x+1, 0, 4, 1, 0); !errors.Is(err, driver.InvalidValue) {
		t.Errorf("misaligned fill: %v", err)
	}
}

func TestEventsAndTimes(t *testing.T) {
	t.Parallel()
	d := newDevice(t, Options{Seed: 4})
	from, err := d.NewEvent(true)
	d.ok(err)
	to, err := d.NewEvent(true)
	d.ok(err)
	d.ok(d.Record(from, 0))
	x := d.alloc(0)
	d.ok(d.Fill(x, 0, 4, lanes, 0))
	d.ok(d.Record(to, 0))
	for {
		done, err := d.Done(to)
		d.ok(err)
		if done {
			break
		}
	}
	if ms, err := d.Elapsed(from, to); err != nil || ms < 0 {
		t.Errorf("elapsed %v, %v", ms, err)
	}
	if n := d.Counts().Syncs; n != 0 {
		t.Errorf("%d syncs, want none", n)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	d := newDevice(t, Options{Memory: 1 << 20})
	if _, err := d.Alloc(2<<20, 0); !errors.Is(err, driver.OutOfMemory) {
		t.Errorf("alloc: %v", err)
	}
	p := d.alloc(0)
	d.ok(d.Free(p, 0))
	if err := d.Free(p, 0); !errors.Is(err, driver.InvalidValue) {
		t.Errorf("second free: %v", err)
	}
	if _, err := d.Load("hello"); !errors.Is(err, driver.InvalidPTX) {
		t.Errorf("load: %v", err)
	}
	if _, err := d.Load(strings.Replace(twice, "sm_80", "sm_90a", 1)); !errors.Is(err, driver.NoBinaryForGPU) {
		t.Errorf("load for another device: %v", err)
	}
	if _, err := d.Load(strings.Replace(twice, "7.0", "8.8", 1)); !errors.Is(err, driver.UnsupportedPTXVersion) {
		t.Errorf("load of new PTX: %v", err)
	}
	l := d.launch(p, p, 0)
	l.Params = l.Params[:8]
	if err := d.Launch(l, 0); !errors.Is(err, driver.InvalidValue) || !strings.Contains(err.Error(), "twice [32]") {
		t.Errorf("launch with too few parameters: %v", err)
	}
	l = d.launch(p, p, 0)
	l.Shared = 100 << 10
	if err := d.Launch(l, 0); !errors.Is(err, driver.InvalidValue) {
		t.Errorf("launch with too much shared memory: %v", err)
	}
	d.ok(d.SetMaxShared(d.function, 100<<10))
	b := d.host()
	d.ok(d.FreeHost(b))
	if err := d.FreeHost(b); !errors.Is(err, driver.InvalidValue) {
		t.Errorf("second free of host memory: %v", err)
	}
}

func TestFaultIsSticky(t *testing.T) {
	t.Parallel()
	d := newDevice(t, Options{Seed: 3})
	x := d.alloc(0)
	d.ok(d.Fill(x, 1, 4, lanes, 0))
	if err := d.Launch(d.launch(x+64, x, 0), 0); err != nil && !errors.Is(err, driver.IllegalAddress) {
		t.Fatal(err)
	}
	err := d.SyncStream(0)
	var fault *ptxsim.Fault
	if !errors.Is(err, driver.IllegalAddress) || !errors.As(err, &fault) || fault.Kernel != "twice" || fault.Thread[0] != 16 {
		t.Fatalf("sync: %v", err)
	}
	for _, want := range []string{"twice [32]", "CUDA_ERROR_ILLEGAL_ADDRESS", "restart"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %q", want, err)
		}
	}
	if _, err := d.Alloc(4, 0); !errors.Is(err, driver.IllegalAddress) {
		t.Errorf("alloc after a fault: %v", err)
	}
	if err := d.Close(); !errors.Is(err, driver.IllegalAddress) {
		t.Errorf("close after a fault: %v", err)
	}
}

func TestUnwrittenMemoryFaults(t *testing.T) {
	t.Parallel()
	d := newDevice(t, Options{})
	x, y := d.alloc(0), d.alloc(0)
	d.ok(d.Launch(d.launch(y, x, 0), 0))
	var fault *ptxsim.Fault
	if err := d.Sync(); !errors.As(err, &fault) || fault.Kind != ptxsim.Uninitialized {
		t.Errorf("sync: %v", err)
	}
}

func TestInjection(t *testing.T) {
	t.Parallel()
	d := newDevice(t, Options{})
	fake := d.Context.(*context).driver
	fake.Inject(Injection{Call: "Alloc", Skip: 2, Times: 2, Code: driver.OutOfMemory})
	for i, want := range []bool{true, true, false, false, true} {
		if _, err := d.Alloc(16, 0); (err == nil) != want {
			t.Errorf("alloc %d: %v", i, err)
		}
	}
	fake.Inject(Injection{Call: "Launch", Code: driver.LaunchFailed})
	x := d.alloc(0)
	d.ok(d.Fill(x, 1, 4, lanes, 0))
	d.ok(d.Launch(d.launch(x, x, 0), 0))
	if err := d.Sync(); !errors.Is(err, driver.LaunchFailed) {
		t.Errorf("sync: %v", err)
	}
	if _, err := d.NewStream(); !errors.Is(err, driver.LaunchFailed) {
		t.Errorf("after: %v", err)
	}
}

func TestMachinesWithoutGPU(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		options Options
		want    string
	}{
		"old driver":  {Options{Version: 10020}, "only supports CUDA 10.2"},
		"no device":   {Options{Devices: -1}, "lists no device"},
		"old devices": {Options{Capability: 75}, "compute capability 7.5"},
	} {
		if _, err := Open(row.options); !errors.Is(err, driver.ErrNoGPU) || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %q", name, err, row.want)
		}
	}
}

func TestFreeingHostMemoryInUse(t *testing.T) {
	t.Parallel()
	refused := 0
	for seed := uint64(1); seed < 20; seed++ {
		d := newDevice(t, Options{Seed: seed})
		x, in := d.alloc(0), d.host()
		d.ok(d.CopyToDevice(x, in, 0))
		if errors.Is(d.FreeHost(in), driver.InvalidValue) {
			refused++
		}
	}
	if refused == 0 {
		t.Error("no seed refuses to free memory that a copy uses")
	}
}

// A kernel that needs much shared memory fits if the SM has it.
func TestLimitsByCapability(t *testing.T) {
	t.Parallel()
	for capability, want := range map[int]struct{ shared, blocks int }{
		80: {163 << 10, 32}, 86: {99 << 10, 16}, 89: {99 << 10, 24}, 90: {227 << 10, 32}, 100: {227 << 10, 32}, 120: {99 << 10, 24},
	} {
		d := newDevice(t, Options{Capability: capability, Version: 13000})
		if got := d.Info().SharedPerBlock; got != want.shared {
			t.Errorf("sm_%d: %d bytes of shared memory, want %d", capability, got, want.shared)
		}
		d.ok(d.SetMaxShared(d.function, want.shared))
		if err := d.SetMaxShared(d.function, want.shared+1); !errors.Is(err, driver.InvalidValue) {
			t.Errorf("sm_%d: more shared memory than the SM has: %v", capability, err)
		}
		if n, err := d.Occupancy(d.function, lanes, 0); err != nil || n != want.blocks {
			t.Errorf("sm_%d: %d blocks per SM, %v, want %d", capability, n, err, want.blocks)
		}
	}
}
