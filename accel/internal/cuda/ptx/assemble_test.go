package ptx

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/internal/testenv"
)

// assembler returns the path of ptxas.
func assembler(t *testing.T) string {
	t.Helper()
	ptxas, err := exec.LookPath("ptxas")
	for _, venv := range []string{os.Getenv("VIRTUAL_ENV"), "../../../../.venv"} {
		if found, _ := filepath.Glob(filepath.Join(venv, "lib/python3*/site-packages/nvidia/cuda_nvcc/bin/ptxas")); err != nil && len(found) > 0 {
			ptxas, err = found[0], nil
		}
	}
	if err != nil {
		testenv.Missing(t, "ptxas is not installed (pip install nvidia-cuda-nvcc-cu12), so the kernels cannot be assembled")
	}
	return ptxas
}

// TestAssemble assembles a kernel of each op in both types, and with 16-bit results, with
// NVIDIA's ptxas if it is installed: the simulator of the other tests might accept PTX that
// ptxas rejects.
func TestAssemble(t *testing.T) {
	ptxas := assembler(t)
	if testing.Short() {
		t.Skip("some seconds of ptxas")
	}
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	dir := t.TempDir()
	for name := range definitions {
		for _, d := range []ir.DType{ir.Float32, ir.Float64, ir.Float16, ir.BFloat16} {
			if d.Is16Bit() && name != "ReLU" { // only the store differs
				continue
			}
			group.Go(func() error {
				s := ir.Step{Shape: []int{100}, Loop: []ir.Instr{{Op: operationOf(name)}}, Out: []ir.Operand{{Slot: 3, DType: d, Layout: ir.RowMajor([]int{100})}}}
				for i := range arity(name) {
					s.In = append(s.In, ir.Operand{Slot: i, DType: d, Layout: ir.RowMajor([]int{100})})
					s.Loop[0].Args = append(s.Loop[0].Args, i)
				}
				l, err := New(s, 1)
				if err != nil {
					return err
				}
				file := filepath.Join(dir, name+d.String())
				if err := os.WriteFile(file, []byte(l.PTX), 0o600); err != nil {
					return err
				}
				if out, err := exec.CommandContext(t.Context(), ptxas, "-arch=sm_80", "-o", file+".cubin", file).CombinedOutput(); err != nil {
					t.Errorf("%s of %s: %v\n%s", name, d, err, out)
				}
				return nil
			})
		}
	}
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
}
