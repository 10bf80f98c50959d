//go:build linux && cgo && (amd64 || arm64)

package gpu

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock"

	"github.com/quernlab/quern/internal/testenv"
)

// Each case runs in a child process: this binary with these variables set and immediate
// binding, as in hardened toolchains.
const (
	childLibrary = "QUERN_TEST_NVML_LIBRARY"
	childTask    = "QUERN_TEST_NVML_TASK"
)

func TestMain(m *testing.M) {
	if library := os.Getenv(childLibrary); library != "" {
		if err := child(library, os.Getenv(childTask)); err != nil {
			fmt.Println(err)
			fmt.Println("is ErrNoGPU:", errors.Is(err, ErrNoGPU))
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func child(library, task string) error {
	task, argument, _ := strings.Cut(task, " ")
	print := func(d Device) {
		s := d.Sample()
		if !math.IsNaN(s.SMs) {
			fmt.Println("counters before there was a second sample")
		}
		fmt.Println(d.Name(), s.Busy, s.ProcessBusy, s.MemUsed/(1<<30), s.MemTotal/(1<<30),
			s.Watts, s.WattsLimit, s.Joules, s.Celsius, s.ClockMHz)
		for range 2 {
			if s = d.Sample(); !math.IsNaN(s.SMs) || s.Slowed != "" {
				fmt.Println(s.SMs, s.Occupancy, s.TensorCores, s.MemoryBus, s.Slowed)
			}
		}
	}
	switch task {
	case "open", "pci":
		// Twice: the library can be loaded again after it was closed.
		for range 2 {
			d, err := open(library, argument)
			if task == "pci" {
				d, err = openPCI(library, argument)
			}
			if err != nil {
				return err
			}
			print(d)
			if err := d.Close(); err != nil {
				return err
			}
		}
	case "devices", "from":
		all, err := openFrom(library, "", 0)
		if task == "from" {
			all, err = openFrom(library, argument, 8)
		}
		if err != nil {
			return err
		}
		for _, d := range all {
			print(d)
		}
		for _, d := range all {
			if err := d.Close(); err != nil {
				return err
			}
		}
	}
	return nil
}

func TestNVML(t *testing.T) {
	cc := testenv.Command(t, "cc")
	const (
		seen  = "20.5 30.5 50.5 NaN its temperature and the power limit\n"
		one   = "Fake one 84 NaN 96 150 350 700 1234.5 61 NaN\n" + seen + seen
		two   = "Fake two 84 NaN 96 150 350 700 1234.5 61 NaN\n"
		isNot = "\nis ErrNoGPU: true\n"
	)
	tests := []struct {
		name  string
		flags []string
		task  string
		want  string
	}{
		{"first", nil, "open", one + one},
		{"all", nil, "devices", one + two},
		{"visible by index", nil, "open 1,0", two + two},
		{"visible by UUID", nil, "open GPU-two", two + two},
		{"PCI bus", nil, "pci 0000:3b:00.0", two + two},
		{"from a PCI bus on", nil, "from 0000:3b:00.0", two},
		{"from an unknown PCI bus on", nil, "from 1", `no GPU: PCI bus id "1": there is no such device` + isNot},
		{"old driver", []string{"-DOLD"}, "open", strings.Repeat("Fake one 84 NaN 96 150 350 NaN NaN 61 NaN\n", 2)},
		{"from a PCI bus on, old driver", []string{"-DOLD", "-DnvmlDeviceGetIndex=other"}, "from 0000:3b:00.0",
			`no GPU: PCI bus id "0000:3b:00.0": the NVIDIA driver is too old for this query` + isNot},
		{"hidden", nil, "open -1", `no GPU: CUDA_VISIBLE_DEVICES is "-1": there is no such device` + isNot},
		{"unknown UUID", nil, "open GPU-x", `no GPU: CUDA_VISIBLE_DEVICES is "GPU-x": there is no such device` + isNot},
		{"unknown PCI bus", nil, "pci 1", `no GPU: PCI bus id "1": there is no such device` + isNot},
		{"none", []string{"-DCOUNT=0"}, "devices", "no GPU: the driver lists no GPU" + isNot},
		{"no kernel module", []string{"-DINIT=9"}, "open", "no GPU: the NVIDIA kernel module is not loaded; try nvidia-smi" + isNot},
		{"unknown code", []string{"-DINIT=999"}, "open", "no GPU: NVML error 999" + isNot},
		{"not NVML", []string{"-DnvmlInit_v2=other"}, "open",
			"no GPU: LIBRARY has no nvmlInit: it is not a usable NVIDIA driver library" + isNot},
		{"absent", []string{"absent"}, "open",
			"no GPU: libnvidia-ml.so.1 is not installed: there is no NVIDIA driver, or the container was started without --gpus" + isNot},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			library := filepath.Join(t.TempDir(), "libnvidia-ml.so.1")
			if len(tt.flags) == 0 || tt.flags[0] != "absent" {
				args := append([]string{"-shared", "-fPIC", "-o", library, "testdata/nvml.c"}, tt.flags...)
				if out, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
					t.Fatalf("cc: %v\n%s", err, out)
				}
			}
			c := exec.Command(os.Args[0])
			c.Env = append(os.Environ(), "LD_BIND_NOW=1", childLibrary+"="+library, childTask+"="+tt.task)
			var stderr bytes.Buffer
			c.Stderr = &stderr
			out, err := c.Output()
			if err != nil {
				t.Fatalf("the child ended with %v\n%s%s", err, out, &stderr)
			}
			if got := strings.ReplaceAll(string(out), library, "LIBRARY"); got != tt.want {
				t.Errorf("task %q\n want %s\n got  %s", tt.task, tt.want, got)
			}
		})
	}
}

func TestOpenHidden(t *testing.T) {
	t.Setenv(visibleDevices, "")
	if _, err := Open(); !errors.Is(err, ErrNoGPU) || !strings.Contains(err.Error(), visibleDevices) {
		t.Errorf("want ErrNoGPU that names %s, got %v", visibleDevices, err)
	}
}

// refusing returns one error code for every query.
type refusing struct {
	nvml.Device
	code nvml.Return
}

func (d refusing) GetUtilizationRates() (nvml.Utilization, nvml.Return) {
	return nvml.Utilization{Gpu: 1}, d.code
}
func (d refusing) GetMemoryInfo() (nvml.Memory, nvml.Return)                    { return nvml.Memory{Used: 1}, d.code }
func (d refusing) GetPowerUsage() (uint32, nvml.Return)                         { return 1, d.code }
func (d refusing) GetEnforcedPowerLimit() (uint32, nvml.Return)                 { return 1, d.code }
func (d refusing) GetTotalEnergyConsumption() (uint64, nvml.Return)             { return 1, d.code }
func (d refusing) GetTemperature(nvml.TemperatureSensors) (uint32, nvml.Return) { return 1, d.code }
func (d refusing) GetClockInfo(nvml.ClockType) (uint32, nvml.Return)            { return 1, d.code }
func (d refusing) GetCurrentClocksThrottleReasons() (uint64, nvml.Return)       { return 4, d.code }

// A quantity that the GPU does not report is NaN, not an uninitialized value.
func TestRefusedQuantitiesAreNaN(t *testing.T) {
	for _, code := range []nvml.Return{nvml.ERROR_NOT_SUPPORTED, nvml.ERROR_GPU_IS_LOST, nvml.ERROR_UNKNOWN} {
		s := (&graphics{device: refusing{code: code}}).Sample()
		want := unmeasured(s.At)
		if fmt.Sprint(s) != fmt.Sprint(want) {
			t.Errorf("code %d\n want %v\n got  %v", code, want, s)
		}
	}
}

func TestSlowReasons(t *testing.T) {
	for _, row := range []struct {
		reasons uint64
		want    string
	}{
		{0, ""}, {nvml.ClocksEventReasonGpuIdle, ""}, {nvml.ClocksEventReasonApplicationsClocksSetting, ""},
		{nvml.ClocksEventReasonSwPowerCap, "the power limit"},
		{nvml.ClocksEventReasonSwPowerCap | nvml.ClocksEventReasonSwThermalSlowdown, "its temperature and the power limit"},
		{nvml.ClocksThrottleReasonHwSlowdown, "the hardware's protection"},
		{nvml.ClocksThrottleReasonHwSlowdown | nvml.ClocksThrottleReasonHwThermalSlowdown, "its temperature (in hardware)"},
		{nvml.ClocksThrottleReasonHwPowerBrakeSlowdown | nvml.ClocksThrottleReasonHwSlowdown, "the power supply"},
	} {
		if got := slowed(row.reasons); got != row.want {
			t.Errorf("%#x: %q, want %q", row.reasons, got, row.want)
		}
	}
}

// Counters that cannot be read are NaN; after a failed reading two more are needed.
func TestMetersRefused(t *testing.T) {
	reading, metrics, freed := nvml.SUCCESS, nvml.SUCCESS, 0
	lib := &mock.Interface{
		GpmSampleAllocFunc: func() (nvml.GpmSample, nvml.Return) { return &mock.GpmSample{}, nvml.SUCCESS },
		GpmSampleFreeFunc:  func(nvml.GpmSample) nvml.Return { freed++; return nvml.SUCCESS },
		GpmSampleGetFunc:   func(nvml.Device, nvml.GpmSample) nvml.Return { return reading },
		GpmMetricsGetFunc: func(g *nvml.GpmMetricsGetType) nvml.Return {
			for i := range g.NumMetrics {
				g.Metrics[i].Value = 42
			}
			return metrics
		},
	}
	device := &mock.Device{GpmQueryDeviceSupportFunc: func() (nvml.GpmSupport, nvml.Return) {
		return nvml.GpmSupport{IsSupportedDevice: 1}, nvml.SUCCESS
	}}
	m := newMeters(lib, device)
	for k, row := range []struct {
		reading, metrics nvml.Return
		want             float64
	}{
		{nvml.SUCCESS, nvml.SUCCESS, math.NaN()}, {nvml.SUCCESS, nvml.SUCCESS, 42},
		{nvml.ERROR_GPU_IS_LOST, nvml.SUCCESS, math.NaN()}, {nvml.SUCCESS, nvml.SUCCESS, math.NaN()}, {nvml.SUCCESS, nvml.SUCCESS, 42},
		{nvml.SUCCESS, nvml.ERROR_UNKNOWN, math.NaN()},
	} {
		reading, metrics = row.reading, row.metrics
		s := unmeasured(time.Now())
		m.read(&s)
		if s.TensorCores != row.want && !(math.IsNaN(s.TensorCores) && math.IsNaN(row.want)) {
			t.Errorf("reading %d: %v, want %v", k, s.TensorCores, row.want)
		}
	}
	m.close()
	if freed != 2 {
		t.Errorf("%d of 2 samples freed", freed)
	}
	lib.GpmSampleAllocFunc = func() (nvml.GpmSample, nvml.Return) { return nil, nvml.ERROR_MEMORY }
	if m := newMeters(lib, device); m != nil {
		t.Error("counters without memory")
	}
}
