package kernel_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/kernel"
	"github.com/quernlab/quern/accel/onnx"
	"github.com/quernlab/quern/accel/tensor"
)

// A model that launches a kernel cannot be exported: what the kernel computes is not recorded.
func TestExport(t *testing.T) {
	k := compile(t, file("x[t.Global()] += a"), "k")
	var launched error
	err := onnx.ExportFunc(filepath.Join(t.TempDir(), "m.onnx"), func(in []*tensor.Tensor) []*tensor.Tensor {
		y := in[0].AddScalar(1)
		launched = k.Launch(kernel.Grid(3, 3), float32(1), y, tensor.Zeros(1).Cast(tensor.Int32))
		return []*tensor.Tensor{y}
	}, []*tensor.Tensor{tensor.Ones(3)})
	if err == nil || !strings.Contains(err.Error(), "Launch") || launched != nil {
		t.Errorf("%v, %v", err, launched)
	}
}
