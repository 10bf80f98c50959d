package install

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// UserDir returns the folder of the user's own kernelspecs.
func UserDir() (string, error) {
	data, err := userData()
	if err != nil {
		return "", err
	}
	return filepath.Join(data, "kernels"), nil
}

// userData follows jupyter_core.paths.jupyter_data_dir.
func userData() (string, error) {
	if dir := os.Getenv("JUPYTER_DATA_DIR"); dir != "" {
		return dir, nil
	}
	if runtime.GOOS == "windows" {
		if dir := os.Getenv("APPDATA"); dir != "" {
			return filepath.Join(dir, "jupyter"), nil
		}
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("cannot find the user's Jupyter data folder: %w; set JUPYTER_DATA_DIR", err)
	}
	switch runtime.GOOS {
	case "darwin":
		return filepath.Join(home, "Library", "Jupyter"), nil
	case "windows":
		return filepath.Join(home, ".jupyter", "data"), nil
	}
	if dir := os.Getenv("XDG_DATA_HOME"); dir != "" {
		return filepath.Join(dir, "jupyter"), nil
	}
	return filepath.Join(home, ".local", "share", "jupyter"), nil
}

// PrefixDir returns the folder of the kernelspecs below an installation prefix such as
// /usr/local or a virtual environment.
func PrefixDir(prefix string) string {
	return filepath.Join(prefix, "share", "jupyter", "kernels")
}

// ErrNoPrefix is returned if no Python environment is active.
var ErrNoPrefix = errors.New("no Python environment is active: activate a virtual or conda environment, or name a folder with --prefix")

// SysPrefix returns the prefix of the active Python environment: $VIRTUAL_ENV,
// $CONDA_PREFIX, or that of the python3 on PATH if it belongs to a virtual or conda
// environment. The system's Python does not count: installing there must be requested
// with --prefix. The error wraps ErrNoPrefix if no environment is active.
func SysPrefix(ctx context.Context) (string, error) {
	if dir := activated(); dir != "" {
		return dir, nil
	}
	if dir, environment := pythonPrefix(ctx); environment {
		return dir, nil
	}
	return "", ErrNoPrefix
}

// activated returns the prefix of the environment that the shell has activated, or "".
func activated() string {
	return cmp.Or(os.Getenv("VIRTUAL_ENV"), os.Getenv("CONDA_PREFIX"))
}

// pythonPrefix returns sys.prefix of the Python on PATH and whether it is an environment.
// Without Python it returns "".
func pythonPrefix(ctx context.Context) (dir string, environment bool) {
	const program = `import os, sys
print(sys.prefix)
print(sys.prefix != sys.base_prefix or os.path.isdir(os.path.join(sys.prefix, "conda-meta")))`
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for _, python := range []string{"python3", "python"} {
		out, err := exec.CommandContext(ctx, python, "-c", program).Output()
		lines := strings.Split(strings.ReplaceAll(string(out), "\r\n", "\n"), "\n")
		if err == nil && len(lines) > 1 && lines[0] != "" {
			return lines[0], lines[1] == "True"
		}
	}
	return "", false
}

// SearchPath returns the folders in which Jupyter looks for kernelspecs, the one with the
// highest priority first. They need not exist.
func SearchPath(ctx context.Context) []string {
	var dirs []string
	add := func(dir string) {
		for _, d := range dirs {
			if d == dir {
				return
			}
		}
		dirs = append(dirs, dir)
	}
	for _, dir := range filepath.SplitList(os.Getenv("JUPYTER_PATH")) {
		add(filepath.Join(dir, "kernels"))
	}
	user, userErr := UserDir()
	// jupyter_core prefers the environment when one is active.
	active := activated()
	if active != "" {
		add(PrefixDir(active))
	}
	if userErr == nil {
		add(user)
	}
	if active == "" {
		if prefix, _ := pythonPrefix(ctx); prefix != "" {
			add(PrefixDir(prefix))
		}
	}
	if runtime.GOOS == "windows" {
		if dir := os.Getenv("PROGRAMDATA"); dir != "" {
			add(filepath.Join(dir, "jupyter", "kernels"))
		}
		return dirs
	}
	add(PrefixDir("/usr/local"))
	add(PrefixDir("/usr"))
	return dirs
}
