package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/prof"
)

// UseDevice switches to the device of the options, or to the GPU of this rank. The caller calls back after the training.
func (c *Settings) UseDevice() (back func() error, err error) {
	before := tensors.Device()
	device := c.ownGPU(before)
	if device == "" {
		return func() error { return nil }, nil
	}
	if err := tensors.SetDevice(device); err != nil {
		return nil, err
	}
	return func() error { return tensors.SetDevice(before) }, nil
}

// ownGPU returns the device of the options. If several ranks run on one machine, each gets a
// GPU of its own.
func (c *Settings) ownGPU(inUse string) string {
	if c.Group == nil || c.Group.LocalSize() == 1 {
		return c.Device
	}
	gpus, err := tensors.GPUs()
	if err != nil {
		return c.Device // tensors.SetDevice will report the error
	}
	return gpuOf(c.Group.LocalRank(), len(gpus), c.Device, inUse)
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

// TrainsOnCPU reports whether the training will run on the CPU.
func (c *Settings) TrainsOnCPU() bool { return c.Device == "cpu" || c.Device == "" && onCPU() }

// beginRecompute splits the model's chains and returns a function that undoes it. Layers
// without parameters get them first, since the first step would otherwise need the memory of
// the whole model.
func (c *Settings) beginRecompute(ctx context.Context, model nn.Module, train *data.Dataset) (end func(), err error) {
	if !c.Recompute {
		return func() {}, nil
	}
	if err := Touch(ctx, model, train); err != nil {
		return nil, err
	}
	if nn.SetRecompute(model, true) == 0 {
		return nil, errors.New("accel: Recompute(): the model contains no nn.Sequential of two or more modules; wrap parts of the model in nn.Recompute instead")
	}
	return func() { nn.SetRecompute(model, false) }, nil
}

// prepare switches to the device, splits the model for Recompute, and names the ops for a profiler that is attached. undo
// ends all of that after the training.
func (c *Settings) prepare(ctx context.Context, model nn.Module, train *data.Dataset) (undo func() error, err error) {
	back, err := c.UseDevice()
	if err != nil {
		return nil, err
	}
	defer func() { // also when the model panics
		if undo == nil {
			err = joinErrors(err, back())
		}
	}()
	endRecompute, err := c.beginRecompute(ctx, model, train)
	if err != nil {
		return nil, err
	}
	stop := func() {}
	if prof.ToolAttached() {
		if end, err := prof.NVTX(); err == nil { // NVTX ranges were not enabled by the program itself
			stop = end
		}
	}
	return func() error {
		stop()
		endRecompute()
		return back()
	}, nil
}
