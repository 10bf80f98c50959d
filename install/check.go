package install

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Installed is a kernelspec of quern that Jupyter finds.
type Installed struct {
	Name       string // by which Jupyter selects it
	Dir        string // with kernel.json
	Executable string // argv[0], with the folder for ResourceDir
	Problem    string // why the kernel cannot start, and what to do; empty if it can
}

// Find returns the kernelspecs of quern on the search path, the one with the highest
// priority first.
func Find(ctx context.Context) []Installed {
	var found []Installed
	for _, kernels := range SearchPath(ctx) {
		entries, err := os.ReadDir(kernels)
		if err != nil {
			continue // most folders of the search path usually do not exist
		}
		for _, entry := range entries {
			dir := filepath.Join(kernels, entry.Name())
			if spec, ours := inspect(dir); ours {
				found = append(found, spec)
			}
		}
	}
	return found
}

// inspect reads the kernelspec in dir and reports whether it is one of quern.
func inspect(dir string) (spec Installed, ours bool) {
	spec = Installed{Name: filepath.Base(dir), Dir: dir}
	b, err := os.ReadFile(filepath.Join(dir, "kernel.json"))
	if err != nil {
		return spec, false
	}
	var k kernelJSON
	if err := json.Unmarshal(b, &k); err != nil {
		spec.Problem = fmt.Sprintf("kernel.json is not valid JSON (%v); rewrite it with quern install --force", err)
		return spec, spec.Name == DefaultName
	}
	ours = len(k.Argv) >= 2 && k.Argv[1] == "kernel" && k.Language == "go" &&
		filepath.Base(k.Argv[0]) == executableName()
	if !ours {
		return spec, false
	}
	spec.Executable = k.Argv[0]
	if below, ok := strings.CutPrefix(k.Argv[0], ResourceDir); ok {
		spec.Executable = filepath.Join(dir, below)
	}
	spec.Problem = executableProblem(spec.Executable)
	return spec, true
}

func executableProblem(path string) string {
	const remedy = "; rewrite it with quern install --force"
	if !filepath.IsAbs(path) {
		if _, err := exec.LookPath(path); err != nil {
			return fmt.Sprintf("%s is not on PATH%s", path, remedy)
		}
		return ""
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return path + " is gone" + remedy
	case err != nil:
		return err.Error() + remedy
	case info.IsDir() || executableName() == "quern" && info.Mode()&0o111 == 0:
		return path + " is not a program" + remedy
	}
	return ""
}
