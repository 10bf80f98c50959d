//go:build !linux || !cgo || !(amd64 || arm64)

package gpu

import "fmt"

// errPlatform is returned by builds without NVML.
var errPlatform = fmt.Errorf("%w: this build of quern has no NVIDIA support (it needs linux and cgo)", ErrNoGPU)

// Open opens CUDA device 0. This build has no NVIDIA support: it always returns an error that
// wraps [ErrNoGPU].
func Open() (Device, error) { return nil, errPlatform }

// OpenPCI opens the GPU with a PCI bus id. This build has no NVIDIA support: it always returns
// an error that wraps [ErrNoGPU].
func OpenPCI(busID string) (Device, error) { return nil, errPlatform }

// OpenFrom opens the GPU with a PCI bus id and those after it. This build has no NVIDIA
// support: it always returns an error that wraps [ErrNoGPU].
func OpenFrom(busID string, count int) ([]Device, error) { return nil, errPlatform }

// Devices opens all GPUs of the machine. This build has no NVIDIA support: it always returns an
// error that wraps [ErrNoGPU].
func Devices() ([]Device, error) { return nil, errPlatform }

// Links returns the links between the machine's GPUs. This build has no NVIDIA support: it
// always returns an error that wraps [ErrNoGPU].
func Links() ([]Link, error) { return nil, errPlatform }
