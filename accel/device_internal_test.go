package accel

import (
	"math"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/history"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

func TestDeviceInUse(t *testing.T) {
	for _, device := range []string{"cpu", "simulated"} {
		text := (&DeviceList{InUse: device, Missing: "no CUDA GPU"}).String()
		if strings.Count(text, "in use") != 1 {
			t.Errorf("%s is in use, but the list is\n%s", device, text)
		}
		for line := range strings.Lines(text) {
			if strings.Contains(line, "in use") != strings.HasPrefix(line, device+" ") {
				t.Errorf("%s is in use, but the list has %q", device, line)
			}
		}
	}
}

// A tensor of 1 MiB is allocated until it is released, on the CPU and on a GPU, which keeps its memory for the next one.
func TestMemory(t *testing.T) {
	for _, device := range []string{"cpu", "simulated"} {
		if err := SetDevice(device); err != nil {
			t.Fatal(err)
		}
		memory := func() *MemoryUse {
			t.Helper()
			m, err := Memory()
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		before := memory()
		x := tensor.Zeros(1 << 18).AddScalar(1)
		with := memory()
		x.Release()
		after := memory()
		if with.Allocated-before.Allocated != 1<<20 || after.Allocated != before.Allocated {
			t.Errorf("%s: %d bytes are allocated before, %d with a tensor, %d after its release", device, before.Allocated, with.Allocated, after.Allocated)
		}
		if with.Device != Device() || with.Peak < with.Allocated || with.Reserved < before.Reserved || with.Limit <= 0 {
			t.Errorf("%+v", with)
		}
		if device != "cpu" && after.Reserved < before.Reserved+1<<20 {
			t.Errorf("%s: %d bytes are reserved after the release, %d before", device, after.Reserved, before.Reserved)
		}
		for _, want := range []string{Device() + ":", "allocated", "reserved", "at the peak"} {
			if !strings.Contains(with.String(), want) {
				t.Errorf("%q is missing in %s", want, with)
			}
		}
		if _, ok := with.Report().MIMEBundle()["image/svg+xml"]; !ok {
			t.Error("no figure")
		}
	}
	if err := SetDevice("cpu"); err != nil {
		t.Fatal(err)
	}
}

func TestAssumePowerInFit(t *testing.T) {
	train, _, err := data.Digits()
	if err != nil {
		t.Fatal(err)
	}
	model := nn.Sequential(nn.Flatten(), nn.Dense(10))
	for _, watts := range []float64{0, -5, math.NaN(), math.Inf(1)} {
		if _, err := Fit(t.Context(), model, train, AssumePower(watts), Quiet()); err == nil || !strings.Contains(err.Error(), "must be a positive number of watts") {
			t.Errorf("%v W: %v", watts, err)
		}
	}
	for _, options := range [][]Option{{AssumePower(40)}, {MeasureEnergy()}, {MeasureEnergy(), Live(Power)}, {AssumePower(40), Track(t.TempDir())}} {
		run, err := Fit(t.Context(), model, train, append(options, Epochs(1), Quiet())...)
		if err != nil {
			t.Fatal(err)
		}
		if len(run.Utilization.Samples) == 0 {
			t.Errorf("%v: nothing was recorded", options)
		}
		e := run.EnergyUse()
		if e.Source == history.AssumedEnergy && math.Abs(e.Joules-40*run.Time.Total.Seconds()) > 1e-9 {
			t.Errorf("%v: %v", options, e)
		}
		if assumed := options[0].String() == "AssumePower(40)"; !assumed && e.Source == history.AssumedEnergy || assumed && e.Source == history.UnknownEnergy {
			t.Errorf("%v: %v", options, e)
		}
	}
	plain, err := Fit(t.Context(), model, train, Epochs(1), Quiet())
	if err != nil || len(plain.Utilization.Samples) > 0 || strings.Contains(plain.Summary(), " J") {
		t.Errorf("%v, %v", err, plain.Summary())
	}
}
