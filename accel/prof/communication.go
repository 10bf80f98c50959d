package prof

import (
	"cmp"
	"slices"
	"time"
)

// Communication describes what the ranks of a data-parallel training exchange in a step, as
// means over the steps: gradients, statistics that layers compute over all ranks, and decisions
// that the ranks must agree on.
type Communication struct {
	Busy    time.Duration // time of transfers and of waiting for other ranks
	Exposed time.Duration // part of Busy in which nothing was computed
	Bytes   float64       // bytes that this rank has reduced with other ranks
}

// Hidden returns the fraction of the exchange that overlaps with computation, from 0 to 1.
func (c Communication) Hidden() float64 {
	if c.Busy <= 0 {
		return 0
	}
	return max(0, 1-c.Exposed.Seconds()/c.Busy.Seconds())
}

// Communication returns the communication cost of a step. It is zero for a single process. On
// GPUs whose gradients NCCL reduces, it is device time.
func (r *Report) Communication() (c Communication) {
	r.exists("Communication")
	if len(r.Steps) == 0 {
		return c
	}
	var all []Interval
	for _, h := range r.Host {
		if h.Kind == CommunicationWait || h.Kind == Communicating {
			all = append(all, Interval{h.Begin, h.End})
			c.Bytes += float64(h.Bytes)
		}
	}
	n := time.Duration(len(r.Steps))
	c.Bytes /= float64(n)
	c.Busy = length(mergeIntervals(all)) / n
	c.Exposed = r.Breakdown().CommunicationWait
	return c
}

// LayerCommunication is what ranks exchange for a layer in a step, as means over the steps.
type LayerCommunication struct {
	Name  string        // such as "gradients 2.0", with the path of the layer, or "statistics" of layers that compute them over all ranks
	Busy  time.Duration // time of transfers; if several layers travel together, in proportion to their bytes
	Bytes float64       // that this rank has reduced with other ranks
}

// CommunicationByLayer returns the communication of each layer, the longest first. On GPUs whose gradients NCCL reduces, which
// sees no layers, it is a single entry.
func (r *Report) CommunicationByLayer() []LayerCommunication {
	r.exists("CommunicationByLayer")
	at := map[string]int{}
	var all []LayerCommunication
	for _, h := range r.Host {
		if h.Kind != Communicating && (h.Kind != CommunicationWait || h.Name == "gradients") { // the wait for transfers that have their own events
			continue
		}
		i, known := at[h.Name]
		if !known {
			i = len(all)
			at[h.Name] = i
			all = append(all, LayerCommunication{Name: h.Name})
		}
		all[i].Busy += h.End - h.Begin
		all[i].Bytes += float64(h.Bytes)
	}
	for i := range all {
		all[i].Busy /= time.Duration(len(r.Steps))
		all[i].Bytes /= float64(len(r.Steps))
	}
	slices.SortStableFunc(all, func(a, b LayerCommunication) int { return cmp.Compare(b.Busy, a.Busy) })
	return all
}

// mergeIntervals merges overlapping intervals and returns them in order.
func mergeIntervals(all []Interval) (mergeIntervals []Interval) {
	slices.SortFunc(all, func(a, b Interval) int { return cmp.Compare(a.Begin, b.Begin) })
	for _, s := range all {
		if n := len(mergeIntervals); n > 0 && s.Begin <= mergeIntervals[n-1].End {
			mergeIntervals[n-1].End = max(mergeIntervals[n-1].End, s.End)
			continue
		}
		mergeIntervals = append(mergeIntervals, s)
	}
	return mergeIntervals
}

// exposed splits off the part of a device gap in which the device waited for other ranks:
// whatever the host did meanwhile, the device had nothing to compute.
func (r *Report) exposed(step int, gap Interval) []Gap {
	var gaps []Gap
	at := gap.Begin
	for _, s := range r.exchanges {
		from, to := max(s.Begin, at), min(s.End, gap.End)
		if from >= to {
			continue
		}
		gaps = append(gaps, r.reasons(step, Interval{at, from})...)
		gaps = append(gaps, Gap{step, from, to, string(CommunicationWait)})
		at = to
	}
	return append(gaps, r.reasons(step, Interval{at, gap.End})...)
}
