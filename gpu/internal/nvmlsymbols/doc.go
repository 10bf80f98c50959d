// Package nvmlsymbols defines the functions of NVIDIA's management library (libnvidia-ml.so.1)
// that go-nvml calls, so that a program that imports go-nvml links and starts without that
// library.
//
// go-nvml leaves the functions undefined and relies on lazy binding: the dynamic linker
// resolves each one at its first call, after dlopen. With immediate binding (-z now, the
// default of hardened toolchains, or LD_BIND_NOW), such a program fails at start with
// "undefined symbol". With lazy binding, a call to a function that an old driver lacks
// terminates the process.
//
// This package defines each function as a jump through a pointer. [Bind] sets the pointers to a
// library. A function that the library lacks, or that is called before Bind, returns
// NVML_ERROR_FUNCTION_NOT_FOUND.
package nvmlsymbols

//go:generate go run ./internal/generate
