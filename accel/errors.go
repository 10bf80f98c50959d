package accel

import "github.com/quernlab/quern/accel/tensor"

// Tensor is the tensors that models compute with.
type Tensor = tensor.Tensor

// ShapeError says that an operation cannot take tensors of these shapes.
type ShapeError = tensor.ShapeError

// OutOfMemoryError says that a device could not give the memory asked for.
type OutOfMemoryError = tensor.OutOfMemoryError
