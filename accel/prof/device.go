package prof

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/quernlab/quern/accel/internal/engine/trace"
	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/internal/quantity"
)

// Kernel is one kernel that a GPU ran for an op.
type Kernel struct {
	Name       string        // of the entry in PTX
	Begin, End time.Duration // since the start of the profile
	Blocks     int           // of the grid
	Threads    int           // per block

	Registers   int      // of a thread; 0 on a simulated GPU, whose driver assigns none, and for a kernel of a library
	SharedBytes int      // of a block
	Occupancy   float64  // the part of an SM's warps that are resident, 0 to 1; 0 if it is not known
	LimitedBy   []string // what allows no further block on an SM: warps, registers, shared memory, blocks
}

// Kernels returns a table of the kernels that a GPU ran, by their time: calls in all steps, share of the steps, threads, registers, shared memory and
// occupancy, by the formula of NVIDIA's calculator, with what limits it. The values are those of the first call of each name and number of threads. It is empty on the CPU.
func (r *Report) Kernels() *display.Report {
	r.exists("Kernels")
	return r.kernels(new(display.Report), 0)
}

// kernels adds the table of kernels to a report; most limits its rows unless it is 0.
func (r *Report) kernels(out *display.Report, most int) *display.Report {
	type use struct {
		Kernel
		calls int
		time  time.Duration
	}
	type key struct {
		name    string
		threads int
	}
	var all []*use
	at := map[key]*use{}
	for _, o := range r.Ops {
		for _, k := range o.Kernels {
			u := at[key{k.Name, k.Threads}]
			if u == nil {
				u = &use{Kernel: k}
				at[key{k.Name, k.Threads}], all = u, append(all, u)
			}
			u.calls, u.time = u.calls+1, u.time+k.End-k.Begin
		}
	}
	if len(all) == 0 {
		return out
	}
	slices.SortStableFunc(all, func(a, b *use) int { return cmp.Compare(b.time, a.time) })
	omitted := 0
	if most > 0 && len(all) > most {
		omitted, all = len(all)-most, all[:most]
	}
	out.Table("kernel", "time", "share", "# of Calls", "threads of a block", "registers", "shared memory", "occupancy", "limited by")
	for _, u := range all {
		registers, occupancy := "", ""
		if u.Registers > 0 {
			registers = strconv.Itoa(u.Registers)
		}
		if u.Occupancy > 0 {
			occupancy = quantity.Percent(u.Occupancy)
		}
		out.Row(u.Name, duration(u.time), quantity.Percent(u.time.Seconds()/max(r.total().Seconds(), 1e-12)), u.calls, u.Threads,
			registers, fmt.Sprintf("%d B", u.SharedBytes), occupancy, strings.Join(u.LimitedBy, ", "))
	}
	if omitted > 0 {
		out.Text(fmt.Sprintf("%s more: Kernels() has all", quantity.Plural(omitted, "kernel")))
	}
	return out
}

// finish records when the steps of lists ran on an asynchronous device.
func (p *recording) finish() {
	for i := range p.flushes {
		f := &p.flushes[i]
		if f.Work == nil {
			continue
		}
		f.Times = nil
		list := f.Work.Kernels
		if len(list) == 0 || list[len(list)-1].End == 0 { // it failed
			continue
		}
		at := list[0].Begin
		f.Times = append(f.Times, at)
		for step := range f.Program.Steps {
			for len(list) > 0 && list[0].Step == step {
				at, list = list[0].End, list[1:]
			}
			f.Times = append(f.Times, at)
		}
	}
}

// kernels returns the kernels of one step of a list.
func kernels(f *trace.Flush, step int) []Kernel {
	if f.Work == nil {
		return nil
	}
	var own []Kernel
	for _, k := range f.Work.Kernels {
		if k.Step == step {
			own = append(own, Kernel{
				Name: k.Name, Begin: k.Begin, End: k.End, Blocks: k.Blocks, Threads: k.Threads,
				Registers: k.Registers, SharedBytes: k.SharedBytes, Occupancy: k.Occupancy, LimitedBy: k.LimitedBy,
			})
		}
	}
	return own
}

// asynchronous reports whether the device worked while the host continued.
func (p *recording) asynchronous() bool {
	for _, f := range p.flushes {
		if f.Work != nil {
			return true
		}
	}
	return false
}

// onDevice returns the steps as measured on the device: a step ends with its last op, and the
// next one begins there, even if the host is far ahead. The times are therefore those of a long
// training run. The first step begins when the host begins it; the last one ends when both host
// and device have finished.
func (r *Report) onDevice(host []Interval) []Interval {
	steps := make([]Interval, len(host))
	at := host[0].Begin
	for k, s := range host {
		end := at
		ran := false
		for _, o := range r.Ops {
			if o.Step == k {
				end, ran = max(end, o.End), true
			}
		}
		if !ran || k == len(host)-1 {
			end = max(end, s.End)
		}
		steps[k] = Interval{at, end}
		at = end
	}
	return steps
}

// trimWaits makes host events that include a wait for the device begin after that wait: reading
// a result first waits for it and then copies it.
func trimWaits(all []HostEvent) {
	for i := range all {
		o := &all[i]
		if o.Kind == Synchronizing || o.Kind == UserSpan {
			continue
		}
		for _, w := range all {
			if w.Kind == Synchronizing && o.Begin <= w.Begin && w.End <= o.End {
				o.Begin = w.End
			}
		}
	}
}
