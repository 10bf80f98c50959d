package tensor_test

import (
	"testing"

	"github.com/quernlab/quern/accel/internal/cpu"
	"github.com/quernlab/quern/accel/internal/engine/devices"
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
)

// An unknown device is an error that names the package to import.
func TestSetDeviceUnknown(t *testing.T) {
	devices.Register("test", func() (ir.Device, error) { panic("not to be opened") })
	for _, row := range []struct{ device, want string }{
		{"tpu", `accel: device "tpu": there is no such device; use "cpu", "cuda" for the first GPU, or "cuda:1" and so on for the others; imported packages add ["test"]`},
		{"simulated", `accel: device "simulated": the device is not registered; add import _ "github.com/quernlab/quern/accel/simulated" to the program`},
		{"simulated:7", `accel: device "simulated:7": the device is not registered; add import _ "github.com/quernlab/quern/accel/simulated" to the program`},
	} {
		if err := tensors.SetDevice(row.device); err == nil || err.Error() != row.want {
			t.Errorf("SetDevice(%q)\n got  %v\n want %v", row.device, err, row.want)
		}
	}
}

// trimCounter is a device that counts the calls to Trim.
type trimCounter struct {
	ir.Device
	times int
}

func (d *trimCounter) Name() string { return "trimCounter" }
func (d *trimCounter) Trim() error  { d.times++; return nil }

// A program that switches to another device releases the memory of the previous one.
func TestSetDeviceTrims(t *testing.T) {
	d := &trimCounter{Device: cpu.New(0)}
	devices.Register("trimCounter", func() (ir.Device, error) { return d, nil })
	for _, row := range []struct {
		device string
		times  int
	}{{"trimCounter", 0}, {"trimCounter", 0}, {"cpu", 1}, {"cpu", 1}} {
		if err := tensors.SetDevice(row.device); err != nil {
			t.Fatal(err)
		}
		if d.times != row.times {
			t.Errorf("SetDevice(%q): %d calls to Trim, want %d", row.device, d.times, row.times)
		}
	}
}
