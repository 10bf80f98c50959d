package cuda

import (
	"errors"
	"fmt"
	"sync"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/ir"
	"github.com/quernlab/quern/accel/internal/trace"
)

// Device runs programs on one GPU.
type Device struct {
	name   string
	ctx    *watched
	stream driver.Stream // of all work
	reads  driver.Stream // of copies to the host

	memory  *pool
	staging *staging
	marks   *marks
	faults  *faults
	code    *code

	// The arena is the memory of temporaries, which programs share, since one runs
	// at a time; Compile makes it large enough.
	arena      driver.Pointer
	arenaBytes int

	host    []byte // pinned, for reads
	profile *profile

	libraries Libraries
	blas      blas
	dnn       dnn
	decided   map[any]int        // the ways that choices take, by their kinds
	choices   *choices           // that were measured; nil until one is wanted
	told      map[[3]string]bool // refusals of libraries: library, call and status

	tf32 bool // of SetTF32

	mu      sync.Mutex
	dropped []*held // of programs that nobody can reach any more, guarded by mu
}

var _ ir.Device = (*Device)(nil)

// Open makes a device of a driver's GPU, which errors call by a name, and which uses
// libraries where they are faster than its own kernels. The owner calls Close.
func Open(name string, d driver.Driver, number int, libraries Libraries) (*Device, error) {
	ctx, err := d.Context(number)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	device, err := newDevice(name, ctx, libraries)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), ctx.Close())
	}
	return device, nil
}

func newDevice(name string, raw driver.Context, libraries Libraries) (d *Device, err error) {
	ctx := &watched{Context: raw}
	d = &Device{name: name, ctx: ctx, code: newCode(ctx)}
	d.attach(libraries)
	if d.stream, err = ctx.NewStream(); err != nil {
		return nil, err
	}
	if d.reads, err = ctx.NewStream(); err != nil {
		return nil, err
	}
	ctx.reads = d.reads
	d.memory = newPool(name, ctx, d.stream)
	if d.marks, err = newMarks(ctx); err != nil {
		return nil, err
	}
	if d.staging, err = newStaging(ctx, d.stream); err != nil {
		return nil, err
	}
	d.faults = newFaults(ctx, d.marks)
	d.host, err = ctx.AllocHost(readBytes)
	return d, err
}

// readBytes is how much is read at a time.
const readBytes = 1 << 20

// Lost is the error with which the GPU has failed for good; nil while it works.
func (d *Device) Lost() error {
	_, _, err := d.ctx.MemoryInfo() // any call tells
	var e *driver.Error
	if errors.As(err, &e) && e.Code.Sticky() {
		return d.failed("lost", err)
	}
	return nil
}

// Close waits for all work and gives everything back.
func (d *Device) Close() error {
	if err := errors.Join(d.blas.close(d), d.dnn.close(d)); err != nil {
		return errors.Join(err, d.ctx.Close())
	}
	return d.ctx.Close()
}

// Name is that of Open, cuda:0 for instance.
func (d *Device) Name() string { return d.name }

// Info describes the GPU.
func (d *Device) Info() driver.Info { return d.ctx.Info() }

// Counts is what was asked of the GPU so far.
func (d *Device) Counts() driver.Counts { return d.ctx.Counts() }

// Asked is what was asked of the GPU so far.
func (d *Device) Asked() ir.DeviceCounts {
	c := d.ctx.Counts()
	return ir.DeviceCounts{
		Launches: c.Launches + c.GraphLaunches, Kernels: c.Launches + c.GraphNodes, Copies: c.Copies, ToDevice: c.BytesToDevice, ToHost: c.BytesToHost,
		Waits: c.Syncs, Allocs: c.Allocs, Frees: c.Frees, Graphs: c.Instantiates, Revisions: c.Updates,
	}
}

// Wait ends when all work is done. What kernels have found wrong is its error.
func (d *Device) Wait() error {
	if err := d.ctx.SyncStream(d.stream); err != nil {
		return d.failed("wait", err)
	}
	if err := d.measure(); err != nil {
		return d.failed("measure", err)
	}
	return d.faults.check(d.marks.last)
}

// Alloc gives memory, that which was freed first.
func (d *Device) Alloc(bytes int) (ir.Storage, error) {
	s, err := d.memory.alloc(bytes)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Free keeps the memory for the next Alloc of its size.
func (d *Device) Free(s ir.Storage) { d.memory.free(s.(*storage)) }

// Trim gives the memory that no tensor uses back to the system, for other libraries
// and processes.
func (d *Device) Trim() error { return d.memory.trim() }

// Write copies host bytes to dst behind all work that was asked for before, and
// does not wait for that.
func (d *Device) Write(dst ir.Storage, offset int, src []byte) error {
	s := dst.(*storage)
	if err := d.staging.write(s.at+driver.Pointer(offset), src); err != nil {
		return d.failed("write", err)
	}
	return d.mark(s)
}

// mark notes that the work up to here writes some memory.
func (d *Device) mark(written ...*storage) error {
	n, err := d.marks.record(d.stream)
	if err != nil {
		return d.failed("record", err)
	}
	for _, s := range written {
		s.written = n
	}
	return nil
}

// Read copies bytes of src to the host. It waits for the work that writes src, and
// not for what was asked for since. What kernels have found wrong until then is its
// error.
func (d *Device) Read(dst []byte, src ir.Storage, offset int) error {
	s := src.(*storage)
	if err := d.marks.wait(d.reads, s.written); err != nil {
		return d.failed("read", err)
	}
	if s.written != 0 && trace.Profile() != nil { // which tells waiting from copying
		if err := d.ctx.SyncEvent(d.marks.event(s.written)); err != nil {
			return d.failed("read", err)
		}
	}
	at := s.at + driver.Pointer(offset)
	for len(dst) > 0 {
		n := min(len(dst), len(d.host))
		if err := d.ctx.CopyToHost(d.host[:n], at, d.reads); err != nil {
			return d.failed("read", err)
		}
		if err := d.ctx.SyncStream(d.reads); err != nil {
			return d.failed("read", err)
		}
		copy(dst, d.host[:n])
		dst, at = dst[n:], at+driver.Pointer(n)
	}
	return d.faults.check(s.written)
}

// failed gives an error of the driver the device's name. Memory that there is no
// more of has an error of its own.
func (d *Device) failed(what string, err error) error {
	if errors.Is(err, driver.OutOfMemory) {
		return d.memory.exhausted(0)
	}
	return fmt.Errorf("%s: %s: %w", d.name, what, err)
}
