//go:build !amd64 && !arm64 && !wasm

package named

import "unsafe"

// Stubs is the number of methods that the types of the process can have at the same time: none, because there are no stubs
// for this architecture.
const Stubs = 0

func (s stub) code() unsafe.Pointer { return nil }
