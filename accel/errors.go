package accel

import "github.com/quernlab/quern/accel/tensor"

// Tensor is the tensors that models compute with.
type Tensor = tensor.Tensor

// ShapeError says that an operation cannot take tensors of these shapes.
type ShapeError = tensor.ShapeError

// DeviceError says that a device could not do what was asked of it: it lacks an
// operation, a kernel has faulted, or the device is gone.
type DeviceError = tensor.DeviceError

// OutOfMemoryError says that a device could not give the memory asked for.
type OutOfMemoryError = tensor.OutOfMemoryError
