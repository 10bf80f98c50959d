package gpu

import (
	"io/fs"
	"math"
	"strings"
	"time"
)

// rapl is the energy counters of the processor's packages, as Linux shows them
// under /sys/class/powercap (Running Average Power Limit, of Intel and AMD). Since
// 2020 only the administrator may read them. They count for the whole machine, also
// in a container. See https://docs.kernel.org/power/powercap/powercap.html.
type rapl struct {
	root     fs.FS
	packages []powerDomain
	at       time.Time // of the reading before
	before   float64   // joules
}

// powerDomain is one counter, which starts again at zero beyond its range.
type powerDomain struct {
	dir    string
	span   float64 // microjoules after which it starts again
	last   float64
	turned float64 // microjoules of the turns so far
}

// newRAPL finds the counters below root that can be read.
func newRAPL(root fs.FS) *rapl {
	r := &rapl{root: root, before: math.NaN()}
	const base = "sys/class/powercap"
	entries, err := fs.ReadDir(root, base)
	if err != nil {
		return r
	}
	for _, e := range entries {
		dir := base + "/" + e.Name()
		// Below a package are its parts, "intel-rapl:0:1", which it counts too; "psys"
		// counts the packages again.
		if name, _ := read(root, dir+"/name"); !strings.HasPrefix(name, "package") || strings.HasPrefix(e.Name(), "intel-rapl-mmio") {
			continue
		}
		d := powerDomain{dir: dir, span: r.number(dir, "max_energy_range_uj"), last: r.number(dir, "energy_uj")}
		if d.span > 0 && d.last >= 0 {
			r.packages = append(r.packages, d)
		}
	}
	return r
}

func (r *rapl) number(dir, name string) float64 {
	words, ok := read(r.root, dir+"/"+name)
	if !ok {
		return math.NaN()
	}
	return number(words)
}

// read is the energy of all packages, and the power since the reading before; NaN
// where there is none.
func (r *rapl) read(at time.Time) (joules, watts float64) {
	joules, watts = math.NaN(), math.NaN()
	sum := 0.0
	for i := range r.packages {
		d := &r.packages[i]
		now := r.number(d.dir, "energy_uj")
		if math.IsNaN(now) {
			return joules, watts
		}
		if now < d.last {
			d.turned += d.span
		}
		d.last = now
		sum += d.turned + now
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
