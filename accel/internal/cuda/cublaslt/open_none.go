//go:build !linux || !cgo

package cublaslt

import "github.com/quernlab/quern/accel/internal/cuda/library"

// Open returns [library.ErrBuild]: this build cannot load libraries.
func Open(*library.Handle) (Library, error) { return nil, library.ErrBuild }
