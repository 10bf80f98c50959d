package library

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/quernlab/quern/internal/loader"
)

// Machine has the environment and the files on which the search depends.
type Machine struct {
	Env        func(name string) string
	Loaded     func() []string // files that the process has mapped
	Python     string          // python3 on PATH; empty for none
	Executable string          // of this process
	Home       string
}

// ThisMachine describes the machine on which the program runs.
func ThisMachine() Machine {
	m := Machine{Loaded: loaded}
	m.Env = func(name string) string {
		if name == loader.Variable {
			return loader.Path() // the dynamic linker read it when the process started
		}
		return os.Getenv(name)
	}
	// What cannot be determined is left empty and not searched.
	m.Python, _ = exec.LookPath("python3")
	m.Executable, _ = os.Executable()
	m.Home, _ = os.UserHomeDir()
	return m
}

func (m Machine) exists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

func (m Machine) isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// interpreter returns the Python that python3 on PATH starts. With pyenv that is a script; a
// variable or files say which version it starts.
func (m Machine) interpreter() string {
	folder := filepath.Dir(m.Python)
	if m.Python == "" || filepath.Base(folder) != "shims" {
		return m.Python
	}
	root := filepath.Dir(folder)
	words := strings.Split(m.Env("PYENV_VERSION"), ":")
	for _, file := range []string{".python-version", filepath.Join(root, "version")} {
		if text, err := os.ReadFile(file); err == nil {
			words = append(words, strings.Fields(string(text))...)
		}
	}
	for _, version := range words {
		if version == "" || version == ".." || filepath.Base(version) != version { // the file may be part of a download
			continue
		}
		if program := filepath.Join(root, "versions", version, "bin", "python3"); m.exists(program) {
			return program
		}
	}
	return m.Python
}

// isolated reports whether a prefix is a virtual environment without the packages of the
// Python that created it.
func (m Machine) isolated(prefix string) bool {
	text, err := os.ReadFile(filepath.Join(prefix, "pyvenv.cfg"))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, "=")
		if strings.TrimSpace(name) == "include-system-site-packages" {
			return !strings.EqualFold(strings.TrimSpace(value), "true")
		}
	}
	return true
}

// target returns the name of the architecture in a CUDA toolkit.
func (m Machine) target() string {
	if runtime.GOARCH == "arm64" {
		return "sbsa-linux"
	}
	return "x86_64-linux"
}

// loaded returns the files that the process has mapped.
func loaded() []string {
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return nil
	}
	var all []string
	seen := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if at := strings.IndexByte(line, '/'); at >= 0 {
			if path := strings.TrimSpace(line[at:]); !seen[path] {
				seen[path] = true
				all = append(all, path)
			}
		}
	}
	return all
}
