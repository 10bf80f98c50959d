//go:build cgo

package main

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quernlab/quern/internal/testenv"
)

// A program that imports accel, and quern itself, start when the linker is told to bind all
// symbols at start (-z now), as hardened toolchains do by default. go-nvml relies on lazy
// binding, so without gpu/internal/nvmlsymbols both would fail with "undefined symbol".
func TestImmediateBinding(t *testing.T) {
	if testing.Short() {
		t.Skip("links two programs")
	}
	t.Parallel()
	testenv.Command(t, "gcc")
	for _, test := range []struct {
		program string
		args    []string
		want    string
	}{
		{"../../examples/loop", []string{"-epochs", "1"}, "epoch"},
		{".", []string{"version"}, "quern"},
	} {
		file := filepath.Join(t.TempDir(), "program")
		build := exec.CommandContext(t.Context(), "go", "build", "-o", file,
			"-ldflags=-s -w -linkmode=external -extldflags=-Wl,-z,now", test.program)
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", build.Args, err, out)
		}
		if !bindsNow(t, file) {
			t.Errorf("%s: the linker has ignored -z now, so this test shows nothing", test.program)
		}
		run := exec.CommandContext(t.Context(), file, test.args...)
		run.Env = append(os.Environ(), "LD_BIND_NOW=1")
		if out, err := run.CombinedOutput(); err != nil || !strings.Contains(string(out), test.want) {
			t.Errorf("%s %v: %v\n%s", test.program, test.args, err, out)
		}
	}
}

// bindsNow reports whether the dynamic linker resolves all symbols of a program at start.
func bindsNow(t *testing.T, file string) bool {
	t.Helper()
	f, err := elf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	flags, err := f.DynValue(elf.DT_FLAGS)
	if err != nil {
		t.Fatal(err)
	}
	for _, flag := range flags {
		if elf.DynFlag(flag)&elf.DF_BIND_NOW != 0 {
			return true
		}
	}
	return false
}
