// Package kernels contains the CUDA kernels: NAME.cu, the PTX compiled from it, and the
// launches of each op.
//
// A function in NAME.go, beside NAME.cu, plans a step of a program that is one op. It tells the [Planner]
// how many bytes of device memory the op needs besides its operands, and returns a [Launcher], which
// returns the kernels to run one after the other, given the addresses of the operands. An op whose
// kernels serve several steps, such as its gradients, is a struct of its sizes. Launches
// depend on the sizes only, and so do the bits of the results: no kernel adds floats with
// atomics. Unless an op says otherwise, tensors are row-major and pointers are aligned to
// their elements.
//
// To change a kernel, edit NAME.cu and run go generate, which needs clang 19 (see
// build.sh). Running the kernels needs neither clang nor any part of the CUDA toolkit. The
// tests run every kernel in the simulator, package accel/internal/cuda/ptxsim, and compare with
// float64. They compare the layout of the parameters with the PTX and, where clang and
// ptxas are installed, recompile the PTX and assemble it for each architecture.
//
// Norms, softmax, cross-entropy and sums read and write 16-bit floats, too, and compute in
// float32: a parameter of the kernel says which of its tensors have which type, see typed in device.h.
//
// # To add an op
//
// Write NAME.cu and, in NAME.go, the kernels with their parameters (declare), and the function that
// plans a step, which an init function registers by the type of the op. Nothing else in the CUDA back end names the op.
//
// # Faults in the data
//
// A kernel that checks its input reports to a fault, 8 bytes that the caller fills with
// ones beforehand: see [Fault].
package kernels

//go:generate ./build.sh
