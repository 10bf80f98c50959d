// Package librarytest has what the tests of cublaslt, cudnn and nccl share: the library of
// this machine, a fake of it in C, and the comparison with its header.
//
// Package fakelib has fakes in Go of the interfaces that these packages implement.
package librarytest
