package library

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestAssembler(t *testing.T) {
	t.Parallel()
	const triton, nvidia, newer = "venv/lib/python3.11/site-packages/triton/backends/nvidia/bin/ptxas", "venv/lib/python3.11/site-packages/nvidia/cuda_nvcc/bin/ptxas", "new/lib/python3.12/site-packages/nvidia/cu13/bin/ptxas"
	root := tree(t, triton, nvidia, newer, "bin/ptxas", "cuda/bin/ptxas", "mine/ptxas", "others/ptxas", "empty/file")
	if err := os.Chmod(filepath.Join(root, "others", "ptxas"), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		variables map[string]string
		want      string
	}{
		"PyTorch's":           {map[string]string{"VIRTUAL_ENV": "/venv", "PATH": "/bin", "CUDA_HOME": "/cuda"}, triton},
		"NVIDIA's package":    {map[string]string{"VIRTUAL_ENV": "/new"}, newer},
		"PATH":                {map[string]string{"PATH": "/bin", "CUDA_HOME": "/cuda"}, "bin/ptxas"},
		"toolkit":             {map[string]string{"PATH": "/empty", "CUDA_PATH": "/cuda"}, "cuda/bin/ptxas"},
		"variable":            {map[string]string{"VIRTUAL_ENV": "/venv", Variable: "/mine"}, "mine/ptxas"},
		"variable without it": {map[string]string{"VIRTUAL_ENV": "/venv", Variable: "/empty"}, ""},
		"of others":           {map[string]string{Variable: "/others"}, ""},
		"off":                 {map[string]string{"VIRTUAL_ENV": "/venv", Variable: "none"}, ""},
	} {
		path, err := Assembler(machineAt(root, row.variables))
		var missing *MissingError
		switch {
		case row.want != "":
			if err != nil || path != filepath.Join(root, filepath.FromSlash(row.want)) {
				t.Errorf("%s: %s, %v", name, path, err)
			}
		case name == "off":
			if !errors.Is(err, ErrOff) {
				t.Errorf("%s: %s, %v", name, path, err)
			}
		case !errors.As(err, &missing) || (missing.Skipped != nil) != (name == "of others"):
			t.Errorf("%s: %s, %v", name, path, err)
		}
	}
}
