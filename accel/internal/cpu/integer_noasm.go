//go:build (!amd64 && !arm64) || purego

package cpu

// byteKernels returns the kernel in plain Go: there is no assembly for this CPU.
func byteKernels() []*byteKernel { return []*byteKernel{genericBytes} }
