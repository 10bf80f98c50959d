// Package nvmlsymbols defines the functions of NVIDIA's management library
// (libnvidia-ml.so.1) that go-nvml calls, so that a program which imports it
// links and starts without that library.
//
// go-nvml leaves the functions undefined and relies on lazy binding: the
// dynamic linker looks each one up at its first call, after dlopen. A program
// that is bound at start, by -z now as hardened toolchains do or by
// LD_BIND_NOW, ends there with "undefined symbol". And a call to a function
// that an old driver lacks ends the process.
//
// Here each function is one jump through a pointer. [Bind] points them to a
// library; what the library lacks, and everything before Bind, returns
// NVML_ERROR_FUNCTION_NOT_FOUND.
package nvmlsymbols

//go:generate go run ./internal/generate
