package kernel_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/internal/cuda/cubin"
	"github.com/quernlab/quern/internal/testenv"
)

// NVIDIA's assembler accepts the PTX of all kernels.
func TestAssembles(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	if venv, err := filepath.Abs("../../.venv"); err == nil && os.Getenv("VIRTUAL_ENV") == "" {
		t.Setenv("VIRTUAL_ENV", venv) // that of make kernelspec
	}
	for _, capability := range []int{80, 90, 100} {
		a, err := cubin.New(capability)
		if err != nil {
			testenv.Missing(t, "%v", err)
		}
		for _, l := range slices.Concat(launches(), launchesOfStudents()) {
			if _, err := a.Assemble(t.Context(), compile(t, l.text, l.name).PTX()); err != nil {
				t.Errorf("%s for %d: %v", l.name, capability, err)
			}
		}
		for name := range mmaProducts {
			if _, err := a.Assemble(t.Context(), compile(t, mmaKernels, name).PTX()); err != nil {
				t.Errorf("%s for %d: %v", name, capability, err)
			}
		}
	}
}
