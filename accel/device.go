package accel

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"

	"github.com/quernlab/quern/accel/tensor"
)

// SetDevice makes all computations run on a device from now on: "cpu", "cuda" for the first
// GPU, "cuda:1" for the second, or "simulated" for a GPU that the CPU simulates, to test
// programs without one. Programs must import package accel/simulated for simulated devices;
// cells need not. Existing tensors, such as the weights of models, move to the device when they
// are used next. The error says why a device is not available. To set the device of one
// training, use [On].
//
// Tensors on a GPU are in its memory: what does not fit is a [*OutOfMemoryError], and nothing moves to the memory of the
// host and back. CUDA's managed memory is not used, since a training reads everything in each step, so that what exceeds
// the memory would cross the link to the host every time. [Accumulate], [Recompute] and [AMP] need less memory.
//
// The initial device is the one that the environment variable QUERN_DEVICE names, by default
// the CPU.
func SetDevice(device string) error { return tensor.SetDevice(device) }

// Device returns the name of the current device.
func Device() string { return tensor.Device() }

// On trains on the given device and switches back afterwards. With [Compare], the CPU and a GPU
// can be two variants.
func On(device string) Option {
	return plain(fmt.Sprintf("On(%q)", device), func(c *options) { c.device = device }).perRank()
}

// useDevice switches to the device of the options. The caller calls back after the training.
func (c *options) useDevice() (back func() error, err error) {
	before := tensor.Device()
	device := c.ownGPU(before)
	if device == "" {
		return func() error { return nil }, nil
	}
	if err := tensor.SetDevice(device); err != nil {
		return nil, err
	}
	return func() error { return tensor.SetDevice(before) }, nil
}

// ownGPU returns the device of the options. If several ranks run on one machine, each gets a
// GPU of its own.
func (c *options) ownGPU(inUse string) string {
	if c.group == nil || c.group.LocalSize() == 1 {
		return c.device
	}
	gpus, err := tensor.GPUs()
	if err != nil {
		return c.device // tensor.SetDevice will report the error
	}
	return gpuOf(c.group.LocalRank(), len(gpus), c.device, inUse)
}

// gpuOf returns the GPU of a rank: the one with its local rank among the machine's, if On or
// the current device name the first GPU. If the launcher shows each rank only one GPU, all use
// that. The result is empty if the device does not change.
func gpuOf(localRank, gpus int, on, inUse string) string {
	if asked := cmp.Or(on, inUse); gpus == 0 || asked != "cuda" && asked != "cuda:0" {
		return on
	}
	return fmt.Sprintf("cuda:%d", localRank%gpus)
}

// DeviceList is the list of devices that [Devices] found. It displays itself as a table.
type DeviceList struct {
	InUse string       // the current device
	GPUs  []tensor.GPU // that SetDevice can name; empty if there is none
	// Missing is the reason why there is no GPU; empty if there is one.
	Missing string
	// Libraries are the NVIDIA libraries and whether the GPUs use them; nil without a GPU.
	Libraries []tensor.Library
}

// Devices returns the devices that [SetDevice] accepts.
func Devices() *DeviceList {
	l := &DeviceList{InUse: tensor.Device()}
	var err error
	if l.GPUs, err = tensor.GPUs(); err != nil {
		l.Missing = err.Error()
		return l
	}
	l.Libraries = tensor.Libraries()
	return l
}

func (l *DeviceList) table() table {
	mark := func(name string) string {
		if name == l.InUse {
			return "in use"
		}
		return ""
	}
	t := table{headings: []string{"device", "", "memory", "cores, SMs", "capability", ""}}
	t.rows = append(t.rows, []string{"cpu", runtime.GOARCH, "", fmt.Sprint(runtime.GOMAXPROCS(0)), "", mark("cpu")})
	for _, g := range l.GPUs {
		t.rows = append(t.rows, []string{g.Device, g.Name, fmt.Sprintf("%.0f GiB", float64(g.Memory)/(1<<30)), fmt.Sprint(g.SMs), g.Capability, mark(g.Device)})
	}
	if l.InUse != "" && !slices.ContainsFunc(t.rows, func(row []string) bool { return row[0] == l.InUse }) {
		t.rows = append(t.rows, []string{l.InUse, "", "", "", "", mark(l.InUse)}) // a simulated GPU
	}
	t.below = l.Missing
	for _, library := range l.Libraries {
		t.below += library.String() + "\n"
	}
	return t
}

// String returns the table as text.
func (l *DeviceList) String() string { return l.table().text() }

// MIMEBundle returns the table as HTML and text.
func (l *DeviceList) MIMEBundle() map[string]any { return l.table().bundle() }

// trainsOnCPU reports whether the training will run on the CPU.
func (o *options) trainsOnCPU() bool { return o.device == "cpu" || o.device == "" && onCPU() }
