// Package kernels is the CUDA kernels: NAME.cu, the PTX made from each, and how
// each op is launched.
//
// An op is a struct of its sizes, in NAME.go beside NAME.cu. Its Workspace is how
// many bytes of device memory it needs besides its operands; its Launches are the
// kernels to run one after the other, given where everything lies. Both depend on
// the sizes alone, and so do the bits of the results: no kernel adds floats with
// atomics. Unless an op says otherwise, tensors are row-major and pointers aligned
// to their elements.
//
// To change a kernel, edit NAME.cu and run go generate; that needs clang 19 (see
// build.sh), running needs neither that nor any part of the CUDA toolkit. The
// tests run every kernel in package accel/internal/ptxsim against float64, compare
// the parameters' layout with the PTX, and, where they are at hand, make the PTX
// again and assemble it for each architecture.
//
// # What is wrong with the data
//
// A kernel that checks its input reports to a fault, 8 bytes that the caller
// sets to ones beforehand: see [Fault].
package kernels

//go:generate ./build.sh
