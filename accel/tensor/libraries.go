package tensor

import (
	"fmt"
	"strings"

	"github.com/quernlab/quern/accel/internal/cuda/library"
)

// Library is one of NVIDIA's libraries, which a GPU uses where it is found and does
// better than the kernels of this package.
type Library struct {
	Name    string // cuBLASLt, cuDNN or NCCL
	Version string // empty if none was found
	Path    string // of the file that is used, or would be
	From    string // what led there, the Python environment for instance
	Unused  string // why it is not used; empty if it is
}

// String returns one line.
func (l Library) String() string {
	if l.Unused != "" {
		return fmt.Sprintf("%s: %s", l.Name, l.Unused)
	}
	return fmt.Sprintf("%s %s, %s (%s)", l.Name, l.Version, l.Path, l.From)
}

// Libraries looks for the libraries, as the first product does that wants one: in
// Python's packages, conda's, on the loader's path and in the CUDA toolkit. The
// environment variable QUERN_CUDA_LIBRARIES names a folder in which alone is looked,
// or is "none": none is used.
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
			l.Unused = strings.ReplaceAll(f.Unused.Error(), "\n", "; ") // of several files
		}
		all = append(all, l)
	}
	return all
}
