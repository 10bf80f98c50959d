package kernel_test

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/accel/internal/cuda"
	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/fake"
	registry "github.com/quernlab/quern/accel/internal/engine/devices"
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/kernel"
	"github.com/quernlab/quern/accel/tensor"
)

// timed is a GPU on which each kernel takes kernelTime.
const (
	timed      = "timed"
	kernelTime = 4 * time.Millisecond
)

func init() {
	registry.Register(timed, func() (ir.Device, error) {
		d, err := fake.Open(fake.Options{Capability: 90, KernelTime: func(string, driver.Dim, driver.Dim) time.Duration { return kernelTime }})
		if err != nil {
			return nil, err
		}
		return cuda.Open(timed, d, 0, cuda.Libraries{})
	})
}

// What Profile counts, beside numbers that are counted by hand.
func TestProfileCounts(t *testing.T) {
	for _, device := range devicesOfProfile {
		on(t, device, func() {
			x, y := tensor.New(floats(1000), 1000), tensor.Ones(1000)
			p, err := kernel.Profile(compile(t, kernels, "saxpy"), kernel.Grid(1000, 256), float32(2), x, y)
			if err != nil {
				t.Fatal(device, err)
			}
			// Each of 1000 threads reads x and y, multiplies, adds and writes y.
			if w := p.Work; w.Blocks != 4 || w.FLOPs != 2000 || w.Loaded != 8000 || w.Stored != 4000 || w.Instructions == 0 || p.Bytes != 12000 || p.FLOPs != 2000 || p.Blocks != 4 {
				t.Errorf("%s: %+v", device, p)
			}
			if got := y.Data(); slices.Max(got) != 1 || slices.Min(got) != 1 {
				t.Errorf("%s: Profile has changed y", device)
			}
			if len(p.Lines) != 1 || p.Lines[0].Line != 11 {
				t.Errorf("%s: lines %v", device, p.Lines)
			}
		})
	}
}

var devicesOfProfile = append([]string{timed}, devices...)

// On a simulated GPU there are no times, and the report says so. The occupancy is that of NVIDIA's calculator.
func TestProfileOnSimulatedGPU(t *testing.T) {
	on(t, "simulated", func() {
		x, y := tensor.Zeros(64, 64), tensor.Zeros(64, 64)
		p, err := kernel.Profile(compile(t, kernels, "tiled"), kernel.Grid2D(64, 64, 16, 16), 64, 64, 64, x, y, tensor.Zeros(64, 64))
		if err != nil {
			t.Fatal(err)
		}
		if p.Time != 0 || p.Bandwidth() != 0 || p.Speed() != 0 || p.Registers != 0 || p.Roofline() != nil || p.SharedBytes != 2048 || p.FLOPs != 2*64*64*64 {
			t.Errorf("%+v", p)
		}
		if part, _ := p.Peak(); part != 0 {
			t.Error(part)
		}
		// 256 threads of 8.0 without registers: 2048/256.
		if want := (&kernel.Occupancy{Blocks: 8, Warps: 64, MaxWarps: 64, LimitedBy: []string{"warps"}}); !reflect.DeepEqual(p.Occupancy, want) {
			t.Errorf("%+v", p.Occupancy)
		}
		for _, want := range []string{"Counts only: a simulated GPU has no times", "100.0 %", "64 of 64 warps: 8 blocks on an SM, limited by warps", "524 k", "2048 B"} {
			if !strings.Contains(p.String(), want) {
				t.Errorf("%q is missing in\n%s", want, p)
			}
		}
	})
}

// On a GPU the time is that between two events around the kernel.
func TestProfileOnGPU(t *testing.T) {
	on(t, timed, func() {
		x := tensor.Ones(1000)
		p, err := kernel.Profile(compile(t, kernels, "saxpy"), kernel.Grid(1000, 256), float32(2), x, tensor.Ones(1000))
		if err != nil {
			t.Fatal(err)
		}
		near := func(got, want float64) bool { return math.Abs(got-want) < 1e-3*want } // the driver measures in float32
		// The GPU waits for the launch if the host is slow between the first event and the launch.
		if s := p.Time.Seconds(); s < 0.999*kernelTime.Seconds() || !near(p.Bandwidth(), 12000/s) || !near(p.Speed(), 2000/s) {
			t.Errorf("%+v", p)
		}
		part, memory := p.Peak()
		if !(part > 0) || !memory || p.Roofline() == nil {
			t.Error(part, memory)
		}
		for _, want := range []string{"kernel saxpy on timed, Fake GPU", "of what the memory bandwidth allows", "MB/s", "kFLOP/s", "64 of 64 warps: 8 blocks on an SM, limited by warps"} {
			if !strings.Contains(p.String(), want) {
				t.Errorf("%q is missing in\n%s", want, p)
			}
		}
	})
}

// On the CPU there is a time, and no occupancy.
func TestProfileOnCPU(t *testing.T) {
	p, err := kernel.Profile(compile(t, kernels, "sum"), kernel.Grid(600, 256), tensor.Ones(1000), tensor.Zeros(1))
	if err != nil {
		t.Fatal(err)
	}
	if p.Time <= 0 || p.Occupancy != nil || p.GPU != "" || p.Bytes != 4000+8 {
		t.Errorf("%+v", p)
	}
}

// Profile returns the faults that Check finds, and the errors of Launch.
func TestProfileErrors(t *testing.T) {
	k := compile(t, kernels, "saxpy")
	if _, err := kernel.Profile(k, kernel.Grid(3, 3), 2, tensor.Ones(3), tensor.Ones(3)); err == nil || !strings.Contains(err.Error(), "the argument for a is a int, not a float32") {
		t.Error(err)
	}
	for _, device := range devices {
		on(t, device, func() {
			var f *kernel.Fault
			if _, err := kernel.Profile(k, kernel.Grid(3, 3), float32(2), tensor.Ones(2), tensor.Ones(3)); !errors.As(err, &f) || f.Index != 2 {
				t.Error(device, err)
			}
		})
	}
}

// The CPU runs a kernel in PTX on a simulated GPU: there are counts only.
func TestProfileOfPTX(t *testing.T) {
	k, err := kernel.CompilePTX(compile(t, kernels, "saxpy").PTX(), "kernel")
	if err != nil {
		t.Fatal(err)
	}
	x, y, record := tensor.Ones(1000), tensor.Ones(1000), tensor.Full(255, 48).Cast(tensor.Uint8)
	for _, device := range devices {
		on(t, device, func() {
			p, err := kernel.Profile(k, kernel.Grid(1000, 256), uint64(math.Float32bits(2)), x, 1000, y, 1000, record)
			if err != nil {
				t.Fatal(err)
			}
			if p.Time != 0 || p.Work.FLOPs != 2000 || p.Bytes != 4000+4000+48 || (p.Occupancy != nil) != (device != "cpu") || !strings.Contains(p.String(), "Counts only: ") {
				t.Errorf("%s: %+v", device, p)
			}
		})
	}
}
