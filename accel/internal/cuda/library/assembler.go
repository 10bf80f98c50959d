package library

import (
	"path/filepath"
)

// ptxas is no library, but is found beside them: in NVIDIA's package, and in Triton's, which belongs to PyTorch.
var ptxas = &Library{
	Name: "ptxas", Files: []string{"ptxas"}, Package: "nvidia-cuda-nvcc",
	Wheels: []string{"triton/backends/nvidia/bin", "nvidia/cuda_nvcc/bin", "nvidia/cu13/bin"},
}

// Assembler returns the path of ptxas, NVIDIA's assembler for PTX: of a Python package, PATH or the CUDA toolkit. The rules of
// [Library.Locations] about trusted files and the environment variable apply.
func Assembler(m Machine) (string, error) {
	set := m.Env(Variable)
	if off(set) {
		return "", ErrOff
	}
	all := ptxas.in(m, filepath.SplitList(set), Variable)
	if set == "" {
		for _, site := range m.sites() {
			for _, wheel := range ptxas.Wheels {
				all = append(all, ptxas.in(m, []string{filepath.Join(site.Path, filepath.FromSlash(wheel))}, site.From)...)
			}
		}
		all = append(all, ptxas.in(m, filepath.SplitList(m.Env("PATH")), "PATH")...)
		for _, variable := range []string{"CUDA_PATH", "CUDA_HOME"} {
			if root := m.Env(variable); root != "" {
				all = append(all, ptxas.in(m, []string{filepath.Join(root, "bin")}, variable)...)
			}
		}
		all = append(all, ptxas.in(m, []string{"/usr/local/cuda/bin"}, "/usr/local/cuda")...)
	}
	all, err := ptxas.trusted(m, all)
	switch {
	case err != nil:
		return "", err
	case len(all) == 0:
		return "", &MissingError{Library: ptxas, Only: set}
	}
	return all[0].Path, nil
}
