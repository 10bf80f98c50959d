package cuda

import (
	"bytes"
	"fmt"
	"runtime"
	"time"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// LaunchKernel runs a kernel that the program has written, in the stream, and waits for its fault record.
func (d *Device) LaunchKernel(k ir.Kernel, memory []ir.Elements) error {
	f, _, err := d.loadKernel(k)
	if err != nil {
		return err
	}
	record, err := d.memory.alloc(k.RecordBytes())
	if err != nil {
		return err
	}
	defer d.memory.free(record)
	if err := d.Write(record, 0, bytes.Repeat([]byte{255}, k.RecordBytes())); err != nil {
		return err
	}
	addresses := make([]uint64, len(memory))
	written := []*storage{record}
	for i, m := range memory {
		s := m.Storage.(*storage)
		addresses[i] = uint64(s.at) + uint64(m.Offset)
		if m.Written {
			written = append(written, s)
		}
	}
	before, err := d.timeline.record(d.stream)
	if err != nil {
		return d.failed("launch", err)
	}
	var detected error
	l := launchOf(k, f, addresses, record.at)
	l.Detected = func(err error) { detected = k.Explain(err) }
	if err := d.ctx.Launch(l, d.stream); err != nil {
		return d.failed("launch", err)
	}
	if err := d.mark(written...); err != nil {
		return err
	}
	if err := d.await(k, before, record.written); err != nil {
		return err
	}
	found := make([]byte, k.RecordBytes())
	if err := d.Read(found, record, 0); err != nil {
		return err
	}
	ctx, end := k.Context()
	defer end()
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := k.Check(found); err != nil {
		return err // found before what a simulated GPU has detected
	}
	return detected
}

// loadKernel returns the function of a kernel, which may be launched with the shared memory that the kernel needs, and what it uses.
func (d *Device) loadKernel(k ir.Kernel) (f driver.Function, uses driver.FunctionInfo, err error) {
	text, entry, err := k.PTX()
	if err != nil {
		return 0, uses, err
	}
	if f, err = d.code.module(text, entry, k.Name()); err != nil {
		return 0, uses, d.failed("load a kernel", err)
	}
	if uses, err = d.code.info(f); err != nil {
		return 0, uses, d.failed("describe a kernel", err)
	}
	if most := d.ctx.Info().SharedPerBlock; uses.Shared+k.SharedBytes() > most {
		return 0, uses, fmt.Errorf("a block needs %d bytes of shared memory, %d of them of SharedBytes and %d of arrays with a size: this GPU has at most %d",
			uses.Shared+k.SharedBytes(), k.SharedBytes(), uses.Shared, most)
	}
	if err := d.code.allowShared(f, k.SharedBytes()); err != nil {
		return 0, uses, d.failed("load a kernel", err)
	}
	return f, uses, nil
}

// await waits for a kernel, which has run when the point after is reached. It begins at the point before.
func (d *Device) await(k ir.Kernel, before, after uint64) error {
	if err := d.poll(before, func(time.Duration) error { return nil }); err != nil {
		return err
	}
	ctx, end := k.Context()
	defer end()
	_, deadline := ctx.Deadline()
	var ended time.Duration // when the context has ended
	return d.poll(after, func(waited time.Duration) error {
		switch {
		case ctx.Err() == nil && (deadline || waited < d.patience.limit):
			return nil
		case ended == 0:
			ended = max(waited, 1)
			return nil
		case waited-ended < d.patience.grace:
			return nil
		}
		return fmt.Errorf("kernel %s runs on the GPU for %v and has not ended. A GPU cannot interrupt a kernel: restart the session to end it. Check the loops of the kernel "+
			"with kernel.Check; if it needs more time, pass LaunchContext a context with a later deadline", k.Name(), waited.Round(time.Millisecond))
	})
}

// poll waits until a point is reached, or f, which is called from time to time, returns an error. What waited counts is the time
// without work of this process, in which a simulated device runs.
func (d *Device) poll(point uint64, f func(waited time.Duration) error) error {
	const spins = 1000 // a short kernel needs no timer
	var waited time.Duration
	for n := 0; ; n++ {
		done, err := d.ctx.Done(d.timeline.event(point))
		if err != nil {
			return d.failed("launch", err)
		}
		if done {
			return nil
		}
		if n < spins {
			runtime.Gosched()
			continue
		}
		pause := min(time.Duration(n-spins+1)*10*time.Microsecond, 2*time.Millisecond)
		time.Sleep(pause)
		waited += pause
		if err := f(waited); err != nil {
			return err
		}
	}
}

var _ ir.KernelLauncher = (*Device)(nil)

// launchOf returns the launch of a kernel.
func launchOf(k ir.Kernel, f driver.Function, addresses []uint64, record driver.Pointer) driver.Launch {
	dim := func(n [3]int) driver.Dim { return driver.Dim{X: uint32(n[0]), Y: uint32(n[1]), Z: uint32(n[2])} }
	grid, block := k.Shape()
	return driver.Launch{Function: f, Grid: dim(grid), Block: dim(block), Shared: k.SharedBytes(), Params: k.Params(addresses, uint64(record)), Label: "kernel " + k.Name(), Context: k.Context}
}

// module returns a kernel of a module that the program has written, which other kernels do not launch early. Kernels with the same text
// share the module and its variables.
func (c *code) module(text, entry, name string) (driver.Function, error) {
	return c.function(text, entry, name, func() (driver.Module, error) {
		m, err := c.assembled(text)
		if err != nil {
			return 0, fmt.Errorf("load a kernel: %w", err)
		}
		return m, nil
	})
}
