//go:build linux && cgo

package gpu

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// A call to a function that the library lacks ends the process, so each case
// runs in a child: this binary again, with these variables set.
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
		fmt.Println(d.Name(), s.Busy, s.ProcessBusy, s.MemUsed/(1<<30), s.MemTotal/(1<<30),
			s.Watts, s.WattsLimit, s.Joules, s.Celsius, s.ClockMHz)
	}
	switch task {
	case "open", "pci":
		// Twice: the library must survive its own unloading.
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
	case "devices":
		all, err := devices(library)
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
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("needs a C compiler to build a fake driver library")
	}
	const (
		one   = "Fake one 84 NaN 96 150 350 700 1234.5 61 NaN\n"
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
		{"old driver", []string{"-DOLD"}, "open", strings.Repeat("Fake one 84 NaN 96 150 350 NaN NaN 61 NaN\n", 2)},
		{"hidden", nil, "open -1", `no GPU: CUDA_VISIBLE_DEVICES is "-1": there is no such device` + isNot},
		{"unknown UUID", nil, "open GPU-x", `no GPU: CUDA_VISIBLE_DEVICES is "GPU-x": there is no such device` + isNot},
		{"unknown PCI bus", nil, "pci 1", `no GPU: PCI bus id "1": there is no such device` + isNot},
		{"none", []string{"-DCOUNT=0"}, "devices", "no GPU: the driver lists none" + isNot},
		{"no kernel module", []string{"-DINIT=9"}, "open", "no GPU: the NVIDIA kernel module is not loaded; try nvidia-smi" + isNot},
		{"unknown code", []string{"-DINIT=999"}, "open", "no GPU: NVML error 999" + isNot},
		{"not NVML", []string{"-DnvmlInit_v2=other"}, "open",
			"no GPU: LIBRARY has no nvmlInit_v2: it is not a usable NVIDIA driver library" + isNot},
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
			c.Env = append(os.Environ(), childLibrary+"="+library, childTask+"="+tt.task)
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

// refusing answers every question with one code.
type refusing struct{ code nvml.Return }

func (d refusing) GetUtilizationRates() (nvml.Utilization, nvml.Return) {
	return nvml.Utilization{Gpu: 1}, d.code
}
func (d refusing) GetMemoryInfo() (nvml.Memory, nvml.Return)                    { return nvml.Memory{Used: 1}, d.code }
func (d refusing) GetPowerUsage() (uint32, nvml.Return)                         { return 1, d.code }
func (d refusing) GetEnforcedPowerLimit() (uint32, nvml.Return)                 { return 1, d.code }
func (d refusing) GetTotalEnergyConsumption() (uint64, nvml.Return)             { return 1, d.code }
func (d refusing) GetTemperature(nvml.TemperatureSensors) (uint32, nvml.Return) { return 1, d.code }
func (d refusing) GetClockInfo(nvml.ClockType) (uint32, nvml.Return)            { return 1, d.code }

// A quantity that the GPU refuses is NaN, never what the call left behind.
func TestRefusedQuantitiesAreNaN(t *testing.T) {
	has := map[string]bool{}
	for _, s := range []string{symbolBusy, symbolMemory, symbolPower, symbolLimit, symbolEnergy, symbolHeat, symbolClock} {
		has[s] = true
	}
	for _, code := range []nvml.Return{nvml.ERROR_NOT_SUPPORTED, nvml.ERROR_GPU_IS_LOST, nvml.ERROR_UNKNOWN} {
		s := (&graphics{driver: &driver{has: has}, device: refusing{code}}).Sample()
		want := unmeasured(s.At)
		if fmt.Sprint(s) != fmt.Sprint(want) {
			t.Errorf("code %d\n want %v\n got  %v", code, want, s)
		}
	}
}
