// Package nvrtc compiles CUDA C++ to PTX with NVRTC, NVIDIA's compiler as a library, if package library finds it. It needs neither a GPU nor
// a driver.
//
// # Errors
//
// What is wrong in a program is a [*CompileError], whose text is the compiler's. Any other call that NVRTC rejects returns a
// [*library.CallError], and a library that is missing an error of package library.
package nvrtc
