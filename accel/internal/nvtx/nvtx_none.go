//go:build !linux || !cgo

package nvtx

import "errors"

// ErrNoTool says that no tool watches the process.
var ErrNoTool = errors.New("this build cannot be watched by NVIDIA's tools (it needs linux and cgo)")

// Open would connect the process with a tool; this build cannot.
func Open() error { return ErrNoTool }

// Begin would begin a range.
func Begin(string) (end func()) { return func() {} }
