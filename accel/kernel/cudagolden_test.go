package kernel_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/cuda/library"
	"github.com/quernlab/quern/accel/kernel"
	"github.com/quernlab/quern/internal/golden"
	"github.com/quernlab/quern/internal/testenv"
)

// cudaFiles are the files of testdata/cuda without their ending: the sources, and the PTX that NVRTC has made of them.
var cudaFiles = []string{"basic", "blocks", "tiles", "matrix", "groups", "print"}

// fromNVRTC compiles the sources with NVRTC.
func fromNVRTC(t *testing.T, file string) map[string]*kernel.Kernel {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "cuda", file+".cu"))
	if err != nil {
		t.Fatal(err)
	}
	all, err := kernel.CompileCUDAAll("#line 1 \"" + file + ".cu\"\n" + string(text))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// fromPTX reads the PTX of the sources.
func fromPTX(t *testing.T, file string) map[string]*kernel.Kernel {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "cuda", file+".ptx"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*kernel.Kernel{}
	for line := range strings.Lines(string(text)) {
		if _, rest, ok := strings.Cut(line, ".entry "); ok {
			k, err := kernel.CompilePTX(string(text), strings.TrimRight(rest, "(\n"))
			if err != nil {
				t.Fatal(err)
			}
			all[k.Name()] = k
		}
	}
	return all
}

// installedNVRTC skips the test without NVRTC.
func installedNVRTC(t *testing.T) {
	t.Helper()
	if venv, err := filepath.Abs("../../.venv"); err == nil && os.Getenv("VIRTUAL_ENV") == "" {
		t.Setenv("VIRTUAL_ENV", venv) // that of make kernelspec
	}
	if _, err := kernel.CompileCUDA("__global__ void k() {}", "k"); errors.As(err, new(*library.MissingError)) || errors.Is(err, library.ErrBuild) {
		testenv.Optional(t, "%v", err)
	}
}

// What the simulator does not read of the PTX, and what depends on the machine.
var (
	headerFolder = regexp.MustCompile(`(\.file\s+\d+ ")/.*/include/`)
	debugSection = regexp.MustCompile(`(?s)\s*\.section\s+\.debug.*?\n\s*\}\n`)
	functionName = regexp.MustCompile(`, function_name [^,\n]*`)
)

// With -update, NVRTC writes the PTX of the sources. The files depend on its version.
func TestUpdatePTX(t *testing.T) {
	if !golden.Update() {
		testenv.Optional(t, "only with -update")
	}
	installedNVRTC(t)
	for _, file := range cudaFiles {
		for _, k := range fromNVRTC(t, file) {
			text := headerFolder.ReplaceAllString(k.PTX(), "${1}/cuda/include/")
			text = functionName.ReplaceAllString(debugSection.ReplaceAllString(text, ""), "")
			if err := os.WriteFile(filepath.Join("testdata", "cuda", file+".ptx"), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			break // all have the same text
		}
	}
}
