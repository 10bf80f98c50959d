package gpu

import (
	"io/fs"
	"math"
	"strings"
	"time"
)

// rapl reads the energy counters of the CPU packages in /sys/class/powercap (Running Average
// Power Limit, of Intel and AMD). Since 2020 only root may read them. They count for the whole
// machine, also in a container. See https://docs.kernel.org/power/powercap/powercap.html.
type rapl struct {
	root     fs.FS
	packages []powerDomain
	at       time.Time // of the previous reading
	before   float64   // joules at the previous reading
}

// powerDomain is one counter, which wraps around to zero.
type powerDomain struct {
	dir     string
	span    float64 // microjoules after which it wraps around
	last    float64
	wrapped float64 // microjoules of the wrap-arounds so far
}

// newRAPL finds the readable counters below root.
func newRAPL(root fs.FS) *rapl {
	r := &rapl{root: root, before: math.NaN()}
	const base = "sys/class/powercap"
	entries, err := fs.ReadDir(root, base)
	if err != nil {
		return r
	}
	for _, e := range entries {
		dir := base + "/" + e.Name()
		// Subdomains such as "intel-rapl:0:1" are included in their package; "psys" includes
		// the packages.
		if name, _ := read(root, dir+"/name"); !strings.HasPrefix(name, "package") || strings.HasPrefix(e.Name(), "intel-rapl-mmio") {
			continue
		}
		d := powerDomain{dir: dir, span: numberIn(root, dir+"/max_energy_range_uj"), last: numberIn(root, dir+"/energy_uj")}
		if d.span > 0 && d.last >= 0 {
			r.packages = append(r.packages, d)
		}
	}
	return r
}

// read returns the energy of all packages and the power since the previous reading, or NaN.
func (r *rapl) read(at time.Time) (joules, watts float64) {
	joules, watts = math.NaN(), math.NaN()
	sum := 0.0
	for i := range r.packages {
		d := &r.packages[i]
		now := numberIn(r.root, d.dir+"/energy_uj")
		if math.IsNaN(now) {
			return joules, watts
		}
		if now < d.last {
			d.wrapped += d.span
		}
		d.last = now
		sum += d.wrapped + now
	}
	if len(r.packages) == 0 {
		return joules, watts
	}
	const micro = 1e-6
	joules = sum * micro
	if seconds := at.Sub(r.at).Seconds(); !math.IsNaN(r.before) && seconds >= soonest {
		watts = (joules - r.before) / seconds
	}
	if math.IsNaN(r.before) || !math.IsNaN(watts) {
		r.at, r.before = at, joules
	}
	return joules, watts
}
