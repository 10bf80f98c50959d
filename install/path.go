package install

import (
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

// UserDir is the folder of the user's own kernelspecs.
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
		return "", fmt.Errorf("the user's Jupyter data folder is unknown: %w; set JUPYTER_DATA_DIR", err)
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

// PrefixDir is the folder of the kernelspecs below an installation prefix such
// as /usr/local or a virtual environment.
func PrefixDir(prefix string) string {
	return filepath.Join(prefix, "share", "jupyter", "kernels")
}

// ErrNoPrefix says that no Python environment was found for --sys-prefix.
var ErrNoPrefix = errors.New("no Python environment found: activate one, or name its folder with --prefix")

// SysPrefix is the prefix of the active Python environment: $VIRTUAL_ENV,
// $CONDA_PREFIX, or what the python3 on PATH says of itself. It returns an error
// wrapping ErrNoPrefix when there is none.
func SysPrefix(ctx context.Context) (string, error) {
	for _, name := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if dir := os.Getenv(name); dir != "" {
			return dir, nil
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for _, python := range []string{"python3", "python"} {
		out, err := exec.CommandContext(ctx, python, "-c", "import sys; print(sys.prefix)").Output()
		if dir := strings.TrimSpace(string(out)); err == nil && dir != "" {
			return dir, nil
		}
	}
	return "", ErrNoPrefix
}

// SearchPath lists the folders in which Jupyter looks for kernelspecs, the one
// that wins first. A folder need not exist.
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
	environment, err := SysPrefix(ctx)
	user, userErr := UserDir()
	// jupyter_core prefers the environment when one is active.
	active := os.Getenv("VIRTUAL_ENV") != "" || os.Getenv("CONDA_PREFIX") != ""
	if err == nil && active {
		add(PrefixDir(environment))
	}
	if userErr == nil {
		add(user)
	}
	if err == nil {
		add(PrefixDir(environment))
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
