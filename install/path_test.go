package install

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// The prefix of an environment is used, but not that of the system's Python.
func TestSysPrefix(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the Python of this test is a script of the shell")
	}
	t.Setenv("VIRTUAL_ENV", "")
	t.Setenv("CONDA_PREFIX", "")
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	python := func(prefix, environment string) {
		t.Helper()
		script := "#!/bin/sh\necho '" + prefix + "'\necho " + environment + "\n"
		if err := os.WriteFile(filepath.Join(bin, "python3"), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	check := func(want string, active bool) {
		t.Helper()
		got, err := SysPrefix(t.Context())
		if got != want || errors.Is(err, ErrNoPrefix) == active {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	check("", false)
	python("/usr", "False")
	check("", false)
	if dirs := SearchPath(t.Context()); dirs[1] != PrefixDir("/usr") {
		t.Errorf("the kernelspecs of the system's Python are searched in %q", dirs)
	}
	python("/home/ann/my env", "True")
	check("/home/ann/my env", true)
	t.Setenv("CONDA_PREFIX", "/opt/conda")
	check("/opt/conda", true)
	t.Setenv("VIRTUAL_ENV", "/venv")
	check("/venv", true)
}
