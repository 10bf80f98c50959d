package plots

import (
	"math"
	"strings"
	"testing"
)

// busy returns the use of a GPU over a minute, two samples a second.
func busy() DeviceData {
	d := DeviceData{Name: "NVIDIA H200", BusyName: "GPU busy", MemoryTotal: 140 << 30, WattsLimit: 700, Epochs: []float64{5, 30, 55}}
	wobble := noise(120, 4)
	for i, v := range wobble {
		d.Seconds = append(d.Seconds, float64(i)/2)
		d.Busy = append(d.Busy, 90+10*v)
		d.Memory = append(d.Memory, 96<<30)
		d.Watts = append(d.Watts, 550+100*v)
	}
	d.Busy[50] = math.NaN()
	return d
}

func TestDeviceUse(t *testing.T) {
	d := busy()
	for _, s := range []*[]float64{&d.Seconds, &d.Busy, &d.Memory, &d.Watts} {
		*s = (*s)[:60] // half a minute makes a short golden file
	}
	pinned(t, "deviceuse", DeviceUse(d))
}

func TestDeviceUseOfHost(t *testing.T) {
	pinned(t, "deviceuse-host", DeviceUse(DeviceData{
		Name: "CPU, 2 cores", BusyName: "CPU busy", Seconds: []float64{0, 1, 2, 3},
		Busy: []float64{80, 90, 95, 90}, ProcessBusy: []float64{50, 60, 65, 60},
		Memory: []float64{3e9, 3e9, 3.1e9, 3.1e9}, ProcessMem: []float64{5e8, 6e8, 7e8, 7e8}, MemoryTotal: 64 << 30,
		Watts: []float64{math.NaN(), math.NaN(), math.NaN(), math.NaN()},
	}))
}

// With several devices there is a line for each, and the energy is the total.
func TestDeviceUseOfSeveral(t *testing.T) {
	d := DeviceData{
		Name: "cuda:0", BusyName: "GPU busy", Seconds: []float64{0, 1, 2, 3}, Busy: []float64{80, 90, 95, 90}, SMs: []float64{50, 60, 61, 60}, TensorCores: []float64{30, 40, 41, 40},
		Memory: []float64{3e10, 3e10, 3e10, 3e10}, MemoryTotal: 80 << 30, Watts: []float64{300, 500, 500, 500}, WattsLimit: 700, Joules: 1500, Celsius: []float64{50, 61, 64, 64}, ClockMHz: []float64{1980, 1980, 1710, 1980}, Slowed: "the power limit reduced its clock in 25 % of the samples.",
		Others: []DeviceData{{Name: "cuda:1", Seconds: []float64{.5, 1.5, 2.5}, Busy: []float64{60, 70, 75}, Memory: []float64{2e10, 2e10, 2e10}, Watts: []float64{250, 350, 350}, Joules: 700}},
	}
	pinned(t, "deviceuse-several", DeviceUse(d))
	if got, want := DeviceUse(d).String(), "cuda:0: all processes, 2 devices: mean utilization 77 %, peak memory of one 27.9 GiB, 2.20 kJ; highest temperature 64 °C; cuda:0: the power limit reduced its clock in 25 % of the samples."; got != want {
		t.Errorf("want %q, got %q", want, got)
	}
	d.Joules, d.Others[0].Name = 0, d.Name
	if got, want := DeviceUse(d).String(), "about 2.00 kJ"; !strings.Contains(got, want) { // 1300 J of power, and a counter
		t.Errorf("want %q in %q", want, got)
	}
	d.Joules = 1500 // the second device has no counter
	d.Others[0].Joules = 0
	if got, want := DeviceUse(d).String(), ", about 2.10 kJ"; !strings.Contains(got, want) {
		t.Errorf("want %q in %q", want, got)
	}
}

// The text says what is of all processes and what of this one.
func TestDeviceUseNamesTheProcesses(t *testing.T) {
	none := []float64{math.NaN(), math.NaN(), math.NaN()}
	for _, row := range []struct {
		name string
		data DeviceData
		want string
	}{
		{"a busy machine", DeviceData{Busy: []float64{99, 99, 99}, ProcessBusy: []float64{8, 8, 8}, Memory: []float64{3 << 30, 6 << 30, 5 << 30}, ProcessMem: []float64{1 << 30, 1 << 30, 2 << 30}},
			"all processes: mean utilization 99 %, peak memory 6.00 GiB; this process: 8 %, 2.00 GiB"},
		{"with energy", DeviceData{Busy: []float64{99, 99, 99}, ProcessBusy: []float64{8, 8, 8}, Joules: 30, Slowed: "its temperature reduced its clock."},
			"all processes: mean utilization 99 %, 30.0 J; this process: 8 %; device: its temperature reduced its clock."},
		{"nothing of the process", DeviceData{Busy: []float64{99, 99, 99}, ProcessBusy: none, Memory: none, ProcessMem: none},
			"all processes: mean utilization 99 %"},
		{"only the process", DeviceData{Busy: none, ProcessBusy: []float64{8, 8, 8}}, "this process: mean utilization 8 %"},
		{"only units", DeviceData{Busy: none, SMs: []float64{50, 50, 50}}, ""},
		{"nothing", DeviceData{Busy: none, Memory: none, Watts: none}, "the driver or system reports no utilization, memory, power, temperature or clock"},
		{"only temperature and clock", DeviceData{Busy: none, Memory: none, Watts: none, Celsius: []float64{40, 60, 62}, ClockMHz: []float64{1980, 1700, 1650}}, "highest temperature 62 °C"},
	} {
		row.data.Name, row.data.Seconds = "device", []float64{0, 1, 2}
		if got := strings.TrimPrefix(strings.TrimPrefix(DeviceUse(row.data).String(), "device"), ": "); got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
	if got := DeviceUse(DeviceData{Name: "device"}).String(); got != "device: no samples" {
		t.Errorf("%q", got)
	}
}

func TestDeviceUseFinding(t *testing.T) {
	d := busy()
	joules := 0.0
	for _, w := range d.Watts[:len(d.Watts)-1] {
		joules += w * .5 // each lasts until the next, half a second later
	}
	if got, want := DeviceUse(d).String(), "NVIDIA H200: all processes: mean utilization 95 %, peak memory 96.0 GiB, about "+energy(joules); got != want {
		t.Errorf("want %q, got %q", want, got)
	}
	d.Joules = 41_000
	if got := DeviceUse(d).String(); !strings.HasSuffix(got, " 41.0 kJ") || strings.Contains(got, "about") {
		t.Errorf("a measured energy is written as %q", got)
	}
}

func TestDeviceUseWithMissingQuantities(t *testing.T) {
	d := busy()
	_, three := DeviceUse(d).points()
	d.Watts = nil
	for i := range d.Memory {
		d.Memory[i] = math.NaN()
	}
	f := DeviceUse(d)
	if _, one := f.points(); one >= three {
		t.Errorf("one panel is as high as three: %v", one)
	}
	if svg := f.SVG(); strings.Contains(svg, "memory") || strings.Contains(svg, "power") {
		t.Error("a quantity that was not measured is drawn")
	}
}

// The samples of a long run become a mean and a band.
func TestDeviceUseOfALongRun(t *testing.T) {
	var d DeviceData
	for i, v := range noise(100_000, 6) {
		d.Seconds = append(d.Seconds, float64(i))
		d.Busy = append(d.Busy, 100*v)
	}
	if n := len(DeviceUse(d).SVG()); n > 30_000 {
		t.Errorf("the SVG has %d bytes", n)
	}
}
