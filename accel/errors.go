package accel

import (
	"github.com/quernlab/quern/accel/internal/loop"
	"github.com/quernlab/quern/accel/tensor"
)

// Tensor is the type of tensors.
type Tensor = tensor.Tensor

// ShapeError reports an operation that cannot take tensors of these shapes.
type ShapeError = tensor.ShapeError

// DeviceError reports that a device cannot do what it was asked for: it does not support an
// operation, a kernel faulted, or the device is gone.
type DeviceError = tensor.DeviceError

// OutOfMemoryError reports that a device could not allocate the requested memory.
type OutOfMemoryError = tensor.OutOfMemoryError

// ErrBusy is returned by [Fit] while another Fit runs.
var ErrBusy = loop.ErrBusy
