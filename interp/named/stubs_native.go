//go:build amd64 || arm64

package named

import "unsafe"

// Stubs is the number of methods that the types of the process can have at the same time. One with a value receiver counts
// as two.
const Stubs = 1 << 16

// stubSize is the size of a stub in bytes.
const stubSize = 16

// firstStub returns the address of the first stub. It is in assembly, as the stubs are.
func firstStub() unsafe.Pointer

// stubs are the stubs, one after the other.
func stubs() //nolint:unused // its address is taken in assembly

// code returns the address of the code of s.
func (s stub) code() unsafe.Pointer { return unsafe.Add(firstStub(), int(s)*stubSize) }
