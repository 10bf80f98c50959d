package history

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/gpu"
)

// counted returns the history of a GPU with constant power, with or without an energy counter.
func counted(name string, start time.Time, watts float64, counter bool) gpu.History {
	h := gpu.History{Name: name}
	for k := range 11 {
		s := gpu.Sample{At: start.Add(time.Duration(k) * time.Second), Busy: 90, MemUsed: 1 << 30, Watts: watts, Joules: math.NaN(), SMs: 60, TensorCores: 30}
		if counter {
			s.Joules = 1e6 + watts*float64(k)
		}
		h.Samples = append(h.Samples, s)
	}
	return h
}

func TestEnergyOfEpochs(t *testing.T) {
	start := time.Unix(1000, 0)
	at := func(seconds float64) time.Time { return start.Add(time.Duration(seconds * float64(time.Second))) }
	for _, row := range []struct {
		name      string
		use       gpu.History
		others    []gpu.History
		want      []float64
		estimated bool
	}{
		{"counter", counted("GPU", start, 500, true), nil, []float64{math.NaN(), 2000, 2500}, false},
		{"power", counted("GPU", start, 500, false), nil, []float64{math.NaN(), 2000, 2500}, true},
		{"two GPUs", counted("GPU", start, 500, true), []gpu.History{counted("GPU", start, 100, false)}, []float64{math.NaN(), 2400, 3000}, true},
		{"one of two does not tell", counted("GPU", start, 500, true), []gpu.History{{Name: "GPU"}}, []float64{math.NaN(), math.NaN(), math.NaN()}, false},
		{"nobody looked", gpu.History{}, nil, []float64{math.NaN(), math.NaN(), math.NaN()}, false},
	} {
		r := &Run{Utilization: row.use, OtherUtilization: row.others, Best: -1, Epochs: []Epoch{
			{Steps: 1}, // before the run was resumed
			{Steps: 2, began: at(0.5), ended: at(4.5)}, {Steps: 3, began: at(5), ended: at(10)},
		}}
		got, estimated := r.Energy()
		if estimated != row.estimated {
			t.Errorf("%s: estimated %v", row.name, estimated)
		}
		for i, j := range got {
			if !(math.Abs(j-row.want[i]) < 1e-6 || math.IsNaN(j) && math.IsNaN(row.want[i])) {
				t.Errorf("%s: %v, want %v", row.name, got, row.want)
				break
			}
		}
		some := !math.IsNaN(row.want[2])
		if table := r.epochTable().String(); strings.Contains(table, "joules") != some || strings.Contains(table, "NaN J") {
			t.Errorf("%s: the table is\n%s", row.name, table)
		}
		r.Epochs = r.Epochs[1:]
		text, card := r.whereTimeWent(), r.Card()
		if strings.Contains(text, " J in total") != some || strings.Contains(text, "about") != (some && row.estimated) || (card.Joules != nil) != some {
			t.Errorf("%s: %s; the card has %v", row.name, text, card.Joules)
		}
	}
}

// A figure has a line for each device, and the recorded run a value for each.
func TestSeveralDevices(t *testing.T) {
	start := time.Unix(1000, 0)
	r := &Run{Utilization: counted("GPU one", start, 500, true), OtherUtilization: []gpu.History{counted("GPU two", start, 400, true)}, state: runState{Began: start}}
	if svg := r.deviceUse().SVG(); !strings.Contains(svg, "GPU two") || !strings.Contains(svg, "tensor cores") || !strings.Contains(svg, "9.00 kJ") {
		t.Errorf("the figure lacks something: %.300s", svg)
	}
	path := filepath.Join(t.TempDir(), systemFile)
	system, err := newLines(path)
	if err != nil {
		t.Fatal(err)
	}
	tracked := &tracker{system: system}
	for device, h := range r.histories() {
		s := h.Samples[1]
		s.Slowed = "the power limit"
		system.begin(-1, start, 1)
		tracked.sample(device, false, s)
		system.end()
	}
	if err := system.close(); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := []map[string]any{
		{"system.gpu.0.gpu": 90., "system.gpu.0.pipeTensorActive": 30., "system.gpu.0.smActive": 60., "system.gpu.0.energyJoules": 1000500., "system.gpu.0.slowed": "the power limit"},
		{"system.gpu.1.gpu": 90., "system.gpu.1.powerWatts": 400., "system.gpu.1.energyJoules": 1000400.},
	}
	for i, line := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
		var got map[string]any
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatal(err)
		}
		for name, v := range want[i] {
			if got[name] != v {
				t.Errorf("%s is %v, want %v", name, got[name], v)
			}
		}
	}
}

// Browsers tell nothing about the machine, so the figure has no empty panel for it.
func TestUnknownDevice(t *testing.T) {
	none := gpu.Sample{Busy: math.NaN(), MemUsed: math.NaN(), Watts: math.NaN()}
	run := func(s gpu.Sample) *Run {
		return &Run{Utilization: gpu.History{Name: "CPU", Samples: []gpu.Sample{none, s}}}
	}
	if f := run(none).draw([]Metric{GPUUtil}); f != nil {
		t.Errorf("a figure of an unknown device is drawn: %.100s", f.SVG())
	}
	known := none
	known.MemUsed = 1 << 30
	if run(known).draw([]Metric{GPUUtil}) == nil {
		t.Error("a device of which only the memory is known is not drawn")
	}
}
