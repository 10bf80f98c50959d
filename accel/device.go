package accel

import (
	"cmp"
	"fmt"
	"runtime"

	"github.com/quernlab/quern/accel/tensor"
)

// SetDevice has everything be computed on another device from now on: "cpu", "cuda" for
// the first GPU, "cuda:1" for the second, or "simulated" for a GPU that the
// CPU simulates, to try without one whether a program would run on it; a
// program imports package accel/simulated for it, cells need not. Tensors that exist, the weights of models for instance, follow when they are used next.
// The error says why there is no such device. [On] does it for one training.
//
// A program begins with the device that the environment variable QUERN_DEVICE
// names, and with the processor if there is none.
func SetDevice(device string) error { return tensor.SetDevice(device) }

// Device returns the name of the device that computes.
func Device() string { return tensor.Device() }

// On trains on a device, as if [SetDevice] were called before and undone after: Compare
// then takes the processor and a GPU as two variants.
func On(device string) Option {
	return plain(fmt.Sprintf("On(%q)", device), func(c *options) { c.device = device }).perRank()
}

// useDevice switches to the device of the options. The caller calls back when the
// training is over.
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

// ownGPU returns the device of the options, for one of several ranks on a machine a GPU of its
// own.
func (c *options) ownGPU(inUse string) string {
	if c.group == nil || c.group.LocalSize() == 1 {
		return c.device
	}
	gpus, err := tensor.GPUs()
	if err != nil {
		return c.device // what is wrong Use says
	}
	return gpuOf(c.group.LocalRank(), len(gpus), c.device, inUse)
}

// gpuOf returns the GPU of a rank: that of its number among those of the machine, where the
// first is asked for, by On or by what is in use. Launchers that show each rank one GPU
// leave nothing to choose. It is empty if the device stays.
func gpuOf(localRank, gpus int, on, inUse string) string {
	if asked := cmp.Or(on, inUse); gpus == 0 || asked != "cuda" && asked != "cuda:0" {
		return on
	}
	return fmt.Sprintf("cuda:%d", localRank%gpus)
}

// DeviceList is what [Devices] found. It shows itself as a table.
type DeviceList struct {
	InUse string // the device that computes
	GPUs  []tensor.GPU
	// Missing says in one line why there is no GPU; empty if there is one.
	Missing string
	// Libraries are those of NVIDIA that the GPUs use, or not; nil without a GPU.
	Libraries []tensor.Library
}

// Devices returns those that [SetDevice] can name.
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
	t := table{headings: []string{"device", "", "memory", "processors", "capability", ""}}
	t.rows = append(t.rows, []string{"cpu", runtime.GOARCH, "", fmt.Sprint(runtime.GOMAXPROCS(0)), "", mark("cpu")})
	for _, g := range l.GPUs {
		t.rows = append(t.rows, []string{g.Device, g.Name, fmt.Sprintf("%.0f GiB", float64(g.Memory)/(1<<30)), fmt.Sprint(g.SMs), g.Capability, mark(g.Device)})
	}
	t.below = l.Missing
	for _, library := range l.Libraries {
		t.below += library.String() + "\n"
	}
	return t
}

// String returns the table in text.
func (l *DeviceList) String() string { return l.table().text() }

// MIMEBundle shows the table.
func (l *DeviceList) MIMEBundle() map[string]any { return l.table().bundle() }
