//go:build !amd64 || purego

package cpu

// byteKernels is that in plain Go: there is no assembly for this processor.
func byteKernels() []*byteKernel { return []*byteKernel{genericBytes} }
