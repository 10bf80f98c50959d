//go:build amd64 || arm64

package goroutine

// Current returns the identity of the goroutine that calls it: the address at which
// the runtime keeps it, which neither moves nor is used again while it runs.
func Current() Identity
