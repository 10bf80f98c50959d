// Package ptxsim simulates PTX, NVIDIA's virtual instruction set, on the CPU, so that CUDA
// kernels can be tested on machines without a GPU.
//
// [Parse] reads a module and compiles its entries to Go closures, one per instruction,
// which operate on the 32 lanes of a warp at a time. [Memory] is the memory of a device,
// with gaps between allocations; [Memory.Load] allocates a module's variables in it, and
// [LoadedKernel.Run] runs a grid, with its blocks in parallel on the CPU's cores.
//
// A run is either correct or it stops with a [*Fault] that names the kernel, PTX line,
// block, thread and address. A run stops if a thread accesses memory out of bounds or
// misaligned or reads uninitialized memory, if threads race for shared memory between
// barriers, if a barrier is reached in divergent code, if a warp-wide instruction names
// inactive lanes, or if the maximum number of steps is exceeded. [Parse] rejects
// unsupported instructions and modifiers with a [*ParseError] that names the line.
//
// # Model
//
// Divergent lanes reconverge at the immediate post-dominator of the branch. Accesses of
// shared memory must be ordered by happens-before: between warps by barriers, between the
// lanes of a warp by bar.warp.sync, and before wgmma and bulk copies by fence.proxy.async.
// Arithmetic follows the PTX manual bit by bit, with 0x7fffffff for NaN, with two
// exceptions: .approx instructions are more accurate than on a GPU (tanh.approx is rounded
// to the 11 bits that the manual guarantees), and mma adds its products exactly before it
// rounds, unless Launch.Coarse makes it add as tensor cores do. Functions are expanded
// where they are called; recursion and calls through pointers are rejected.
//
// With Launch.Early, a run also stops if a thread accesses global memory, or ends, before griddepcontrol.wait.
// With Launch.Watch, a run counts FLOPs, and bank conflicts and memory transactions by the lines of .loc, and races have both accesses.
// With Launch.Output, it writes what printf prints. The loads and stores of wmma are not counted, and which elements its
// lanes hold differs from a GPU's.
// With Launch.Races, a run also stops if blocks race for global memory; .acq_rel, .release and .acquire
// of atomic instructions order them. Go's race detector
// watches the accesses of blocks to global memory, too: a race that it reports below
// (*LoadedKernel).Run is a race of the kernel.
//
// This package does not know drivers; package cuda/fake implements a driver with it.
package ptxsim
