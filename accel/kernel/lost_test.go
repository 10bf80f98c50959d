package kernel_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/kernel"
	"github.com/quernlab/quern/accel/tensor"
)

// A write out of range of an unchecked kernel is an error on the CPU. A GPU loses its memory; the error says what to do. It is in a process of its own, as
// the simulated GPU cannot be used again, either.
func TestUncheckedWrite(t *testing.T) {
	device := os.Getenv("DEVICE_TO_LOSE")
	if device != "" {
		if err := accel.SetDevice(device); err != nil {
			t.Fatal(err)
		}
		x := tensor.Zeros(8)
		t.Log(compile(t, file("x[1<<40+t.Global()] = 1"), "k", kernel.Unchecked()).Launch(kernel.Grid(8, 8), float32(1), x, tensor.Zeros(1).Cast(tensor.Int32)))
		return
	}
	for device, want := range map[string]string{
		"cpu":       "kernel k: kernel.go:10: element 1099511627776 of x, which contains 8, in thread [0 0 0] of block [0 0 0]",
		"simulated": "CUDA_ERROR_ILLEGAL_ADDRESS",
	} {
		c := exec.Command(os.Args[0], "-test.run=^TestUncheckedWrite$", "-test.v")
		c.Env = append(os.Environ(), "DEVICE_TO_LOSE="+device)
		out, err := c.CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) || device == "simulated" && !strings.Contains(string(out), "the contents of GPU memory are lost; restart the session to use the GPU again") {
			t.Errorf("%s: %v\n%s", device, err, out)
		}
	}
}
