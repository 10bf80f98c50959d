package tensor

import (
	"fmt"
	"strings"

	"github.com/quernlab/quern/accel/internal/cuda/library"
)

// Library is an NVIDIA library that a GPU uses, if installed, where it is faster than the kernels
// of this package.
type Library struct {
	Name    string // cuBLASLt, cuDNN or NCCL
	Version string // empty if it was not found
	Path    string // of the file that is used, or would be used
	From    string // how the file was found, for example in a Python environment
	Unused  string // why it is not used; empty if it is
}

// String describes the library in one line.
func (l Library) String() string {
	if l.Unused != "" {
		return fmt.Sprintf("%s: %s", l.Name, l.Unused)
	}
	return fmt.Sprintf("%s %s, %s (%s)", l.Name, l.Version, l.Path, l.From)
}

// Libraries looks for the libraries as the first op that needs one does: in Python packages, conda
// environments, the loader's path and the CUDA toolkit. If the environment variable
// QUERN_CUDA_LIBRARIES names a folder, only that folder is searched; "none" disables the libraries.
func Libraries() []Library {
	version := 0
	if d, err := gpus(); err == nil {
		version = d.Version()
	}
	var all []Library
	for _, f := range library.Report(version) {
		l := Library{Name: f.Library.Name, Path: f.Location.Path, From: f.Location.From}
		if f.Location.Path != "" {
			l.Version = f.Version.String()
		}
		if f.Unused != nil {
			l.Unused = strings.ReplaceAll(f.Unused.Error(), "\n", "; ") // one line per file that was tried
		}
		all = append(all, l)
	}
	return all
}
