package cuda

import (
	"errors"
	"fmt"
	"time"

	"github.com/quernlab/quern/accel/internal/cuda/cubin"
	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/trace"
)

// Device runs programs on one GPU.
type Device struct {
	*queue
	host   []byte // pinned, for reads
	faults *faults

	libraries *libraries
	selected  map[any]int  // the candidate that was selected, by the step's key
	tuned     *tuningCache // measured selections; nil until one is needed
	warmed    time.Time    // when the last measurement began

	tf32     bool // of SetTF32
	patience patience

	unreachable unreachable // programs
}

var (
	_ ir.Device       = (*Device)(nil)
	_ ir.KernelLister = (*Device)(nil)
)

// Open opens GPU number of a driver. The name is used in errors. The device uses
// libraries where they are faster than its own kernels. The caller closes it.
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

func newDevice(name string, raw driver.Context, use Libraries) (d *Device, err error) {
	ctx := &profiledContext{Context: raw}
	if err := use.Variants.available(raw.Info()); err != nil {
		return nil, err
	}
	code := newCode(ctx, use.Variants.Early)
	if use.Variants.Cubin {
		if code.assembler, err = cubin.New(raw.Info().Capability()); err != nil {
			return nil, &UnavailableVariantError{"cubin=on", err.Error()}
		}
	}
	q, err := newQueue(name, ctx, code)
	if err != nil {
		return nil, err
	}
	if ctx.reads, err = ctx.NewStream(); err != nil {
		return nil, err
	}
	d = &Device{queue: q, faults: newFaults(ctx, q.timeline), libraries: newLibraries(q, use), selected: map[any]int{}, patience: standardPatience}
	d.host, err = ctx.AllocHost(readBytes)
	return d, err
}

// readBytes is the maximum number of bytes of one copy to the host.
const readBytes = 1 << 20

// Lost returns the error with which the GPU failed permanently; nil while it works.
func (d *Device) Lost() error {
	_, _, err := d.ctx.MemoryInfo() // any call fails then
	if driver.Lost(err) {
		return d.failed("lost", err)
	}
	return nil
}

// Close waits for all work and releases everything.
func (d *Device) Close() error {
	if err := d.libraries.close(); err != nil {
		return errors.Join(err, d.ctx.Close())
	}
	return d.ctx.Close()
}

// Name returns that of Open, cuda:0 for instance.
func (d *Device) Name() string { return d.name }

// Info describes the GPU.
func (d *Device) Info() driver.Info { return d.ctx.Info() }

// Counts counts the calls of the driver so far.
func (d *Device) Counts() driver.Counts { return d.ctx.Counts() }

// DeviceCounts counts launches, copies, waits and allocations so far.
func (d *Device) DeviceCounts() ir.DeviceCounts {
	c := d.ctx.Counts()
	return ir.DeviceCounts{
		Launches: c.Launches + c.GraphLaunches, Kernels: c.Launches + c.GraphNodes, Copies: c.Copies, ToDevice: c.BytesToDevice, ToHost: c.BytesToHost,
		Waits: c.Syncs, Allocs: c.Allocs, Frees: c.Frees, Graphs: c.Instantiates, Revisions: c.Updates,
	}
}

// Wait returns when all work is done. Its error may be a fault that a kernel reported.
func (d *Device) Wait() error {
	if err := d.ctx.SyncStream(d.stream); err != nil {
		return d.failed("wait", err)
	}
	if err := d.profile.measure(); err != nil {
		return d.failed("measure", err)
	}
	return d.faults.check(d.timeline.last)
}

// Alloc returns memory, of the pool if it has a block of the size.
func (d *Device) Alloc(bytes int) (ir.Storage, error) {
	s, err := d.memory.alloc(bytes)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Free puts the memory into the pool, for the next Alloc of its size.
func (d *Device) Free(s ir.Storage) { d.memory.free(s.(*storage)) }

// Trim returns the memory of the pool to the system, for other libraries and processes.
func (d *Device) Trim() error { return d.memory.trim() }

// Write copies host bytes to dst in stream order, without waiting for earlier work.
func (d *Device) Write(dst ir.Storage, offset int, src []byte) error {
	s := dst.(*storage)
	if err := d.staging.write(s.at+driver.Pointer(offset), src); err != nil {
		return d.failed("write", err)
	}
	return d.mark(s)
}

// Read copies bytes of src to the host. It waits for the work that writes src, not for
// later work. Its error may be a fault that a kernel reported before.
func (d *Device) Read(dst []byte, src ir.Storage, offset int) error {
	s := src.(*storage)
	if err := d.timeline.wait(d.ctx.reads, s.written); err != nil {
		return d.failed("read", err)
	}
	if s.written != 0 && trace.Profile() != nil { // a profile separates waiting from copying
		if err := d.ctx.SyncEvent(d.timeline.event(s.written)); err != nil {
			return d.failed("read", err)
		}
	}
	at := s.at + driver.Pointer(offset)
	for len(dst) > 0 {
		n := min(len(dst), len(d.host))
		if err := d.ctx.CopyToHost(d.host[:n], at, d.ctx.reads); err != nil {
			return d.failed("read", err)
		}
		if err := d.ctx.SyncStream(d.ctx.reads); err != nil {
			return d.failed("read", err)
		}
		copy(dst, d.host[:n])
		dst, at = dst[n:], at+driver.Pointer(n)
	}
	return d.faults.check(s.written)
}

// Reserved returns the bytes that the driver has allocated for tensors, including unused blocks of the pool, and for
// temporaries.
func (d *Device) Reserved() int { return d.memory.blocks + d.arenaBytes }

// Memory returns the bytes of the GPU's memory.
func (d *Device) Memory() int { return d.ctx.Info().Memory }

// Detected implements ir.Detector.
func (d *Device) Detected() error { return d.faults.first() }
