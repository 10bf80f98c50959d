//go:build amd64 || arm64 || wasm

package goroutine

// Current returns the identity of the calling goroutine: the address of its descriptor in
// the runtime, which does not move and is not reused while the goroutine runs.
func Current() Identity
