// Package nvtx emits named time ranges to a profiler of NVIDIA, such as Nsight Systems or
// Nsight Compute.
//
// It implements the program's side of NVTX 3, which is a header-only library. A profiler
// that starts a program sets the environment variable NVTX_INJECTION64_PATH to the path of
// its own library. The program loads that library and calls its InitializeInjectionNvtx2
// with a table, into which the profiler writes the functions to call
// (https://github.com/NVIDIA/NVTX, c/include/nvtx3/nvtxDetail/nvtxInit.h and
// nvtxTypes.h). Without a profiler nothing is loaded.
//
// The ranges may begin and end on different threads (nvtxRangeStart), since a goroutine
// may move to another thread.
package nvtx
