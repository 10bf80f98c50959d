package nvrtc

import (
	"path/filepath"
	"slices"

	"github.com/quernlab/quern/internal/trust"
)

// Program is a program in CUDA C++.
type Program struct {
	Source string
	Name   string   // the name of the file in messages
	Names  []string // kernels as C++ names them, such as add<float>, which instantiates a template
	// Options are those of NVRTC, such as --gpu-architecture=compute_80. The folders of CUDA's headers are added.
	Options []string
}

// Compiled is what NVRTC has made of a program.
type Compiled struct {
	PTX   string
	Names []string // the names of Program.Names in the PTX
}

// CompileError means that a program is wrong.
type CompileError struct {
	Log     string // of the compiler
	Headers bool   // whether the folder of CUDA's headers was found
}

func (e *CompileError) Error() string { return e.Log }

// headers returns the folders with CUDA's headers that belong to a library. A folder that another user could have written is not used.
func headers(libraryPath string) []string {
	lib := filepath.Dir(libraryPath)
	if real, err := filepath.EvalSymlinks(lib); err == nil {
		lib = real
	}
	root := filepath.Dir(lib)
	for _, group := range [][]string{
		{filepath.Join(root, "include")}, // of nvidia/cu13, a toolkit, conda
		{filepath.Join(root, "targets", "x86_64-linux", "include")}, {filepath.Join(root, "targets", "sbsa-linux", "include")},
		// Those of CUDA 12's Python packages.
		{filepath.Join(root, "..", "cuda_runtime", "include"), filepath.Join(root, "..", "cuda_nvcc", "include"), filepath.Join(root, "..", "cuda_cccl", "include")},
	} {
		var folders []string
		for _, folder := range group {
			folders = append(folders, folder, filepath.Join(folder, "cccl"))
		}
		folders = slices.DeleteFunc(folders, func(folder string) bool {
			return !slices.ContainsFunc([]string{"cuda_fp16.h", "crt/mma.h", "nv/target"}, func(name string) bool {
				return trust.File(filepath.Join(folder, filepath.FromSlash(name))) == nil
			})
		})
		if len(folders) > 0 {
			return folders
		}
	}
	return nil
}
