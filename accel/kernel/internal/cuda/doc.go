// Package cuda reads what belongs to kernels in CUDA C++: the types of their parameters (signature.go), the compiler's messages
// (messages.go) and the lines of their source (lines.go).
package cuda
