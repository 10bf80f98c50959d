package prof

import (
	"time"

	"github.com/quernlab/quern/accel/internal/engine/trace"
)

// Kernel is one kernel that a GPU ran for an op.
type Kernel struct {
	Name       string        // of the entry in PTX
	Begin, End time.Duration // since the start of the profile
	Blocks     int           // of the grid
	Threads    int           // per block
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
			own = append(own, Kernel{k.Name, k.Begin, k.End, k.Blocks, k.Threads})
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
func (r *Report) onDevice(host []span) []Interval {
	steps := make([]Interval, len(host))
	at := host[0].begin
	for k, s := range host {
		end := at
		ran := false
		for _, o := range r.Ops {
			if o.Step == k {
				end, ran = max(end, o.End), true
			}
		}
		if !ran || k == len(host)-1 {
			end = max(end, s.end)
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
