//go:build !linux || !cgo

package nvtx

import "errors"

// ErrNoTool reports that this build does not support NVTX.
var ErrNoTool = errors.New("this build does not support NVTX: it needs Linux and cgo")

// Open returns ErrNoTool.
func Open() error { return ErrNoTool }

// Begin does nothing.
func Begin(string) (end func()) { return func() {} }
