package library

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/quernlab/quern/internal/loader"
)

// Machine is what the search looks at.
type Machine struct {
	Env        func(name string) string
	Loaded     func() []string // files that the process has loaded
	Python     string          // python3 on PATH; empty for none
	Executable string          // of this process
	Home       string
}

// ThisMachine is the one that the program runs on.
func ThisMachine() Machine {
	m := Machine{Loaded: loaded}
	m.Env = func(name string) string {
		if name == loader.Variable {
			return loader.Path() // of the loader, which has read it at the start
		}
		return os.Getenv(name)
	}
	// What cannot be found out is not looked at.
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

// interpreter is the Python that python3 on PATH starts: pyenv has a script there, and
// tells in a variable or in files which of its versions that means.
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
		if version == "" || version == ".." || filepath.Base(version) != version { // the file may be of a folder that was downloaded
			continue
		}
		if program := filepath.Join(root, "versions", version, "bin", "python3"); m.exists(program) {
			return program
		}
	}
	return m.Python
}

// isolated tells whether a prefix is an environment without the packages of the
// Python that it was made with.
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

// target is what a toolkit calls the kind of machine.
func (m Machine) target() string {
	if runtime.GOARCH == "arm64" {
		return "sbsa-linux"
	}
	return "x86_64-linux"
}

// loaded reads the files that the process has mapped.
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
