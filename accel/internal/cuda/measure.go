package cuda

import (
	"bytes"
	"time"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/engine/ir"
)

var _ ir.KernelMeasurer = (*Device)(nil)

// MeasureKernel runs a kernel that the program has written a number of times, between two events each. It waits for the runs, and for a fault.
func (d *Device) MeasureKernel(k ir.Kernel, memory, from []ir.Elements, runs int) (m ir.Measurement, err error) {
	f, uses, err := d.loadKernel(k)
	if err != nil {
		return m, err
	}
	gpu := d.ctx.Info()
	m.GPU = &ir.GPUUse{
		Name: gpu.Name, Capability: gpu.Capability(), SMs: gpu.SMs,
		Registers: uses.Registers, Local: uses.Local, Shared: uses.Shared,
	}
	record, err := d.memory.alloc(max(k.RecordBytes(), 1))
	if err != nil {
		return m, err
	}
	defer d.memory.free(record)
	if err := d.Write(record, 0, bytes.Repeat([]byte{255}, k.RecordBytes())); err != nil {
		return m, err
	}
	addresses := make([]uint64, len(memory))
	written := []*storage{record}
	for i, e := range memory {
		addresses[i] = uint64(address(e))
		if e.Written {
			written = append(written, e.Storage.(*storage))
		}
	}
	launch := launchOf(k, f, addresses, record.at)
	var detected error
	launch.Detected = func(err error) { detected = k.Explain(err) }
	var events [2]driver.Event
	for i := range events {
		if events[i], err = d.ctx.NewEvent(true); err != nil {
			return m, d.failed("measure", err)
		}
		defer func() { _ = d.ctx.CloseEvent(events[i]) }() // nothing waits for it
	}
	for range runs {
		took, err := d.measured(launch, memory, from, events)
		if err != nil {
			return m, d.failed("measure", err)
		}
		if detected != nil {
			return m, detected
		}
		m.Times = append(m.Times, took)
	}
	if err := d.mark(written...); err != nil {
		return m, err
	}
	found := make([]byte, k.RecordBytes())
	if err := d.Read(found, record, 0); err != nil || len(found) == 0 {
		return m, err
	}
	return m, k.Check(found)
}

// measured returns the time of one run.
func (d *Device) measured(l driver.Launch, memory, from []ir.Elements, events [2]driver.Event) (time.Duration, error) {
	for i, e := range from {
		if e.Storage == nil || e.Bytes == 0 {
			continue
		}
		if err := d.ctx.Copy(address(memory[i]), address(e), e.Bytes, d.stream); err != nil {
			return 0, err
		}
	}
	if err := d.ctx.Record(events[0], d.stream); err != nil {
		return 0, err
	}
	if err := d.ctx.Launch(l, d.stream); err != nil {
		return 0, err
	}
	if err := d.ctx.Record(events[1], d.stream); err != nil {
		return 0, err
	}
	if err := d.ctx.SyncEvent(events[1]); err != nil {
		return 0, err
	}
	ms, err := d.ctx.Elapsed(events[0], events[1])
	return time.Duration(ms * float64(time.Millisecond)), err
}

// address returns where elements begin.
func address(e ir.Elements) driver.Pointer {
	return e.Storage.(*storage).at + driver.Pointer(e.Offset)
}
