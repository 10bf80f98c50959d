//go:build !linux || !cgo

package cudnn

import "github.com/quernlab/quern/accel/internal/cuda/library"

// Open says why there is no library: this build cannot load any.
func Open(*library.Handle) (Library, error) { return nil, library.ErrBuild }

// Symbols are the functions of cuDNN that the package calls: none in this build.
func Symbols() []string { return nil }
