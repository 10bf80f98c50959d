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

// Library is one of NVIDIA's libraries, and which of its versions are used.
type Library struct {
	Name     string
	Files    []string // names of the file, one a major version, the best first
	Wheels   []string // folders of Python's packages that have it, the newest kind first
	Package  string   // that pip installs
	Oldest   Version
	Before   Version // the first that is not known to work
	symbol   string  // of the function that tells the version
	argument bool    // whether that function writes it where its argument points
	parts    string  // pattern of the files beside it that it loads itself; empty for none
	runtime  string  // of the function that tells which CUDA the library wants; empty for none

	// What the library loads itself at the first call that needs it, and ends the
	// process where that is missing.
	first string   // a part of it
	calls *Library // another library, for the same CUDA
}

// The libraries. An interface that is called here is the same in all versions from
// Oldest up to Before; the tests compare it with a library that is at hand.
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
		Oldest: Version{2, 14, 0}, Before: Version{3, 0, 0}, symbol: "ncclGetVersion", argument: true,
	}
)

// packaged is what pip calls the library for a major version of CUDA.
func (l *Library) packaged(cuda int) string {
	if l == CuBLASLt && cuda == 12 {
		return l.Package + "-cu12"
	}
	return l.Package
}

// All are the libraries.
var All = []*Library{CuBLASLt, CuDNN, NCCL}

// Variable is the environment variable that names the folder in which alone the
// libraries are looked for, or several as PATH does, or is "none": none is used.
const Variable = "QUERN_CUDA_LIBRARIES"

// Place is where a library may be.
type Place struct {
	Path string // of the file
	From string // what led there, in words
}

// Places are where a library is looked for, in order, without files that do not
// exist: what the process has loaded already, Python's packages, conda, the loader's
// path and the toolkit, as NVIDIA's own cuda.pathfinder does.
//
// A file counts only if its path is absolute and no other user than root could have
// written it; an empty element of a variable would mean the working directory, which
// may be a folder that was downloaded. Where files are there, but none counts, the
// error is a [*MissingError] that says why. It is [ErrOff] where the libraries are
// switched off, and a [*LoadError] where the loader would search the working
// directory for what a library depends on.
func (l *Library) Places(m Machine) ([]Place, error) {
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
	var all []Place
	for _, path := range m.Loaded() {
		for _, file := range l.Files {
			if filepath.Base(path) == file {
				all = append(all, Place{path, fromProcess})
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
			all = append(all, Place{path, fromLoader})
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

// find looks for a library as the loader does. The error says, where it wraps one,
// why a file that is there does not count.
func (m Machine) find(file string) (string, error) {
	return loader.Find(file, m.Env(loader.Variable))
}

// trusted leaves out what other users could have written. What the process has loaded
// has run, and the loader's path has been judged.
func (l *Library) trusted(m Machine, places []Place) ([]Place, error) {
	var skipped []error
	places = slices.DeleteFunc(places, func(p Place) bool {
		if p.From == fromProcess || p.From == fromLoader {
			return false
		}
		err := trust.File(p.Path)
		if err != nil {
			skipped = append(skipped, fmt.Errorf("%s (%s): %w", p.Path, p.From, err))
		}
		return err != nil
	})
	if len(places) == 0 && len(skipped) > 0 {
		return nil, &MissingError{Library: l, Only: m.Env(Variable), Skipped: errors.Join(skipped...)}
	}
	return places, nil
}

// off tells whether the variable switches the libraries off.
func off(value string) bool {
	switch strings.ToLower(value) {
	case "none", "off", "0", "no", "false":
		return true
	}
	return false
}

// in are the library's files in some folders: all of one folder before the next.
func (l *Library) in(m Machine, folders []string, from string) []Place {
	var all []Place
	for _, folder := range folders {
		for _, file := range l.Files {
			if path := filepath.Join(folder, file); m.exists(path) {
				all = append(all, Place{path, from})
			}
		}
	}
	return all
}

// conda are the folders of a conda environment that hold libraries.
func (m Machine) conda(prefix string) []string {
	return []string{filepath.Join(prefix, "lib"), filepath.Join(prefix, "targets", m.target(), "lib")}
}

// toolkit are the folders of a CUDA toolkit that hold libraries.
func (m Machine) toolkit(root string) []string {
	return []string{filepath.Join(root, "lib64"), filepath.Join(root, "lib"), filepath.Join(root, "targets", m.target(), "lib")}
}

// sites are the folders of Python's packages: those of the environment that is
// active, of the one that the program is installed in, of the python3 on PATH, which
// is not run, and of the user.
func (m Machine) sites() []Place {
	var all []Place
	seen := map[string]bool{}
	add := func(from string, folders ...string) {
		for _, folder := range folders {
			if real, err := filepath.EvalSymlinks(folder); err == nil && !seen[real] {
				seen[real] = true
				all = append(all, Place{folder, from})
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
		// A file of an environment is a link to the interpreter itself, whose packages
		// the environment has only if it says so.
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

// programs are those in whose environments is looked.
func (m Machine) programs() []string {
	return slices.DeleteFunc([]string{m.Executable, m.interpreter()}, func(program string) bool { return program == "" })
}

// prefixes are where the environments of the programs are.
func (m Machine) prefixes() []string {
	var all []string
	for _, program := range m.programs() {
		if prefix := filepath.Dir(filepath.Dir(program)); !slices.Contains(all, prefix) {
			all = append(all, prefix)
		}
	}
	return all
}

// packages are the folders of Python's packages below a prefix; Debian's Python has
// names of its own.
func packages(prefix string) []string {
	var all []string
	for _, pattern := range []string{"lib/python3*/site-packages", "lib64/python3*/site-packages", "lib/python3*/dist-packages", "local/lib/python3*/dist-packages"} {
		found, err := filepath.Glob(filepath.Join(prefix, filepath.FromSlash(pattern)))
		if err != nil {
			continue // a prefix that Glob takes for a bad pattern has no packages
		}
		all = append(all, found...)
	}
	return all
}
