// Package ptxsim runs PTX, NVIDIA's portable machine code, on the CPU, so that
// CUDA kernels are tested where there is no GPU.
//
// [Parse] reads a module and compiles its entries to Go closures, one for each
// instruction, which work on the 32 lanes of a warp at a time. [Memory] is the
// memory of a device, with gaps between allocations; [Memory.Load] places a
// module's variables in it, and [Kernel.Run] runs a grid, its blocks in
// parallel on the processor's cores.
//
// A run is right or it stops: with a [*Fault] that names kernel, PTX line,
// block, thread and address when a thread reads or writes out of bounds or
// misaligned, reads memory that nobody wrote, when threads race for shared
// memory between barriers, when a barrier is met in divergent code, when a
// warp-wide instruction names lanes that are not there, or when the budget of
// steps is spent. Instructions and modifiers that are not known are refused by
// [Parse] with a [*ParseError] that names the line.
//
// # Model
//
// Divergent lanes reconverge at the immediate post-dominator of the branch.
// Shared memory is checked by happens-before between warps (barriers) and between the
// lanes of a warp (bar.warp.sync), and what wgmma and bulk copies find there by
// fence.proxy.async. Arithmetic is that of the PTX manual to the bit, with NaN as
// 0x7fffffff, but for two things: instructions with .approx are computed more exactly
// than a GPU does (tanh.approx is rounded to the 11 bits that the manual promises), and
// mma sums its products exactly before it rounds, unless Launch.Coarse has it add as
// tensor cores do. Functions are expanded where they are called; recursion and calls
// through pointers are refused.
//
// With Launch.Races a run stops, too, where blocks race for global memory. Under Go's
// race detector the accesses of blocks to global memory are watched
// too: a race that it reports below (*LoadedKernel).Run is one of the kernel.
//
// The package knows nothing of drivers; package cuda/fake makes one of it.
package ptxsim
