package prof

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/quernlab/quern/plots"
)

// Gap is an interval in which no op ran, with its reason: what the host did meanwhile.
type Gap struct {
	Step       int           // of the profile, from 0
	Begin, End time.Duration // since the start of the profile
	Reason     string        // a HostKind, or "host" for the program itself
}

// Gaps returns the intervals in which no op ran. An interval with several reasons is split into
// several gaps.
func (r *Report) Gaps() []Gap {
	r.exists("Gaps")
	var gaps []Gap
	for k, s := range r.Steps {
		busy := r.busy(k)
		at := s.Begin
		for _, b := range append(busy, Interval{s.End, s.End}) {
			if b.Begin > at {
				gaps = append(gaps, r.exposed(k, Interval{at, b.Begin})...)
			}
			at = max(at, b.End)
		}
	}
	return gaps
}

// busy returns the intervals in which ops of a step ran, in order.
func (r *Report) busy(step int) []Interval {
	var all []Interval
	for _, o := range r.Ops {
		if o.Step == step {
			all = append(all, Interval{o.Begin, o.End})
		}
	}
	slices.SortFunc(all, func(a, b Interval) int { return cmp.Compare(a.Begin, b.Begin) })
	return all
}

// reasons splits a gap by what the host did in it.
func (r *Report) reasons(step int, gap Interval) []Gap {
	var gaps []Gap
	at := gap.Begin
	for _, h := range r.Host {
		if h.Kind == UserSpan || h.Kind == Communicating || h.End <= at || h.Begin >= gap.End {
			continue
		}
		if h.Begin > at {
			gaps = append(gaps, Gap{step, at, h.Begin, hostPart})
			at = h.Begin
		}
		end := min(h.End, gap.End)
		gaps = append(gaps, Gap{step, at, end, string(h.Kind)})
		at = end
	}
	if at < gap.End {
		gaps = append(gaps, Gap{step, at, gap.End, hostPart})
	}
	return gaps
}

// Timeline draws the step of median duration: its ops, the gaps between them with their
// reasons, and the spans.
func (r *Report) Timeline() *plots.Figure {
	r.exists("Timeline")
	if r == nil || len(r.Steps) == 0 {
		return plots.Timeline("One step")
	}
	k := r.median()
	zero := r.Steps[k].Begin
	seconds := func(d time.Duration) float64 { return (d - zero).Seconds() }
	device := plots.Lane{Name: r.Device}
	layers := plots.Lane{Name: "layers"}
	for _, o := range r.Ops {
		if o.Step != k {
			continue
		}
		b := plots.Block{From: seconds(o.Begin), To: seconds(o.End), Name: o.Name, Kind: string(o.Phase)}
		device.Blocks = append(device.Blocks, b)
		if n := len(layers.Blocks); n > 0 && layers.Blocks[n-1].Name == o.Layer && layers.Blocks[n-1].Kind == b.Kind {
			layers.Blocks[n-1].To = b.To
			continue
		}
		b.Name = o.Layer
		layers.Blocks = append(layers.Blocks, b)
	}
	gaps := plots.Lane{Name: "gaps"}
	for _, g := range r.Gaps() {
		if g.Step == k {
			gaps.Blocks = append(gaps.Blocks, plots.Block{From: seconds(g.Begin), To: seconds(g.End), Name: g.Reason, Kind: hostKind(g.Reason)})
		}
	}
	lanes := []plots.Lane{layers, device, gaps}
	if r.asynchronous {
		lanes = append([]plots.Lane{r.hostLane(k)}, lanes...)
	}
	spans := plots.Lane{Name: "spans"}
	for _, h := range r.Host {
		if h.Kind == UserSpan && h.Begin < r.Steps[k].End && h.End > zero && (r.asynchronous || h.Step == k) {
			spans.Blocks = append(spans.Blocks, plots.Block{From: seconds(max(h.Begin, zero)), To: seconds(min(h.End, r.Steps[k].End)), Name: h.Name})
		}
	}
	if len(spans.Blocks) > 0 {
		lanes = append([]plots.Lane{spans}, lanes...)
	}
	return plots.Timeline("One step", lanes...).Subtitle(fmt.Sprintf("step %d of %d, %s", k+1, len(r.Steps), duration(r.Steps[k].length())))
}

// hostKind returns the kind of a block for a host event, or "" for the program itself.
func hostKind(reason string) string {
	if reason == hostPart {
		return ""
	}
	return reason
}

// hostLane returns the work of the host for a step that an asynchronous device computed.
func (r *Report) hostLane(k int) plots.Lane {
	s := r.Steps[k]
	lane := plots.Lane{Name: "host"}
	for _, g := range r.reasons(k, s) {
		lane.Blocks = append(lane.Blocks, plots.Block{From: (g.Begin - s.Begin).Seconds(), To: (g.End - s.Begin).Seconds(), Name: g.Reason, Kind: hostKind(g.Reason)})
	}
	return lane
}
