package ir

import "context"

// Kernel is a launch of a kernel that the program has written.
type Kernel interface {
	// Name returns its name, for errors and profiles.
	Name() string
	// Context returns the context that ends a run of the kernel where a device can do that, for the goroutine that runs it. The
	// caller calls end when it no longer needs the context.
	Context() (ctx context.Context, end func())
	// Host runs it on the elements of its tensors.
	Host(memory [][]byte) error
	// PTX returns a module with the kernel, and the name of its entry.
	PTX() (text, entry string, err error)
	// Shape returns the number of blocks and of the threads of each along x, y and z.
	Shape() (grid, block [3]int)
	// SharedBytes returns the size of the shared memory of a block whose size the launch determines.
	SharedBytes() int
	// Params returns the parameters of the entry: addresses are those of the elements of its tensors, record that of RecordBytes bytes,
	// which are 255.
	Params(addresses []uint64, record uint64) []byte
	RecordBytes() int
	// Check returns the error that the kernel has recorded, or nil. A kernel that has recorded one has changed the first 8 bytes.
	Check(record []byte) error
	// Explain returns the error to return for one of a simulated GPU.
	Explain(err error) error
}

// Elements are the elements of a value in row-major order.
type Elements struct {
	Storage Storage
	Offset  int // bytes
	Bytes   int
	Written bool
}

// KernelLauncher is implemented by a device that runs kernels of the program, other than one with HostMemory.
type KernelLauncher interface {
	// LaunchKernel runs a kernel and waits for it.
	LaunchKernel(k Kernel, memory []Elements) error
}

// LaunchKernel runs the list, and then a kernel on the elements of values. A holder of a value that is written gets a new value if
// something else can see the old one.
func (r *Recorder) LaunchKernel(k Kernel, holders []**Value, written []bool) error {
	for _, h := range holders {
		(*h).check("Launch")
		for _, t := range r.tracers {
			t.reading("Launch", *h, r.layer)
		}
	}
	r.Flush()
	var copies []*Value
	defer func() {
		for _, v := range copies {
			r.Release(v)
		}
	}()
	values := make([]*Value, len(holders))
	for i, h := range holders {
		v := *h
		here := v.buf.device == r.device && v.layout.Contiguous()
		switch {
		case written[i] && here && v.handles == 1 && v.tape == 0 && !v.buf.shared && v.layout.Offset == 0:
			r.forgetRounded(v)
			if v.moved {
				*h = r.takeOver(v)
			}
		case written[i]:
			r.forgetRounded(v)
			next := r.copied(v)
			next.leaf, next.requires, next.rounded = v.leaf, v.leaf != nil, v.rounded
			*h = next
			r.Release(v)
		case !here:
			copies = append(copies, r.copied(v))
			values[i] = copies[len(copies)-1]
		}
		if values[i] == nil {
			values[i] = *h
		}
	}
	r.Flush()
	return r.runKernel(k, values, written)
}

// copied records a copy of a value.
func (r *Recorder) copied(v *Value) *Value {
	r.noGrad++
	defer func() { r.noGrad-- }()
	return r.Record(Copy{}, v).Hold()
}

func (r *Recorder) runKernel(k Kernel, values []*Value, written []bool) error {
	memory := r.elements(values, written)
	switch d := r.device.(type) {
	case HostMemory:
		return k.Host(hostElements(d, memory))
	case KernelLauncher:
		return d.LaunchKernel(k, memory)
	}
	return &StateError{Op: "Launch", Hint: "the device " + r.device.Name() + " does not run kernels of the program"}
}
