// Package nvtx tells a tool that watches the process, such as Nsight Systems or
// Nsight Compute, what the program does: ranges of time with names.
//
// It is the program's side of NVTX 3, which is headers alone: a tool that starts a
// program sets the environment variable NVTX_INJECTION64_PATH to a library of its
// own. The program opens that, calls its InitializeInjectionNvtx2 and hands it a
// table, into which the tool writes the functions to call
// (https://github.com/NVIDIA/NVTX, c/include/nvtx3/nvtxDetail/nvtxInit.h and
// nvtxTypes.h). Without a tool nothing is opened.
//
// Ranges are those that begin and end on any thread (nvtxRangeStart), since a
// goroutine may go on another thread.
package nvtx
