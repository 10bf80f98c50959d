package accel

import (
	"fmt"
	"runtime"
	"slices"

	"github.com/quernlab/quern/accel/internal/cpu"
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/training/loop"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/internal/quantity"
	"github.com/quernlab/quern/plots"
)

// SetDevice makes all computations run on a device from now on: "cpu", "cuda" for the first
// GPU, "cuda:1" for the second, or "simulated" for a GPU that the CPU simulates, to test
// programs without one. Programs must import package accel/simulated for simulated devices;
// cells need not. Existing tensors, such as the weights of models, move to the device when they
// are used next. The error says why a device is not available. To set the device of one
// training, use [On].
//
// Tensors on a GPU are in its memory: what does not fit is a [*tensor.OutOfMemoryError], and nothing moves to the memory of the
// host and back. CUDA's managed memory is not used, since a training reads everything in each step, so that what exceeds
// the memory would cross the link to the host every time. [Accumulate], [Recompute] and [AMP] need less memory.
//
// The initial device is the one that the environment variable QUERN_DEVICE names, by default
// the CPU.
func SetDevice(device string) error { return tensors.SetDevice(device) }

// Device returns the name of the current device, such as "cpu" or "cuda:0".
func Device() string { return tensors.Device() }

// DeviceLost returns the error with which a GPU has failed permanently: its memory is lost and this
// process cannot use it any more. It returns nil if no GPU has failed or none was used.
func DeviceLost() error { return tensors.DeviceLost() }

// AllowTF32 sets whether matrix multiplications and convolutions of float32 tensors (MatMul, Linear, Conv2D and their
// gradients) may use the tensor cores of a GPU in TF32, and returns the previous setting. TF32 rounds the factors to a
// 10-bit mantissa and accumulates in float32: several times faster, with relative errors of about 1e-3. The default
// is false. It has no effect on attention or on the CPU. It combines torch.backends.cuda.matmul.allow_tf32 and
// torch.backends.cudnn.allow_tf32. [AMP] is faster still.
func AllowTF32(on bool) (before bool) { return tensors.AllowTF32(on) }

// On trains on the given device and switches back afterwards. With [Compare], the CPU and a GPU
// can be two variants.
func On(device string) Option {
	return plain(fmt.Sprintf("On(%q)", device), func(c *loop.Settings) { c.Device = device }).perRank().
		require(device != "", "the name of the device is empty: use one that SetDevice takes, such as \"cpu\"")
}

// GPU describes a GPU that [SetDevice] can name.
type GPU = tensors.GPU

// Library is an NVIDIA library that a GPU uses, if installed, where it is faster than the kernels of this package.
type Library = tensors.Library

// DeviceList is the list of devices that [Devices] found. It displays itself as a table.
type DeviceList struct {
	InUse string // the current device
	GPUs  []GPU  // that SetDevice can name; empty if there is none
	// CPUKernels is the instruction set with which the CPU computes and, on macOS, whether Accelerate multiplies large matrices. It
	// does if its results agree with those of the CPU's own kernels and it is faster, unless the environment variable
	// QUERN_CPU_LIBRARY is "off".
	CPUKernels string
	// Missing is the reason why there is no GPU; empty if there is one.
	Missing string
	// Libraries are the NVIDIA libraries and whether the GPUs use them; nil in a browser.
	Libraries []Library
}

// Devices returns the devices that [SetDevice] accepts.
func Devices() *DeviceList {
	l := &DeviceList{InUse: tensors.Device(), CPUKernels: cpu.Kernels(), Libraries: tensors.Libraries()}
	var err error
	if l.GPUs, err = tensors.GPUs(); err != nil {
		l.Missing = err.Error()
	}
	return l
}

// Report returns the table.
func (l *DeviceList) Report() *display.Report {
	mark := func(name string) string {
		if name == l.InUse {
			return "in use"
		}
		return ""
	}
	t := new(display.Report).Table("device", "", "memory", "cores, SMs", "capability", "")
	t.Row("cpu", runtime.GOARCH, "", runtime.GOMAXPROCS(0), "", mark("cpu"))
	for _, g := range l.GPUs {
		t.Row(g.Device, g.Name, fmt.Sprintf("%.0f GiB", float64(g.Memory)/(1<<30)), g.SMs, g.Capability, mark(g.Device))
	}
	if l.InUse != "" && l.InUse != "cpu" && !slices.ContainsFunc(l.GPUs, func(g tensors.GPU) bool { return g.Device == l.InUse }) {
		t.Row(l.InUse, "", "", "", "", mark(l.InUse)) // a simulated GPU
	}
	t.Text(l.Missing)
	if l.Missing == "" {
		for _, library := range l.Libraries {
			t.Text(library.String())
		}
	}
	return t
}

// String returns the table as text.
func (l *DeviceList) String() string { return l.Report().String() }

// MemoryUse is the memory of tensors on a device; [Memory] returns it. It displays itself as a figure.
type MemoryUse struct {
	Device    string // for [SetDevice]
	Allocated int    // bytes of tensors that can be reached
	// Reserved is the bytes that the device holds for tensors. A GPU keeps freed memory for later tensors, so that it need not ask the
	// driver, and the temporaries of its plans. On the CPU these are the tensors that the garbage collector had not removed when
	// Memory was called, and the temporaries.
	Reserved int
	Peak     int // the most bytes of tensors and temporaries at once since the start of the program
	Limit    int // bytes that tensors may take: a GPU's memory, or that of [tensor.SetMemoryLimit]; 0 if unknown
}

// Memory returns how much memory the tensors of the program take on the current device, like torch.cuda.memory_allocated,
// memory_reserved and max_memory_allocated. It runs the operations recorded so far and the garbage collector. prof.Run shows what the
// memory of a training step is for, and [tensors.PeakBytes] measures the peak of a function. The error is that of an operation that failed.
func Memory() (use *MemoryUse, err error) {
	defer nn.Catch(&err)
	m := tensors.MemoryUse()
	return &MemoryUse{Device: tensors.Device(), Allocated: m.Allocated, Reserved: m.Reserved, Peak: m.Peak, Limit: m.Limit}, nil
}

// Figure draws the memory as bars.
func (m *MemoryUse) Figure() *plots.Figure {
	unit, name := quantity.Unit(float64(max(m.Reserved, m.Peak)))
	in := func(bytes int) float64 { return float64(bytes) / unit }
	f := plots.Bar("Memory of tensors on "+m.Device, []string{"allocated", "reserved", "peak"}, []float64{in(m.Allocated), in(m.Reserved), in(m.Peak)}).XLabel(name)
	if m.Limit > 0 {
		f.Subtitle("of " + quantity.Bytes(m.Limit))
	}
	return f
}

// String returns the memory in one line.
func (m *MemoryUse) String() string {
	text := fmt.Sprintf("tensors on %s: %s allocated, %s reserved, %s at the peak", m.Device, quantity.Bytes(m.Allocated), quantity.Bytes(m.Reserved), quantity.Bytes(m.Peak))
	if m.Limit > 0 {
		text += ", of " + quantity.Bytes(m.Limit)
	}
	return text
}

// Report returns the figure and the line.
func (m *MemoryUse) Report() *display.Report {
	return new(display.Report).Figure(m.Figure()).Alt(m.String())
}

// Seed sets the seed of all random numbers from here on: initial weights, the order of the
// examples in [Fit], and dropout. Two runs after the same seed are equal bit for bit, whatever
// the number of cores and workers. A program starts as if Seed(0) had been called.
func Seed(n uint64) { tensors.Seed(n) }

// Statistics counts what the tensor runtime did since the start of the program.
type Statistics struct {
	Flushes   int // lists of operations that were run
	PlansMade int // lists that needed a new plan
	PlanHits  int // lists that reused a plan
	Syncs     int // times that the program waited for a result
	Ops       int // operations in all lists
	Steps     int // fused kernels and matrix multiplications after fusion
	LiveBytes int // of reachable tensors, as of the last garbage collection
	PeakBytes int // highest LiveBytes plus the temporaries of the plan that ran
	PlanBytes int // that the plans allocate for temporaries

	Device DeviceCounts // operations of a GPU
}

// DeviceCounts counts the calls to a GPU's driver.
type DeviceCounts = ir.DeviceCounts

// Stats returns the counts since the start of the program.
func Stats() Statistics { return Statistics(tensors.Stats()) }
