package tensor

import "fmt"

// Library is an NVIDIA library that a GPU uses, if installed, where it is faster than the kernels
// of this package.
type Library struct {
	Name    string // cuBLASLt, cuDNN or NCCL
	Version string // empty if it was not found
	Path    string // of the file that is used, or would be used
	From    string // how the file was found, for example in a Python environment
	Unused  string // why it is not used; empty if it is
	// Refused are the files and folders for which an existing library is not used, because other
	// users can change them.
	Refused []string
}

// String describes the library in one line.
func (l Library) String() string {
	if l.Unused != "" {
		return fmt.Sprintf("%s: %s", l.Name, l.Unused)
	}
	return fmt.Sprintf("%s %s, %s (%s)", l.Name, l.Version, l.Path, l.From)
}
