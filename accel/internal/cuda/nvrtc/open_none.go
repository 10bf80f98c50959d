//go:build !linux || !cgo

package nvrtc

import "github.com/quernlab/quern/accel/internal/cuda/library"

// Compile returns [library.ErrBuild]: this build cannot load libraries.
func Compile(Program) (Compiled, error) { return Compiled{}, library.ErrBuild }
