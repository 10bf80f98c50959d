package ir

import "time"

// Measurement is what a device has measured of a kernel.
type Measurement struct {
	Times []time.Duration // of the runs
	GPU   *GPUUse         // nil if it is no GPU
}

// GPUUse is what a kernel uses on a GPU, and the GPU.
type GPUUse struct {
	Name       string // of the GPU
	Capability int    // 90 for 9.0
	SMs        int
	Registers  int // of a thread; 0 if they are not known
	Local      int // bytes of local memory of a thread
	Shared     int // bytes of shared memory of a block
}

// KernelMeasurer is implemented by a device that measures kernels of the program, other than one with HostMemory.
type KernelMeasurer interface {
	// MeasureKernel runs a kernel a number of times. Before each run it copies from, which is nil for tensors that the kernel only reads, to memory.
	MeasureKernel(k Kernel, memory, from []Elements, runs int) (Measurement, error)
}

// MeasureKernel runs the list, and then a kernel a number of times on the elements of values. It does not change them.
func (r *Recorder) MeasureKernel(k Kernel, values []*Value, written []bool, runs int) (m Measurement, err error) {
	var copies []*Value
	defer func() {
		for _, v := range copies {
			r.Release(v)
		}
	}()
	copied := func(v *Value) *Value {
		copies = append(copies, r.copied(v))
		return copies[len(copies)-1]
	}
	r.Flush()
	originals, used := make([]*Value, len(values)), make([]*Value, len(values))
	for i, v := range values {
		v.check("Profile")
		if originals[i] = v; v.buf.device != r.device || !v.layout.Contiguous() {
			originals[i] = copied(v)
		}
		if used[i] = originals[i]; written[i] {
			used[i] = copied(v)
		}
	}
	r.Flush()
	memory, from := r.elements(used, written), r.elements(originals, written)
	switch d := r.device.(type) {
	case HostMemory:
		all := hostElements(d, memory)
		for range runs {
			for i, f := range hostElements(d, from) {
				if written[i] {
					copy(all[i], f)
				}
			}
			begin := time.Now()
			if err := k.Host(all); err != nil {
				return m, err
			}
			m.Times = append(m.Times, time.Since(begin))
		}
		return m, nil
	case KernelMeasurer:
		for i := range from {
			if !written[i] {
				from[i].Storage = nil
			}
		}
		return d.MeasureKernel(k, memory, from, runs)
	}
	return m, &StateError{Op: "Profile", Hint: "the device " + r.device.Name() + " does not run kernels of the program"}
}

// elements returns where the elements of values are.
func (r *Recorder) elements(values []*Value, written []bool) []Elements {
	memory := make([]Elements, len(values))
	for i, v := range values {
		size := v.dtype.Size()
		memory[i] = Elements{v.buf.Storage, v.layout.Offset * size, v.Len() * size, written[i]}
	}
	return memory
}

// hostElements returns the elements themselves.
func hostElements(d HostMemory, memory []Elements) [][]byte {
	all := make([][]byte, len(memory))
	for i, m := range memory {
		all[i] = d.Bytes(m.Storage)[m.Offset:][:m.Bytes:m.Bytes]
	}
	return all
}
