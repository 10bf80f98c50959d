// Package kernel runs Go functions on a GPU: a kernel is a function in a cell, and each of many threads executes it.
//
//	func saxpy(t kernel.Thread, a float32, x, y []float32) {
//		if i := t.Global(); i < len(y) {
//			y[i] += a * x[i]
//		}
//	}
//
//	k, err := kernel.Compile(saxpy)
//	err = k.Launch(kernel.Grid(n, 256), float32(2), x, y) // x and y are tensors
//
// [Kernel.Launch] runs the kernel on the device of the engine: on a GPU as PTX, on a simulated GPU as the same PTX, and on the CPU, where
// the result is the reference for what the kernel must compute. [Check] runs it on a simulated GPU, on any machine, and finds what
// a GPU does not report: threads that race, with the lines of both; memory that is read before it is written; barriers that not all threads
// reach. It also counts bank conflicts and memory transactions for each line.
//
// # A kernel as an operation
//
// [Kernel.Launch] waits for the kernel, and no gradient flows through it. [Op] makes a kernel an operation like those of package tensor: it is recorded, runs
// with the ops around it, on a GPU in the same CUDA graph, has a gradient that another kernel computes, and can be a layer of a model.
//
//	square, err := kernel.Op(k, kernel.Gradient(gradient))
//	y := square.Apply(x)
//
// [Profile] measures a kernel: its time, bandwidth and FLOP/s beside the peaks of the device, and its occupancy and what limits it.
//
// # What a kernel can contain
//
// A kernel is checked and behaves as Go says: integers wrap, a division by zero or an index out of range is an error, and float32
// arithmetic rounds after each operation. These constructs are supported:
//
//   - numbers of a fixed size, int, uint (64 bits each) and bool; structs and arrays of them, also of structs; slices of arrays and of tensors. An
//     array of structs is stored as an array for each field, so that threads that access the same field access neighboring elements;
//   - variables, constants, assignments, for, range over integers, arrays and slices, if, switch, break, continue, return, and
//     panic with a constant text;
//   - calls of declared functions and of methods with values as receivers, also generic ones, whose bodies are inserted in place of the calls;
//   - 16-bit floats as elements, [Float16] and [BFloat16], which are converted to float32 and back;
//   - the methods of [Thread], shared arrays ([Shared]), atomic operations, shuffles and votes;
//   - multiplications of matrices on the matrix units of a GPU: [MMATF32], [MMAFloat16] and [MMABFloat16];
//   - these functions of package math: Abs, Sqrt, Floor, Ceil, Trunc, RoundToEven, FMA, Max, Min, Copysign, Signbit, Exp, Expm1, Log,
//     Sin, Cos, Tanh, Erf, Pow, IsNaN, IsInf, Inf, NaN, and those that convert between floats and their bits.
//
// Anything else is an error at its line: maps, strings, channels, interfaces, pointers, function literals, goroutines, defer and
// recursion.
//
// Where Go leaves the result open, a kernel defines it: a float that does not fit an integer is clamped when it is converted, and NaN becomes 0.
// On a GPU the functions Exp, Log, Sin, Cos, Tanh, Erf and Pow may differ in the last two or three digits of the 53 bits from those of Go.
//
// # CUDA C++
//
// [CompileCUDA] compiles a kernel in CUDA C++, and [CompilePTX] takes one in PTX. Both are launched and checked as a kernel in Go. In a
// notebook, a cell that begins with %%cuda contains CUDA C++, and its kernels become variables.
package kernel
