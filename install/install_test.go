package install_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/quernlab/quern/install"
)

// spec returns a kernelspec whose executable exists.
func spec(t *testing.T) install.Spec {
	t.Helper()
	exe := filepath.Join(t.TempDir(), "quern")
	if err := os.WriteFile(exe, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return install.Spec{Name: "quern", DisplayName: `Go "x" <y>`, Executable: exe}
}

func TestWriteThenRemove(t *testing.T) {
	kernels := filepath.Join(t.TempDir(), "kernels")
	s := spec(t)
	dir, err := install.Write(s, kernels, false)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "kernel.json"))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Argv        []string `json:"argv"`
		DisplayName string   `json:"display_name"`
	}
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatalf("kernel.json: %v\n%s", err, b)
	}
	want := []string{s.Executable, "kernel", "-f", "{connection_file}"}
	if len(got.Argv) != 4 || got.Argv[0] != want[0] || got.Argv[3] != want[3] || got.DisplayName != s.DisplayName {
		t.Errorf("kernel.json\n want %v %q\n got  %v %q", want, s.DisplayName, got.Argv, got.DisplayName)
	}
	if entries, _ := os.ReadDir(kernels); len(entries) != 1 {
		t.Errorf("something was left beside the kernelspec: %v", entries)
	}
	if _, err := install.Remove("quern", kernels); err != nil {
		t.Fatal(err)
	}
	if _, err := install.Remove("quern", kernels); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("second Remove: want fs.ErrNotExist, got %v", err)
	}
}

func TestWriteKeepsAnother(t *testing.T) {
	kernels := t.TempDir()
	s := spec(t)
	if _, err := install.Write(s, kernels, false); err != nil {
		t.Fatal(err)
	}
	other := s
	other.DisplayName = "other"
	var exists *install.ExistsError
	if _, err := install.Write(other, kernels, false); !errors.As(err, &exists) {
		t.Errorf("want *ExistsError, got %v", err)
	}
	if _, err := install.Write(other, kernels, true); err != nil {
		t.Errorf("with replace: %v", err)
	}
}

func TestBadNames(t *testing.T) {
	for _, name := range []string{"", ".", "..", "a/b", `a\b`, "a b", "ä"} {
		s := spec(t)
		s.Name = name
		var bad *install.NameError
		if _, err := install.Write(s, t.TempDir(), false); !errors.As(err, &bad) {
			t.Errorf("name %q: want *NameError, got %v", name, err)
		}
	}
}

func TestRemoveRefusesOtherFolders(t *testing.T) {
	kernels := t.TempDir()
	precious := filepath.Join(kernels, "precious")
	if err := os.Mkdir(precious, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := install.Remove("precious", kernels); err == nil {
		t.Error("a folder without kernel.json was removed")
	}
	if _, err := os.Stat(precious); err != nil {
		t.Error(err)
	}
}

func TestFindNamesTheProblem(t *testing.T) {
	data := t.TempDir()
	t.Setenv("JUPYTER_DATA_DIR", data)
	t.Setenv("VIRTUAL_ENV", t.TempDir())
	s := spec(t)
	if _, err := install.Write(s, filepath.Join(data, "kernels"), false); err != nil {
		t.Fatal(err)
	}
	find := func() *install.Installed {
		for _, i := range install.Find(t.Context()) {
			if i.Executable == s.Executable {
				return &i
			}
		}
		return nil
	}
	if got := find(); got == nil || got.Problem != "" {
		t.Fatalf("want one without a problem, got %+v", got)
	}
	if err := os.Remove(s.Executable); err != nil {
		t.Fatal(err)
	}
	if got := find(); got == nil || got.Problem == "" {
		t.Errorf("want a problem, got %+v", got)
	}
}
