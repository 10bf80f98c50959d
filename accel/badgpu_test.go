//go:build !race

// The race detector makes the simulated GPU ten times slower.

package accel_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/internal/cuda"
	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/fake"
	"github.com/quernlab/quern/accel/internal/engine/devices"
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/interp"
)

// badGPUs counts the faulty GPUs, since a device that was lost cannot be used again.
var badGPUs atomic.Int64

// badGPU adds a device for the first GPU of a simulated machine and returns its name.
func badGPU(machine func() (driver.Driver, error)) string {
	name := fmt.Sprintf("simulated:bad %d", badGPUs.Add(1))
	devices.Register(name, func() (ir.Device, error) {
		d, err := machine()
		if err != nil {
			return nil, err
		}
		return cuda.Open(name, d, 0, cuda.Libraries{})
	})
	return name
}

// TestDeviceError verifies that Fit returns a fault of the GPU as a *DeviceError and does not
// panic.
func TestDeviceError(t *testing.T) {
	device := badGPU(func() (driver.Driver, error) {
		d, err := fake.Open(fake.Options{})
		if err == nil {
			d.Inject(fake.Injection{Call: "Launch", Code: driver.LaunchOutOfResources})
		}
		return d, err
	})
	train, _, err := data.Digits()
	if err != nil {
		t.Fatal(err)
	}
	_, err = accel.Fit(t.Context(), nn.Sequential(nn.Flatten(), nn.Dense(10)), train, accel.Epochs(1), accel.Quiet(), accel.On(device))
	var failed *tensor.DeviceError
	if !errors.As(err, &failed) || failed.Device != device || !errors.Is(err, driver.LaunchOutOfResources) {
		t.Errorf("got %v", err)
	}
}

// TestBadGPUs trains in a session on GPUs that fail in different ways: the cell reports the
// reason, the session continues, and the training resumes from its last checkpoint.
func TestBadGPUs(t *testing.T) {
	opened := func(o fake.Options, faults ...fake.Injection) func() (driver.Driver, error) {
		return func() (driver.Driver, error) {
			d, err := fake.Open(o)
			if err != nil {
				return nil, err
			}
			for _, f := range faults {
				d.Inject(f)
			}
			return d, nil
		}
	}
	const restart = "restart the session to use the GPU again"
	later := 30 // calls that succeed, so that there is a checkpoint before the failure
	for _, row := range []struct {
		name    string
		machine func() (driver.Driver, error)
		want    []string
		after   bool // something was trained before the failure
		lost    bool // the GPU is lost
		again   bool // the GPU works again afterwards
	}{
		{name: "no device", machine: opened(fake.Options{Devices: -1}), want: []string{"no CUDA GPU"}},
		{name: "old driver", machine: opened(fake.Options{Version: 11020}), want: []string{"no CUDA GPU", "only supports CUDA 11.2", "update the driver"}},
		{name: "old GPU", machine: opened(fake.Options{Capability: 70}), want: []string{"no CUDA GPU", "7.0"}},
		{name: "taken", machine: opened(fake.Options{}, fake.Injection{Call: "Context", Times: -1, Code: driver.DeviceUnavailable}),
			want: []string{"CUDA_ERROR_DEVICE_UNAVAILABLE", "another process uses the GPU exclusively"}},
		{name: "kernels newer than the driver", machine: opened(fake.Options{}, fake.Injection{Call: "Load", Times: -1, Code: driver.UnsupportedPTXVersion}),
			want: []string{"CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "the NVIDIA driver is too old for this kernel"}},
		{name: "little memory", machine: opened(fake.Options{Memory: 20 << 10}), want: []string{"out of memory", "smaller batch"}},
		{name: "memory taken by others", machine: opened(fake.Options{}, fake.Injection{Call: "Alloc", Skip: later, Times: 2, Code: driver.OutOfMemory}),
			want: []string{"out of memory"}, after: true, again: true},
		{name: "a launch is refused", machine: opened(fake.Options{}, fake.Injection{Call: "LaunchGraph", Skip: later, Code: driver.LaunchOutOfResources}),
			want: []string{"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"}, after: true, again: true},
		{name: "a kernel faults", machine: opened(fake.Options{}, fake.Injection{Call: "LaunchGraph", Skip: later, Code: driver.IllegalAddress}),
			want: []string{"CUDA_ERROR_ILLEGAL_ADDRESS", restart}, after: true, lost: true},
		{name: "a kernel hangs", machine: opened(fake.Options{}, fake.Injection{Call: "LaunchGraph", Skip: later, Code: driver.LaunchTimeout}),
			want: []string{"CUDA_ERROR_LAUNCH_TIMEOUT", restart}, after: true, lost: true},
		{name: "memory fails", machine: opened(fake.Options{}, fake.Injection{Call: "SyncStream", Skip: later, Code: driver.ECCUncorrectable}),
			want: []string{"CUDA_ERROR_ECC_UNCORRECTABLE", "have the GPU checked"}, after: true, lost: true},
		{name: "the device is lost", machine: opened(fake.Options{}, fake.Injection{Call: "CopyToHost", Skip: later, Code: driver.Unknown}),
			want: []string{"CUDA_ERROR_UNKNOWN", restart}, after: true, lost: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			device := badGPU(row.machine)
			session, err := interp.New()
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			cell := 0
			execute := func(code string) (interp.Result, error) {
				cell++
				return session.Execute(t.Context(), cell, code)
			}
			path := filepath.Join(t.TempDir(), "training.safetensors")
			fit := func(device string, epochs int) string {
				return fmt.Sprintf(`accel.Seed(1)
model := nn.Sequential(nn.Flatten(), nn.Dense(10))
run, err := accel.Fit(ctx, model, train.First(64), accel.Epochs(%d), accel.BatchSize(16), accel.Quiet(), accel.On(%q), accel.Resume(%q))
last = len(run.Epochs)`, epochs, device, path)
			}
			if _, err := execute("kept, last := 42, 0\ntrain, _, _ := data.Digits()"); err != nil {
				t.Fatal(err)
			}
			_, err = execute(fit(device, 50))
			var cellError *interp.Error
			if !errors.As(err, &cellError) || cellError.Name != "error" {
				t.Fatalf("the cell ended with %v", err)
			}
			for _, want := range row.want {
				if !strings.Contains(cellError.Value, want) {
					t.Errorf("%q is not in %q", want, cellError.Value)
				}
			}
			if lost := tensors.DeviceLost(); row.lost && lost == nil || !row.lost && lost != nil && strings.Contains(lost.Error(), device+":") {
				t.Errorf("the GPU has failed for good: %v", lost)
			}
			// The variables still exist, and the training continues on the CPU.
			result, err := execute("kept")
			if err != nil || fmt.Sprint(result.Data["text/plain"]) != "42" {
				t.Fatalf("a variable of before: %v, %v", result.Data["text/plain"], err)
			}
			if accel.Device() != "cpu" {
				t.Errorf("%s is in use", accel.Device())
			}
			trained := func() (epochs int) {
				result, err := execute("last")
				if err == nil {
					_, err = fmt.Sscan(fmt.Sprint(result.Data["text/plain"]), &epochs)
				}
				if err != nil {
					t.Fatal(err)
				}
				return epochs
			}
			failedAt := trained()
			if (failedAt > 0) != row.after {
				t.Errorf("%d epochs before it failed", failedAt)
			}
			on := "cpu"
			if row.again {
				on = device
			}
			if _, err := execute(fit(on, failedAt+1)); err != nil {
				t.Fatal(err)
			}
			if got := trained(); got != failedAt+1 {
				t.Errorf("%d epochs after the training has gone on, want %d", got, failedAt+1)
			}
			if !row.lost {
				return
			}
			if _, err = execute(fit(device, failedAt+2)); err == nil || !strings.Contains(err.Error(), row.want[0]) {
				t.Errorf("the GPU that is lost: %v", err)
			}
		})
	}
}
