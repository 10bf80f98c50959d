package library

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/quernlab/quern/internal/loader"
	"github.com/quernlab/quern/internal/trust"
)

// Library is one of NVIDIA's libraries and the range of its supported versions.
type Library struct {
	Name    string
	Files   []string // file names, one per major version, the preferred first
	Wheels  []string // folders of Python packages that contain it, the newest layout first
	Package string   // name of the pip package
	Oldest  Version
	Before  Version // the first version that is not supported
	symbol  string  // name of the function that returns the version
	results int     // how many arguments that function writes the version to: 1, or 2 for the major and the minor one
	parts   string  // pattern of the files in its folder that it loads itself; empty for none
	runtime string  // name of the function that returns the CUDA version of the library; empty for none

	// What the library loads itself when it is first needed. If it is missing, the library
	// ends the process.
	first string   // a part of the library
	then  string   // the same, as a format of the library's major and minor version
	calls *Library // another library, for the same version of CUDA
}

// The libraries. The functions that the back end calls are the same in all versions from
// Oldest up to Before; tests compare them with a library if one is installed.
var (
	CuBLASLt = &Library{
		Name: "cuBLASLt", Files: []string{"libcublasLt.so.13", "libcublasLt.so.12"},
		Wheels: []string{"nvidia/cu13/lib", "nvidia/cublas/lib", "torch/lib"}, Package: "nvidia-cublas",
		Oldest: Version{12, 0, 0}, Before: Version{14, 0, 0}, symbol: "cublasLtGetVersion", runtime: "cublasLtGetCudartVersion",
	}
	CuDNN = &Library{
		Name: "cuDNN", Files: []string{"libcudnn.so.9"},
		Wheels: []string{"nvidia/cudnn/lib", "torch/lib"}, Package: "nvidia-cudnn-cu13",
		Oldest: Version{9, 0, 0}, Before: Version{10, 0, 0}, symbol: "cudnnGetVersion", runtime: "cudnnGetCudartVersion", parts: "libcudnn_*.so.9",
		first: "libcudnn_graph.so.9", calls: CuBLASLt,
	}
	NCCL = &Library{
		Name: "NCCL", Files: []string{"libnccl.so.2"},
		Wheels: []string{"nvidia/nccl/lib", "torch/lib"}, Package: "nvidia-nccl-cu13",
		Oldest: Version{2, 14, 0}, Before: Version{3, 0, 0}, symbol: "ncclGetVersion", results: 1,
	}
	NVRTC = &Library{
		Name: "NVRTC", Files: []string{"libnvrtc.so.13", "libnvrtc.so.12"},
		Wheels: []string{"nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"}, Package: "nvidia-cuda-nvrtc",
		Oldest: Version{12, 0, 0}, Before: Version{14, 0, 0}, symbol: "nvrtcVersion", results: 2, then: "libnvrtc-builtins.so.%d.%d",
	}
)

// packaged returns the name of the pip package for a major version of CUDA.
func (l *Library) packaged(cuda int) string {
	if l == CuBLASLt && cuda == 12 {
		return l.Package + "-cu12"
	}
	return l.Package
}

// All returns the libraries.
var All = []*Library{CuBLASLt, CuDNN, NCCL, NVRTC}

// Variable is the environment variable with the only folders in which the libraries are
// searched, separated as in PATH, or "none" to use no library.
const Variable = "QUERN_CUDA_LIBRARIES"

// Location is a file that may be a library.
type Location struct {
	Path string // of the file
	From string // how it was found, for messages
}

// Locations returns the files to try, in order: those that the process has loaded already,
// Python packages, conda, the path of the dynamic linker and the CUDA toolkit. NVIDIA's
// cuda.pathfinder uses the same order. Only existing files are returned.
//
// A file is used only if its path is absolute and only the user or root could have written
// it. An empty element of a variable would mean the working directory, which may be a
// download. If files exist but none may be used, the error is a [*MissingError] that says
// why. It is [ErrOff] if the libraries are switched off, and a [*LoadError] if the dynamic
// linker would search the working directory for a library's dependencies.
func (l *Library) Locations(m Machine) ([]Location, error) {
	set := m.Env(Variable)
	if off(set) {
		return nil, ErrOff
	}
	if err := loader.Check(m.Env(loader.Variable)); err != nil {
		return nil, &LoadError{Path: l.Files[0], Reason: err.Error()}
	}
	if set != "" {
		return l.trusted(m, l.in(m, filepath.SplitList(set), Variable))
	}
	var all []Location
	for _, path := range m.Loaded() {
		for _, file := range l.Files {
			if filepath.Base(path) == file {
				all = append(all, Location{path, fromProcess})
			}
		}
	}
	for _, site := range m.sites() {
		var folders []string
		for _, wheel := range l.Wheels {
			folders = append(folders, filepath.Join(site.Path, filepath.FromSlash(wheel)))
		}
		all = append(all, l.in(m, folders, site.From)...)
	}
	if prefix := m.Env("CONDA_PREFIX"); prefix != "" {
		all = append(all, l.in(m, m.conda(prefix), "CONDA_PREFIX")...)
	}
	for _, prefix := range m.prefixes() {
		if m.isFolder(filepath.Join(prefix, "conda-meta")) {
			all = append(all, l.in(m, m.conda(prefix), fmt.Sprintf("the conda packages of %s", prefix))...)
		}
	}
	var skipped error
	for _, file := range l.Files {
		switch path, err := m.find(file); {
		case err == nil:
			all = append(all, Location{path, fromLoader})
		default:
			skipped = errors.Join(skipped, errors.Unwrap(err))
		}
	}
	for _, variable := range []string{"CUDA_PATH", "CUDA_HOME"} {
		if root := m.Env(variable); root != "" {
			all = append(all, l.in(m, m.toolkit(root), variable)...)
		}
	}
	all, err := l.trusted(m, append(all, l.in(m, m.toolkit("/usr/local/cuda"), "/usr/local/cuda")...))
	if len(all) == 0 && err == nil && skipped != nil {
		return nil, &MissingError{Library: l, Skipped: skipped}
	}
	return all, err
}

const (
	fromLoader  = "the loader's path"
	fromProcess = "loaded already"
)

// find searches as the dynamic linker does. The error wraps the reason why an existing file
// is not used, if there is one.
func (m Machine) find(file string) (string, error) {
	return loader.Find(file, m.Env(loader.Variable))
}

// trusted removes files that other users could have written. Files that the process has
// loaded have already run, and the dynamic linker's path was checked before.
func (l *Library) trusted(m Machine, locations []Location) ([]Location, error) {
	var skipped []error
	locations = slices.DeleteFunc(locations, func(p Location) bool {
		if p.From == fromProcess || p.From == fromLoader {
			return false
		}
		err := trust.File(p.Path)
		if err != nil {
			skipped = append(skipped, fmt.Errorf("%s (%s): %w", p.Path, p.From, err))
		}
		return err != nil
	})
	if len(locations) == 0 && len(skipped) > 0 {
		return nil, &MissingError{Library: l, Only: m.Env(Variable), Skipped: errors.Join(skipped...)}
	}
	return locations, nil
}

// off reports whether the variable switches the libraries off.
func off(value string) bool {
	switch strings.ToLower(value) {
	case "none", "off", "0", "no", "false":
		return true
	}
	return false
}

// in returns the library's files in some folders, folder by folder.
func (l *Library) in(m Machine, folders []string, from string) []Location {
	var all []Location
	for _, folder := range folders {
		for _, file := range l.Files {
			if path := filepath.Join(folder, file); m.exists(path) {
				all = append(all, Location{path, from})
			}
		}
	}
	return all
}

// conda returns the library folders of a conda environment.
func (m Machine) conda(prefix string) []string {
	return []string{filepath.Join(prefix, "lib"), filepath.Join(prefix, "targets", m.target(), "lib")}
}

// toolkit returns the library folders of a CUDA toolkit.
func (m Machine) toolkit(root string) []string {
	return []string{filepath.Join(root, "lib64"), filepath.Join(root, "lib"), filepath.Join(root, "targets", m.target(), "lib")}
}

// sites returns the folders of Python packages: of the active environment, of the one in
// which the program is installed, of the python3 on PATH, which is not run, and of the user.
func (m Machine) sites() []Location {
	var all []Location
	seen := map[string]bool{}
	add := func(from string, folders ...string) {
		for _, folder := range folders {
			if real, err := filepath.EvalSymlinks(folder); err == nil && !seen[real] {
				seen[real] = true
				all = append(all, Location{folder, from})
			}
		}
	}
	if prefix := m.Env("VIRTUAL_ENV"); prefix != "" {
		add("VIRTUAL_ENV", packages(prefix)...)
	}
	for _, folder := range filepath.SplitList(m.Env("PYTHONPATH")) {
		add("PYTHONPATH", folder)
	}
	for _, program := range m.programs() {
		prefix := filepath.Dir(filepath.Dir(program))
		from := fmt.Sprintf("the Python packages of %s", prefix)
		add(from, packages(prefix)...)
		// python3 of an environment is a link to the interpreter, whose packages the
		// environment includes only if it is configured so.
		real, err := filepath.EvalSymlinks(program)
		if err != nil || m.isolated(prefix) {
			continue
		}
		if original := filepath.Dir(filepath.Dir(real)); original != prefix {
			add(fmt.Sprintf("the Python packages of %s", original), packages(original)...)
		}
	}
	if m.Home != "" {
		add("the user's Python packages", packages(filepath.Join(m.Home, ".local"))...)
	}
	return all
}

// programs returns the programs whose environments are searched.
func (m Machine) programs() []string {
	return slices.DeleteFunc([]string{m.Executable, m.interpreter()}, func(program string) bool { return program == "" })
}

// prefixes returns the folders of the programs' environments.
func (m Machine) prefixes() []string {
	var all []string
	for _, program := range m.programs() {
		if prefix := filepath.Dir(filepath.Dir(program)); !slices.Contains(all, prefix) {
			all = append(all, prefix)
		}
	}
	return all
}

// packages returns the folders of Python packages below a prefix. Debian's Python uses its
// own names.
func packages(prefix string) []string {
	var all []string
	for _, pattern := range []string{"lib/python3*/site-packages", "lib64/python3*/site-packages", "lib/python3*/dist-packages", "local/lib/python3*/dist-packages"} {
		found, err := filepath.Glob(filepath.Join(prefix, filepath.FromSlash(pattern)))
		if err != nil {
			continue // Glob cannot search a prefix that is an invalid pattern
		}
		all = append(all, found...)
	}
	return all
}

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

// Found is the result of the search for one library.
type Found struct {
	Library  *Library
	Version  Version
	Location Location // empty if none is used
	Unused   error    // why it is not used; nil if it is
}

// Report loads the libraries and returns which of them are used with a driver that supports
// a version of CUDA (0: unknown).
func Report(driver int) []Found {
	var all []Found
	for _, l := range All {
		f := Found{Library: l}
		h, err := l.Open(driver)
		if err == nil {
			f.Version, f.Location = h.Version, h.Location
		}
		f.Unused = err
		all = append(all, f)
	}
	return all
}

// Runs returns a [*DriverError] if a driver that supports a version of CUDA (0: unknown)
// cannot run the library. A library built for a major version of CUDA runs with all drivers
// of that major version.
func (h *Handle) Runs(driver int) error {
	if driver != 0 && h.CUDA/1000 > driver/1000 {
		return &DriverError{Path: h.Path, CUDA: h.CUDA, Driver: driver}
	}
	return nil
}
