package gpu

import (
	"errors"
	"io/fs"
	"math"
	"testing"
	"testing/fstest"
	"time"
)

// powercap returns a file tree of counters in microjoules.
func powercap(files map[string]string) fstest.MapFS {
	root := fstest.MapFS{}
	for name, text := range files {
		root["sys/class/powercap/"+name] = &fstest.MapFile{Data: []byte(text + "\n")}
	}
	return root
}

func TestRAPL(t *testing.T) {
	root := powercap(map[string]string{
		"intel-rapl/enabled":                    "1",
		"intel-rapl:0/name":                     "package-0",
		"intel-rapl:0/energy_uj":                "5000000",
		"intel-rapl:0/max_energy_range_uj":      "10000000",
		"intel-rapl:0:0/name":                   "core",
		"intel-rapl:0:0/energy_uj":              "1000000",
		"intel-rapl:0:0/max_energy_range_uj":    "10000000",
		"intel-rapl:1/name":                     "package-1",
		"intel-rapl:1/energy_uj":                "2000000",
		"intel-rapl:1/max_energy_range_uj":      "10000000",
		"intel-rapl:2/name":                     "psys",
		"intel-rapl:2/energy_uj":                "9000000",
		"intel-rapl:2/max_energy_range_uj":      "10000000",
		"intel-rapl-mmio:0/name":                "package-0",
		"intel-rapl-mmio:0/energy_uj":           "5000000",
		"intel-rapl-mmio:0/max_energy_range_uj": "10000000",
	})
	set := func(domain, microjoules string) {
		root["sys/class/powercap/"+domain+"/energy_uj"] = &fstest.MapFile{Data: []byte(microjoules)}
	}
	r, start := newRAPL(root), time.Unix(100, 0)
	for _, row := range []struct {
		name          string
		change        func()
		seconds       float64
		joules, watts float64
	}{
		{"first", func() {}, 0, 7, math.NaN()},
		{"both", func() { set("intel-rapl:0", "6000000"); set("intel-rapl:1", "3000000") }, 2, 9, 1},
		{"too soon", func() { set("intel-rapl:0", "7000000") }, 2.01, 10, math.NaN()},
		{"since the one before", func() {}, 3, 10, 1},
		{"starts again at zero", func() { set("intel-rapl:0", "500000") }, 4, 13.5, 3.5},
		{"and again", func() { set("intel-rapl:0", "400000") }, 5, 23.4, 9.9},
	} {
		row.change()
		joules, watts := r.read(start.Add(time.Duration(row.seconds * float64(time.Second))))
		if math.Abs(joules-row.joules) > 1e-9 || !(math.Abs(watts-row.watts) < 1e-9 || math.IsNaN(watts) && math.IsNaN(row.watts)) {
			t.Errorf("%s: %v J, %v W, want %v and %v", row.name, joules, watts, row.joules, row.watts)
		}
	}
	delete(root, "sys/class/powercap/intel-rapl:1/energy_uj")
	if joules, watts := r.read(start.Add(time.Minute)); !math.IsNaN(joules) || !math.IsNaN(watts) {
		t.Errorf("a counter is gone: %v J, %v W", joules, watts)
	}
}

// refusingFS has files that only root may read.
type refusingFS struct {
	fstest.MapFS
	name string
}

func (f refusingFS) ReadFile(name string) ([]byte, error) {
	if name == f.name {
		return nil, fs.ErrPermission
	}
	return f.MapFS.ReadFile(name)
}

// Counters that cannot be read are absent, not zero.
func TestRAPLIsAbsent(t *testing.T) {
	whole := powercap(map[string]string{
		"intel-rapl:0/name": "package-0", "intel-rapl:0/energy_uj": "5000000", "intel-rapl:0/max_energy_range_uj": "10000000",
	})
	for name, root := range map[string]fs.FS{
		"no powercap":   fstest.MapFS{},
		"no permission": refusingFS{whole, "sys/class/powercap/intel-rapl:0/energy_uj"},
		"no package":    powercap(map[string]string{"intel-rapl:0/name": "psys", "intel-rapl:0/energy_uj": "1", "intel-rapl:0/max_energy_range_uj": "2"}),
		"no number":     powercap(map[string]string{"intel-rapl:0/name": "package-0", "intel-rapl:0/energy_uj": "x", "intel-rapl:0/max_energy_range_uj": "2"}),
		"no range":      powercap(map[string]string{"intel-rapl:0/name": "package-0", "intel-rapl:0/energy_uj": "1"}),
	} {
		r := newRAPL(root)
		for range 2 {
			if joules, watts := r.read(time.Now()); !math.IsNaN(joules) || !math.IsNaN(watts) {
				t.Errorf("%s: %v J, %v W", name, joules, watts)
			}
		}
	}
	if _, err := (refusingFS{whole, "x"}).ReadFile("x"); !errors.Is(err, fs.ErrPermission) {
		t.Error(err)
	}
}
