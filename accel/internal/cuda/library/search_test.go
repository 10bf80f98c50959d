package library

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/internal/loader"
	"github.com/quernlab/quern/internal/testenv"
)

// tree creates files below a new folder, which it returns.
func tree(t *testing.T, files ...string) (root string) {
	t.Helper()
	root = t.TempDir()
	for _, name := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("home = /usr\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// machineAt returns a Machine with environment variables whose paths are relative to a folder.
func machineAt(root string, variables map[string]string, loaded ...string) Machine {
	return Machine{
		Env: func(name string) string {
			value := variables[name]
			if value == "" || !strings.Contains(value, "/") {
				return value
			}
			return filepath.Join(root, filepath.FromSlash(value))
		},
		Loaded: func() []string { return loaded },
	}
}

// paths returns the paths of the locations relative to a folder, with slashes.
func paths(root string, locations []Location) []string {
	var all []string
	for _, p := range locations {
		path := p.Path
		if relative, err := filepath.Rel(root, path); err == nil && filepath.IsAbs(path) {
			path = relative
		}
		all = append(all, filepath.ToSlash(path))
	}
	return all
}

func TestLocations(t *testing.T) {
	t.Parallel()
	const lt12, lt13 = "libcublasLt.so.12", "libcublasLt.so.13"
	all := []string{
		"venv/pyvenv.cfg", "venv/bin/python3", "venv/lib/python3.11/site-packages/nvidia/cu13/lib/" + lt13,
		"old/lib/python3.9/site-packages/nvidia/cublas/lib/" + lt12,
		"conda/lib/" + lt12, "cuda/lib64/" + lt12, "cuda/lib64/" + lt13, "mine/" + lt13, "mine/libcudnn.so.9",
		"python/lib/python3.12/site-packages/torch/lib/" + lt12,
		"cudnn/lib/python3.12/site-packages/nvidia/cudnn/lib/libcudnn.so.9",
		"nccl/lib64/python3.12/site-packages/nvidia/nccl/lib/libnccl.so.2",
		"forge/conda-meta/history", "forge/bin/python3", "forge/lib/" + lt13,
		"pyenv/shims/python3",
		"pyenv/versions/3.12.1/bin/python3", "pyenv/versions/3.12.1/lib/python3.12/site-packages/nvidia/cu13/lib/" + lt13,
	}
	root := tree(t, all...)
	var none []string // that the loader finds
	for _, row := range []struct {
		name      string
		library   *Library
		variables map[string]string
		loaded    []string
		python    string
		want      []string
	}{
		{"nothing", CuBLASLt, nil, nil, "", none},
		{"virtual environment", CuBLASLt, map[string]string{"VIRTUAL_ENV": "/venv"}, nil, "",
			append([]string{"venv/lib/python3.11/site-packages/nvidia/cu13/lib/" + lt13}, none...)},
		{"older wheel", CuBLASLt, map[string]string{"VIRTUAL_ENV": "/old"}, nil, "",
			append([]string{"old/lib/python3.9/site-packages/nvidia/cublas/lib/" + lt12}, none...)},
		{"python3 on PATH", CuBLASLt, nil, nil, "venv/bin/python3",
			append([]string{"venv/lib/python3.11/site-packages/nvidia/cu13/lib/" + lt13}, none...)},
		{"python3 that is gone", CuBLASLt, nil, nil, "python/bin/python3",
			append([]string{"python/lib/python3.12/site-packages/torch/lib/" + lt12}, none...)},
		{"PYTHONPATH", CuBLASLt, map[string]string{"PYTHONPATH": "/venv/lib/python3.11/site-packages"}, nil, "",
			append([]string{"venv/lib/python3.11/site-packages/nvidia/cu13/lib/" + lt13}, none...)},
		{"conda that is not activated", CuBLASLt, nil, nil, "forge/bin/python3", append([]string{"forge/lib/" + lt13}, none...)},
		{"pyenv", CuBLASLt, map[string]string{"PYENV_VERSION": "3.12.1"}, nil, "pyenv/shims/python3",
			append([]string{"pyenv/versions/3.12.1/lib/python3.12/site-packages/nvidia/cu13/lib/" + lt13}, none...)},
		{"pyenv of another version", CuBLASLt, map[string]string{"PYENV_VERSION": "3.9"}, nil, "pyenv/shims/python3", none},
		{"conda", CuBLASLt, map[string]string{"CONDA_PREFIX": "/conda"}, nil, "", append([]string{"conda/lib/" + lt12}, none...)},
		{"toolkit", CuBLASLt, map[string]string{"CUDA_HOME": "/cuda"}, nil, "",
			append(slices.Clone(none), "cuda/lib64/"+lt13, "cuda/lib64/"+lt12)},
		{"loaded", CuBLASLt, map[string]string{"VIRTUAL_ENV": "/venv"}, []string{"/x/libc.so.6", "/x/" + lt12}, "",
			append([]string{"/x/" + lt12, "venv/lib/python3.11/site-packages/nvidia/cu13/lib/" + lt13}, none...)},
		{"order", CuBLASLt, map[string]string{"VIRTUAL_ENV": "/venv", "CONDA_PREFIX": "/conda", "CUDA_PATH": "/cuda"}, nil, "",
			append(append([]string{"venv/lib/python3.11/site-packages/nvidia/cu13/lib/" + lt13, "conda/lib/" + lt12}, none...), "cuda/lib64/"+lt13, "cuda/lib64/"+lt12)},
		{"folder of the variable alone", CuBLASLt, map[string]string{Variable: "/mine", "VIRTUAL_ENV": "/venv"}, nil, "", []string{"mine/" + lt13}},
		{"folder without it", NCCL, map[string]string{Variable: "/mine"}, nil, "", nil},
		{"cuDNN of the variable", CuDNN, map[string]string{Variable: "/mine"}, nil, "", []string{"mine/libcudnn.so.9"}},
		{"cuDNN", CuDNN, map[string]string{"VIRTUAL_ENV": "/cudnn"}, nil, "",
			[]string{"cudnn/lib/python3.12/site-packages/nvidia/cudnn/lib/libcudnn.so.9"}},
		{"NCCL in lib64", NCCL, map[string]string{"VIRTUAL_ENV": "/nccl"}, nil, "",
			[]string{"nccl/lib64/python3.12/site-packages/nvidia/nccl/lib/libnccl.so.2"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			m := machineAt(root, row.variables, row.loaded...)
			if row.python != "" {
				m.Python = filepath.Join(root, filepath.FromSlash(row.python))
			}
			locations, err := row.library.Locations(m)
			if err != nil {
				t.Fatal(err)
			}
			locations = slices.DeleteFunc(locations, func(p Location) bool { return p.From == "/usr/local/cuda" })
			want := slices.Clone(row.want)
			for i, p := range want {
				if strings.HasPrefix(p, "/x/") {
					relative, err := filepath.Rel(root, p)
					if err != nil {
						t.Fatal(err)
					}
					want[i] = filepath.ToSlash(relative)
				}
			}
			if got := paths(root, locations); !slices.Equal(got, want) {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		})
	}
}

// The packages of the base Python are found only from an environment that includes them.
func TestEnvironmentOfAnotherPython(t *testing.T) {
	t.Parallel()
	root := tree(t, "base/bin/python3.11", "base/lib/python3.11/site-packages/nvidia/nccl/lib/libnccl.so.2", "venv/lib/python3.11/site-packages/x")
	if err := os.MkdirAll(filepath.Join(root, "venv/bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	python := filepath.Join(root, "venv/bin/python3")
	if err := os.Symlink(filepath.Join(root, "base/bin/python3.11"), python); err != nil {
		testenv.Missing(t, "%v", err)
	}
	for config, want := range map[string]int{"include-system-site-packages = false\n": 0, "include-system-site-packages = true\n": 1} {
		if err := os.WriteFile(filepath.Join(root, "venv/pyvenv.cfg"), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		m := machineAt(root, nil)
		m.Python = python
		locations, err := NCCL.Locations(m)
		if err != nil || len(slices.DeleteFunc(locations, func(p Location) bool { return p.From == "/usr/local/cuda" })) != want {
			t.Errorf("%q: %v, %v", config, locations, err)
		}
	}
}

// A library that another user could have written is not loaded, wherever it is.
func TestPlanted(t *testing.T) {
	const nccl = "nvidia/nccl/lib/libnccl.so.2"
	root := tree(t, "notebook/"+nccl, "notebook/libnccl.so.2", "notebook/lib/python3.12/site-packages/"+nccl, "notebook/lib/libnccl.so.2", "notebook/lib64/libnccl.so.2",
		"notebook/evil/bin/python3", "notebook/evil/lib/python3.12/site-packages/"+nccl, "pyenv/shims/python3", "pyenv/versions/3.12.1/bin/python3",
		"wide/"+nccl, "wide/libnccl.so.2", "mine/libnccl.so.2", "shared/libnccl.so.2", "written/libnccl.so.2")
	for name, mode := range map[string]os.FileMode{"wide": 0o777, "shared": 0o777 | os.ModeSticky, "written/libnccl.so.2": 0o666} {
		if err := os.Chmod(filepath.Join(root, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "notebook/.python-version"), []byte("../../notebook/evil\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../wide/libnccl.so.2", filepath.Join(root, "mine/link.so")); err != nil {
		testenv.Missing(t, "%v", err)
	}
	at := func(name string) string { return filepath.Join(root, name) }
	t.Chdir(at("notebook"))
	for _, row := range []struct{ variable, value, want string }{
		{"PYTHONPATH", ":" + at("mine"), "not an absolute path"},
		{"PYTHONPATH", at("mine") + ":", "not an absolute path"},
		{"PYTHONPATH", ".", "not an absolute path"},
		{"PYTHONPATH", at("wide"), "can be written by everybody"},
		{Variable, ":" + at("empty"), "not an absolute path"},
		{Variable, ".", "not an absolute path"},
		{Variable, at("wide"), "can be written by everybody"},
		{Variable, at("shared"), "can be written by everybody"},
		{Variable, at("written"), "can be written by everybody"},
		{"VIRTUAL_ENV", ".", "not an absolute path"},
		{"CONDA_PREFIX", ".", "not an absolute path"},
		{"CUDA_PATH", ".", "not an absolute path"},
		{"CUDA_HOME", "../notebook", "not an absolute path"},
		{loader.Variable, ":" + at("mine"), "has an empty element, which means the working directory"},
		{loader.Variable, at("mine") + ":", "has an empty element, which means the working directory"},
		{loader.Variable, at("wide"), "can be written by everybody"},
		{"python3", "./python3", ""},
		{"pyenv", at("pyenv/shims/python3"), ""},
		{"home", ".", ""},
	} {
		m := Machine{Loaded: func() []string { return nil }, Env: func(name string) string {
			if name == row.variable {
				return row.value
			}
			return ""
		}}
		switch row.variable {
		case "python3", "pyenv":
			m.Python = row.value
		case "home":
			m.Home = row.value
		}
		locations, err := NCCL.Locations(m)
		if len(locations) > 0 || row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)) {
			t.Errorf("%s=%s: got %v, %v, want %q", row.variable, row.value, locations, err, row.want)
		}
	}
}

func TestSwitchedOff(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"none", "off", "NONE", "0"} {
		m := machineAt("", map[string]string{Variable: value})
		if _, err := CuDNN.Locations(m); !errors.Is(err, ErrOff) {
			t.Errorf("%s: %v", value, err)
		}
		if _, err := CuDNN.open(m, 0); !errors.Is(err, ErrOff) {
			t.Errorf("open with %s: %v", value, err)
		}
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		library *Library
		number  int
		want    string // of the error; empty for none
	}{
		{CuBLASLt, 130401, ""},
		{CuBLASLt, 120000, ""},
		{CuBLASLt, 110901, "version 11.9.1, but only versions from 12.0.0 to below 14.0.0 are supported"},
		{CuBLASLt, 140000, "version 14.0.0"},
		{CuDNN, 92600, ""},
		{CuDNN, 8907, "version 0.89.7"},
		{CuDNN, 100000, "version 10.0.0"},
		{NCCL, 23007, ""},
		{NCCL, 2999, "version 0.29.99"},
		{NCCL, -1, "version"},
	} {
		_, err := row.library.check("lib.so", row.number)
		var e *VersionError
		if (err == nil) != (row.want == "") || err != nil && (!errors.As(err, &e) || !strings.Contains(err.Error(), row.want)) {
			t.Errorf("%s %d: %v, want %q", row.library.Name, row.number, err, row.want)
		}
	}
}

func TestDriverOfTheLibrary(t *testing.T) {
	t.Parallel()
	h := &Handle{Location: Location{Path: "lib.so"}, CUDA: 13020}
	for version, fits := range map[int]bool{12080: false, 13000: true, 13030: true, 14000: true, 0: true} {
		err := h.Runs(version)
		var e *DriverError
		if (err == nil) != fits || err != nil && !errors.As(err, &e) {
			t.Errorf("driver %d: %v", version, err)
		}
	}
}
