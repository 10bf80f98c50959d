package prof

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/quernlab/quern/accel/internal/training/interrupt"
	"github.com/quernlab/quern/accel/parallel"
	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/internal/quantity"
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

// Ranks is what the ranks of a group did in a profiled training, by rank. Notebooks display it as a table.
type Ranks []RankProfile

// RankProfile is the mean step of a rank.
type RankProfile struct {
	Host      string               // name of its machine
	Step      time.Duration        // of a step
	Waiting   time.Duration        // for other ranks, while it had nothing to compute
	Busy      time.Duration        // of all communication, some of which may overlap with computation
	Layers    []LayerCommunication // what it has exchanged
	Computing time.Duration        // the rest of the step
}

// CompareRanks gathers the reports of all ranks of a group, each of which has profiled the same training and calls CompareRanks with its report.
// All ranks get the same result.
func CompareRanks(ctx context.Context, group *parallel.Group, r *Report) (Ranks, error) {
	if err := interrupt.RequireContext(ctx, "prof: CompareRanks"); err != nil {
		return nil, err
	}
	if group == nil {
		return nil, errors.New("prof: CompareRanks: the group is nil: check the error of parallel.Join")
	}
	r.exists("CompareRanks")
	c := r.Communication()
	mine := RankProfile{Step: r.StepTime(), Waiting: c.Exposed, Busy: c.Busy, Layers: r.CommunicationByLayer()}
	mine.Computing = max(0, mine.Step-mine.Waiting)
	text, err := json.Marshal(mine)
	if err != nil {
		return nil, fmt.Errorf("prof: encode the profile of this rank: %w", err)
	}
	texts, err := group.AllGather(ctx, text)
	if err != nil {
		return nil, err
	}
	all := make(Ranks, len(texts))
	for rank, text := range texts {
		if err := json.Unmarshal(text, &all[rank]); err != nil {
			return nil, fmt.Errorf("prof: decode the profile of rank %d: %w", rank, err)
		}
		all[rank].Host = group.Host(rank)
	}
	return all, nil
}

// straggling is how much longer than the mean of the others a rank must compute to be a straggler.
const straggling = 0.2

// Straggler returns the rank that computes longest, if that is more than a fifth longer than the mean of the others, which wait for it; -1
// otherwise.
func (p Ranks) Straggler() int {
	slowest, sum := 0, time.Duration(0)
	for i, r := range p {
		sum += r.Computing
		if r.Computing > p[slowest].Computing {
			slowest = i
		}
	}
	if len(p) < 2 {
		return -1
	}
	others := (sum - p[slowest].Computing) / time.Duration(len(p)-1)
	if float64(p[slowest].Computing) <= (1+straggling)*float64(others) {
		return -1
	}
	return slowest
}

// Report returns a table of the ranks, one of what the layers exchange on rank 0, and which rank is slow.
func (p Ranks) Report() *display.Report {
	out := new(display.Report)
	if s := p.Straggler(); s >= 0 {
		out.Text(fmt.Sprintf("Rank %d on %s is slow: the other ranks wait for it in each step.", s, p[s].Host))
	}
	out.Table("rank", "machine", "step", "computing", "waiting for ranks", "communication")
	for i, r := range p {
		out.Row(i, r.Host, quantity.Seconds(r.Step.Seconds()), share(r.Computing, r.Step), share(r.Waiting, r.Step), share(r.Busy, r.Step))
	}
	if len(p) > 0 && len(p[0].Layers) > 0 {
		out.Table("on rank 0", "share of a step", "bytes")
		for _, l := range p[0].Layers {
			out.Row(l.Name, share(l.Busy, p[0].Step), quantity.Bytes(int(l.Bytes)))
		}
	}
	return out
}

// share returns a part of a time in percent.
func share(part, of time.Duration) string {
	if of <= 0 {
		return "–"
	}
	return quantity.Percent(part.Seconds() / of.Seconds())
}

// String returns the tables as text.
func (p Ranks) String() string { return p.Report().String() }
