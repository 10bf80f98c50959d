package kernel

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/quernlab/quern/accel/internal/cuda/occupancy"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/training/interrupt"
	"github.com/quernlab/quern/accel/kernel/internal/program"
	"github.com/quernlab/quern/accel/prof"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/internal/quantity"
	"github.com/quernlab/quern/plots"
)

// Performance is what [Profile] has measured and counted of a kernel.
type Performance struct {
	Kernel string // its name
	Device string // such as cuda:0
	GPU    string // the product name; empty on the CPU

	// Time is the median time of a run on the device; 0 on a simulated GPU, whose times say nothing about a real one.
	Time time.Duration
	// Bytes are those of the tensors that the kernel reads and of those that it writes, each element once: what the memory must move at least.
	Bytes int
	// FLOPs are the floating-point operations, of Work or of a part of the blocks and extrapolated to all.
	FLOPs float64
	// Work is what the simulated GPU has counted, for Work.Blocks blocks out of Blocks.
	Work   Work
	Blocks int    // of the grid
	Lines  []Line // as those of Check

	// What the compiler of the GPU has assigned; all are 0 on the CPU.
	Registers   int // of a thread; 0 on a simulated GPU, which has no such compiler
	LocalBytes  int // of a thread, for arrays and for what did not fit into registers
	SharedBytes int // of a block

	Occupancy *Occupancy // nil on the CPU and on a GPU of an unknown compute capability

	counts bool // there is no time
	peak   prof.Ceilings
}

// Occupancy is how many of the warps of an SM are resident at a time, by the formula of NVIDIA's occupancy calculator. Resident warps take turns while others
// wait for memory.
type Occupancy struct {
	Blocks    int      // resident at a time on an SM
	Warps     int      // of these blocks
	MaxWarps  int      // that the SM could run
	LimitedBy []string // what allows no further block: warps, registers, shared memory, blocks
}

// Fraction returns the part of the SM's warps that are resident, 0 to 1.
func (o *Occupancy) Fraction() float64 { return float64(o.Warps) / float64(max(o.MaxWarps, 1)) }

// profiledRuns is how many times Profile runs a kernel that takes less than longRun. One that takes longer runs once. A first run does not count: it
// may load code.
const (
	profiledRuns = 11
	longRun      = 200 * time.Millisecond
)

// enoughInstructions is how many instructions of warps Profile counts; it takes a few seconds at most.
const enoughInstructions = 2_000_000

// Profile runs a kernel with arguments as for [Kernel.Launch], on copies of the tensors that it writes: several times on the current device, to measure its
// time, and once on a simulated GPU, to count what it does and to check it as [Check] does, whose faults it returns. On a simulated GPU there are counts only.
//
//	p, err := kernel.Profile(k, kernel.Grid(n, 256), float32(2), x, y)
//	p // time, bandwidth, FLOP/s, their share of the device's peak, occupancy and what limits it
//
// FLOPs count float64, in which functions of package math compute, like float32.
//
// For a large grid only the first blocks are counted, and FLOPs are extrapolated.
func Profile(k *Kernel, s Shape, args ...any) (*Performance, error) {
	return ProfileContext(context.Background(), k, s, args...)
}

// ProfileContext is [Profile] with a context, whose end ends the kernel on the CPU and on the simulated GPU.
func ProfileContext(ctx context.Context, k *Kernel, s Shape, args ...any) (*Performance, error) {
	if err := interrupt.RequireContext(ctx, "kernel: Profile"); err != nil {
		return nil, err
	}
	if err := k.valid("Profile"); err != nil {
		return nil, err
	}
	report, err := check(ctx, k, s, enoughInstructions, args)
	if err != nil {
		return nil, err
	}
	l, list, err := k.bind(s, args)
	if err != nil {
		return nil, fmt.Errorf("kernel %s: %w", k.Name(), err)
	}
	l.endsWith(ctx)
	grid, block := l.Shape()
	p := &Performance{
		Kernel: k.Name(), Device: tensors.Device(), Bytes: k.leastBytes(list),
		Work: report.Work, Lines: report.Lines, Blocks: grid[0] * grid[1] * grid[2],
	}
	// The CPU runs a kernel in CUDA C++ on a simulated GPU.
	p.counts = strings.HasPrefix(p.Device, "simulated") || p.Device == "cpu" && k.foreign != nil
	runs := 2
	if p.counts {
		runs = 0
	}
	m, err := tensors.MeasureKernel(l, list, l.written, runs)
	if err == nil && runs > 0 && m.Times[1] < longRun {
		m, err = tensors.MeasureKernel(l, list, l.written, 1+profiledRuns)
	}
	if err != nil {
		return nil, k.failure(err)
	}
	p.FLOPs = float64(p.Work.FLOPs) * float64(p.Blocks) / float64(max(p.Work.Blocks, 1))
	if u := m.GPU; u != nil {
		p.GPU, p.Registers, p.LocalBytes, p.SharedBytes = u.Name, u.Registers, u.Local, u.Shared+l.SharedBytes()
		if limits, ok := occupancy.Of(u.Capability); ok {
			o, err := occupancy.Compute(limits, occupancy.Kernel{Threads: block[0] * block[1] * block[2], Registers: u.Registers, Shared: p.SharedBytes})
			if err != nil {
				return nil, fmt.Errorf("kernel %s: %w", k.Name(), err)
			}
			p.Occupancy = &Occupancy{Blocks: o.Blocks, Warps: o.Warps, MaxWarps: o.MaxWarps}
			for _, by := range o.LimitedBy {
				p.Occupancy.LimitedBy = append(p.Occupancy.LimitedBy, string(by))
			}
		}
	}
	if p.counts {
		return p, nil
	}
	times := m.Times[1:]
	slices.Sort(times)
	p.Time = times[len(times)/2]
	p.peak = (&prof.Report{Device: p.Device}).Ceilings()
	return p, nil
}

// leastBytes returns the bytes of the tensors that the kernel reads and writes.
func (k *Kernel) leastBytes(list []*tensor.Tensor) (n int) {
	if k.foreign != nil { // what it reads is not known
		for _, t := range list {
			n += t.Numel() * t.DType().Size()
		}
		return n
	}
	read := map[*program.Memory]bool{}
	k.program.Each(func(i *program.Instr) {
		if i.Mem != nil && i.Op != program.Store {
			read[i.Mem] = true
		}
	})
	for i, t := range byParameter(k, list) {
		if t == nil {
			continue
		}
		m := k.program.Params[i].Slice
		size := t.Numel() * t.DType().Size()
		if read[m] {
			n += size
		}
		if m.Written {
			n += size
		}
	}
	return n
}

// Bandwidth returns Bytes per second; 0 on a simulated GPU.
func (p *Performance) Bandwidth() float64 { return p.perSecond(float64(p.Bytes)) }

// Speed returns FLOPs per second; 0 on a simulated GPU.
func (p *Performance) Speed() float64 { return p.perSecond(p.FLOPs) }

func (p *Performance) perSecond(n float64) float64 {
	if p.Time == 0 {
		return 0
	}
	return n / p.Time.Seconds()
}

// Peak returns the speed of the kernel as a part of what the roofline of the device allows: of its memory bandwidth or of its float32 arithmetic, whichever
// limits the kernel. memory says which. It is 0 on a simulated GPU.
func (p *Performance) Peak() (part float64, memory bool) {
	if p.Time == 0 || p.peak.Bytes == 0 || p.peak.FLOPs == 0 {
		return 0, false
	}
	byMemory, byArithmetic := float64(p.Bytes)/p.peak.Bytes, p.FLOPs/p.peak.FLOPs
	return max(byMemory, byArithmetic) / p.Time.Seconds(), byMemory >= byArithmetic
}

// Roofline draws the kernel below the measured peaks of the device; nil on a simulated GPU and for a kernel without FLOPs.
func (p *Performance) Roofline() *plots.Figure {
	if p.Time == 0 || p.FLOPs == 0 || p.Bytes == 0 {
		return nil
	}
	d := plots.RooflineData{FLOPs: p.peak.FLOPs, FLOPsName: "float32", Bytes: p.peak.Bytes}
	d.Points = []plots.RooflinePoint{{Name: p.Kernel, Intensity: p.FLOPs / float64(p.Bytes), Speed: p.Speed(), Share: 1}}
	return plots.Roofline("Roofline: "+p.Device, d)
}

// Report returns the table of what was measured and counted, and that of the lines.
func (p *Performance) Report() *display.Report {
	out := new(display.Report)
	on := p.Device
	if p.GPU != "" {
		on += ", " + p.GPU
	}
	out.Text(fmt.Sprintf("kernel %s on %s", p.Kernel, on))
	switch {
	case p.counts && p.GPU == "":
		out.Text("Counts only: the CPU runs kernels in CUDA C++ on a simulated GPU, which has no times.")
	case p.counts:
		out.Text("Counts only: a simulated GPU has no times. It assigns no registers, so the occupancy leaves them out.")
	}
	out.Table("quantity", "value", "")
	if p.Time > 0 {
		part, memory := p.Peak()
		limit := map[bool]string{true: "memory bandwidth", false: "float32 arithmetic"}[memory]
		out.Row("time", quantity.Seconds(p.Time.Seconds()), fmt.Sprintf("%s of what the %s allows", quantity.Percent(part), limit))
		out.Row("memory", rate(p.Bandwidth(), "B/s"), "peak "+rate(p.peak.Bytes, "B/s"))
		out.Row("arithmetic", rate(p.Speed(), "FLOP/s"), "peak "+rate(p.peak.FLOPs, "FLOP/s"))
	}
	out.Row("bytes that must be moved", quantity.Count(p.Bytes), "each element of the tensors once")
	counted := ""
	if p.Work.Blocks < p.Blocks {
		counted = fmt.Sprintf("of %s blocks out of %s", quantity.Count(p.Work.Blocks), quantity.Count(p.Blocks))
		out.Row("FLOPs", quantity.Count(int(math.Round(p.FLOPs))), "extrapolated")
	} else {
		out.Row("FLOPs", quantity.Count(p.Work.FLOPs), "")
	}
	out.Row("bytes that threads load", quantity.Count(p.Work.Loaded), counted)
	out.Row("bytes that threads store", quantity.Count(p.Work.Stored), counted)
	out.Row("instructions of warps", quantity.Count(p.Work.Instructions), counted)
	if p.GPU != "" {
		if p.Registers > 0 {
			out.Row("registers of a thread", p.Registers, "")
		}
		if p.LocalBytes > 0 {
			out.Row("local memory of a thread", fmt.Sprintf("%d B", p.LocalBytes), "arrays, and what does not fit into registers")
		}
		out.Row("shared memory of a block", fmt.Sprintf("%d B", p.SharedBytes), "")
	}
	if o := p.Occupancy; o != nil {
		out.Row("occupancy", quantity.Percent(o.Fraction()), fmt.Sprintf("%d of %d warps: %s on an SM, limited by %s", o.Warps, o.MaxWarps, quantity.Plural(o.Blocks, "block"), strings.Join(o.LimitedBy, ", ")))
	}
	if f := p.Roofline(); f != nil {
		out.Figure(f)
	}
	tableOf(out, p.Lines)
	return out
}

// rate formats a number per second.
func rate(v float64, unit string) string {
	if v < 1000 {
		return fmt.Sprintf("%.3g %s", v, unit)
	}
	return quantity.Count(int(v)) + unit
}

// String returns the report as text.
func (p *Performance) String() string { return p.Report().String() }
