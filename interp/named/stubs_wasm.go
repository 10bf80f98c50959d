package named

import "unsafe"

//go:generate go run ./internal/stubs

// codes returns the table with the addresses of the stubs. It is in assembly, as the stubs are.
func codes() *[Stubs]unsafe.Pointer

// code returns the address of the code of s.
func (s stub) code() unsafe.Pointer { return codes()[s] }
