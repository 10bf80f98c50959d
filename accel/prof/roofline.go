package prof

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/plots"
)

// maxPoints is the number of ops in a roofline figure.
const maxPoints = 12

// Roofline draws the ops that take most of the time below the peak performance of the device.
func (r *Report) Roofline() *plots.Figure {
	r.exists("Roofline")
	c := r.Ceilings()
	d := plots.RooflineData{FLOPs: c.FLOPs, FLOPsName: "float32", Bytes: c.Bytes}
	if len(c.TensorCores) == 0 {
		d.FLOPsName = ""
	}
	for _, p := range c.TensorCores {
		d.Ceilings = append(d.Ceilings, plots.RooflineCeiling{Name: p.Of, FLOPs: p.FLOPs})
	}
	for _, w := range r.opsByTime() {
		if len(d.Points) == maxPoints {
			break
		}
		if w.flops > 0 && w.bytes > 0 && w.time > 0 {
			d.Points = append(d.Points, plots.RooflinePoint{
				Name: w.name, Intensity: w.flops / w.bytes, Speed: w.flops / w.time.Seconds(), Share: w.time.Seconds() / max(r.total().Seconds(), 1e-12),
			})
		}
	}
	return plots.Roofline("Roofline: "+r.Device, d)
}

// opTotal is the total time and work of all calls of an op.
type opTotal struct {
	name         string
	time         time.Duration
	flops, bytes float64
	float16      bool // its operands are 16-bit floats
	random       bool // it draws a random number for each element
}

// opsByTime returns the ops sorted by their time, the longest first.
func (r *Report) opsByTime() []opTotal {
	var all []opTotal
	at := map[string]int{}
	for _, o := range r.Ops {
		name := o.title()
		k, ok := at[name]
		if !ok {
			k = len(all)
			at[name] = k
			all = append(all, opTotal{name: name, float16: o.float16, random: o.random})
		}
		w := &all[k]
		w.time += o.End - o.Begin
		w.flops += o.FLOPs
		w.bytes += o.Bytes
	}
	slices.SortStableFunc(all, func(a, b opTotal) int { return cmp.Compare(b.time, a.time) })
	return all
}

// peakFraction returns the fraction of the device's peak: of arithmetic or of memory bandwidth,
// whichever is the limit for this work.
func (w opTotal) peakFraction(c Ceilings) float64 {
	least := max(w.flops/c.arithmetic(w.float16), w.bytes/c.Bytes)
	return least / max(w.time.Seconds(), 1e-12)
}

// Ceilings holds the measured peak performance of the device, the ceilings of a roofline figure.
type Ceilings struct {
	FLOPs float64 // per second, in a matrix multiplication of large float32 matrices
	Bytes float64 // per second, copying a large tensor; on the CPU, adding two
	// Products are the peaks for other element types on the tensor cores of a GPU, in descending
	// order.
	TensorCores []Ceiling
}

// Ceiling is the peak performance for matrices of one element type.
type Ceiling struct {
	Of    string  // "bfloat16"
	FLOPs float64 // floating-point operations per second
}

// arithmetic returns the peak for matrix multiplications, in 16-bit floats or float32.
func (c Ceilings) arithmetic(float16 bool) float64 {
	if float16 {
		for _, p := range c.TensorCores {
			if p.Of == string(bfloat16Name) {
				return p.FLOPs
			}
		}
	}
	return c.FLOPs
}

const bfloat16Name = "bfloat16"

// Ceilings measures the peak performance of the report's device, once per program. That takes a
// fraction of a second and 100 MiB, on a GPU up to 1 GiB. Do not call it while a profile is
// being taken. All values are 0 if the device is no longer available.
func (r *Report) Ceilings() Ceilings {
	r.exists("Ceilings")
	if r.ceilings == nil {
		c := ceilings.of(r.Device)
		r.ceilings = &c
	}
	return *r.ceilings
}

// ceilings holds the results by device.
var ceilings = ceilingCache{results: map[string]Ceilings{}}

type ceilingCache struct {
	mu      sync.Mutex
	results map[string]Ceilings // by device, guarded by mu
}

func (m *ceilingCache) of(device string) Ceilings {
	m.mu.Lock()
	defer m.mu.Unlock()
	c, ok := m.results[device]
	if ok {
		return c
	}
	if before := tensors.Device(); before != device {
		if tensors.SetDevice(device) != nil {
			return c
		}
		defer func() { _ = tensors.SetDevice(before) }() // restore the previous device
	}
	c = measureCeilings(device == "cpu")
	m.results[device] = c
	return c
}

const (
	ceilingSide  = 1024    // of the matrices, on the CPU
	ceilingCount = 1 << 23 // elements of the tensors, 32 MiB each
	ceilingRuns  = 12      // the fastest one counts
	// On a GPU sizes are doubled up to these limits, until a run is so long that its launch
	// time is negligible.
	longRun      = 2 * time.Millisecond
	largestSide  = 8192
	largestCount = 1 << 27
	groupRuns    = 4 // runs per synchronization
)

func measureCeilings(onCPU bool) (c Ceilings) {
	tensor.NoGrad(func() {
		if !onCPU {
			c = measureGPU()
			return
		}
		a, b := tensor.Full(1, ceilingSide, ceilingSide), tensor.Full(2, ceilingSide, ceilingSide)
		c.FLOPs = cube(ceilingSide) / fastest(ceilingRuns, 1, func() *tensor.Tensor { return a.MatMul(b) })
		x, y := tensor.Full(1, ceilingCount), tensor.Full(2, ceilingCount)
		c.Bytes = 3 * 4 * ceilingCount / fastest(ceilingRuns, 1, func() *tensor.Tensor { return x.Add(y) })
	})
	return c
}

// cube returns the FLOPs of a multiplication of square matrices.
func cube(side int) float64 { return 2 * float64(side) * float64(side) * float64(side) }

// measureGPU measures matrix multiplications in each type that the tensor cores support, and
// copies.
func measureGPU() (c Ceilings) {
	products := func(d tensor.DType) float64 {
		best := 0.0
		growUntilLong(64, largestSide, func(side int) time.Duration {
			// A GPU uses less power for constants, and is faster.
			g := tensor.NewGenerator(1)
			a, b := tensor.Randn(g, side, side).Cast(d), tensor.Randn(g, side, side).Cast(d)
			defer a.Release()
			defer b.Release()
			took := fastest(3, groupRuns, func() *tensor.Tensor { return a.MatMul(b) })
			best = max(best, cube(side)/took)
			return time.Duration(took * float64(time.Second))
		})
		return best
	}
	c.FLOPs = products(tensor.Float32)
	for _, d := range []tensor.DType{tensor.BFloat16, tensor.Float16} {
		c.TensorCores = append(c.TensorCores, Ceiling{d.String(), products(d)})
	}
	if before := tensors.AllowTF32(true); !before {
		defer tensors.AllowTF32(false)
		c.TensorCores = append(c.TensorCores, Ceiling{"TF32", products(tensor.Float32)})
	}
	growUntilLong(1<<14, largestCount, func(count int) time.Duration {
		x := tensor.Full(1, count)
		defer x.Release()
		took := fastest(3, groupRuns, x.Clone)
		c.Bytes = max(c.Bytes, 2*4*float64(count)/took)
		return time.Duration(took * float64(time.Second))
	})
	return c
}

// growUntilLong doubles a size until a run is long enough.
func growUntilLong(from, to int, run func(size int) time.Duration) {
	for size := from; size <= to; size *= 2 {
		if run(size) >= longRun {
			return
		}
	}
}

// fastest measures groups of runs of f and returns the shortest mean time of a run in seconds.
// It does not count the group before them, which compiles the plan.
func fastest(groups, runs int, f func() *tensor.Tensor) float64 {
	least := time.Duration(1<<63 - 1)
	for k := range groups + 1 {
		tensor.Synchronize()
		begin := time.Now()
		for range runs {
			y := f()
			tensor.Flush()
			y.Release()
		}
		tensor.Synchronize()
		if took := time.Since(begin) / time.Duration(runs); k > 0 {
			least = min(least, took)
		}
	}
	return max(least.Seconds(), 1e-9)
}
