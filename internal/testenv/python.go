package testenv

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Python returns the interpreter of a virtual environment that has the modules: that of VIRTUAL_ENV, or .venv of the
// repository. If there is none, it calls [Missing].
func Python(t testing.TB, modules ...string) string {
	t.Helper()
	path := python(modules)
	if path == "" {
		Missing(t, "there is no Python with %s; make kernelspec sets one up in .venv", strings.Join(modules, ", "))
	}
	return path
}

// OptionalPython is [Python] for modules that .ci/requirements.txt lacks. If there is none, it calls [Optional].
func OptionalPython(t testing.TB, modules ...string) string {
	t.Helper()
	path := python(modules)
	if path == "" {
		Optional(t, "there is no Python with %s; set VIRTUAL_ENV to a virtual environment that has them", strings.Join(modules, ", "))
	}
	return path
}

// python returns the first interpreter that has the modules, or "".
func python(modules []string) string {
	for _, venv := range []string{os.Getenv("VIRTUAL_ENV"), filepath.Join(root(), ".venv")} {
		if venv == "" {
			continue
		}
		path := filepath.Join(venv, "bin", "python")
		if runtime.GOOS == "windows" {
			path = filepath.Join(venv, "Scripts", "python.exe")
		}
		if exec.Command(path, "-c", "import "+strings.Join(modules, ", ")).Run() == nil {
			return path
		}
	}
	return ""
}

// root returns the folder of go.mod, above the folder of the test.
func root() string {
	folder, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil || folder == filepath.Dir(folder) {
			return folder
		}
		folder = filepath.Dir(folder)
	}
	return "."
}
