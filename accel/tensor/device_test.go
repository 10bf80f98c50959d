package tensor_test

import (
	"testing"

	"github.com/quernlab/quern/accel/internal/cpu"
	"github.com/quernlab/quern/accel/internal/devices"
	"github.com/quernlab/quern/accel/internal/ir"
	"github.com/quernlab/quern/accel/tensor"
)

// A device that no package has added is refused, with the package to import.
func TestUseUnknown(t *testing.T) {
	devices.Register("test", func() (ir.Device, error) { panic("not to be opened") })
	for _, row := range []struct{ device, want string }{
		{"tpu", `accel: device "tpu": there are "cpu", "cuda", and "cuda:1" and so on for other GPUs than the first; imported packages add ["test"]`},
		{"simulated", `accel: device "simulated": the program lacks import _ "github.com/quernlab/quern/accel/simulated"`},
		{"simulated:7", `accel: device "simulated:7": the program lacks import _ "github.com/quernlab/quern/accel/simulated"`},
	} {
		if err := tensor.Use(row.device); err == nil || err.Error() != row.want {
			t.Errorf("Use(%q)\n got  %v\n want %v", row.device, err, row.want)
		}
	}
}

// trimmed is a device that counts how often its memory was given back.
type trimmed struct {
	ir.Device
	times int
}

func (d *trimmed) Name() string { return "trimmed" }
func (d *trimmed) Trim() error  { d.times++; return nil }

// A device that a program leaves gives back the memory that it keeps, so that others can have it.
func TestUseTrims(t *testing.T) {
	d := &trimmed{Device: cpu.New(0)}
	devices.Register("trimmed", func() (ir.Device, error) { return d, nil })
	for _, row := range []struct {
		device string
		times  int
	}{{"trimmed", 0}, {"trimmed", 0}, {"cpu", 1}, {"cpu", 1}} {
		if err := tensor.Use(row.device); err != nil {
			t.Fatal(err)
		}
		if d.times != row.times {
			t.Errorf("Use(%q): given back %d times, want %d", row.device, d.times, row.times)
		}
	}
}
