package prof

import (
	"cmp"
	"slices"
	"time"
)

// Communication is what the ranks of a data-parallel training exchange in a step, as means
// over the steps: gradients, what layers measure over all ranks, and what they agree on.
type Communication struct {
	Busy    time.Duration // numbers were on their way, or other ranks waited for
	Exposed time.Duration // of that nothing was computed
	Bytes   float64       // of the numbers that this rank has added up with those of others
}

// Hidden is the share of the exchange beside which something was computed, from 0 to 1.
func (c Communication) Hidden() float64 {
	if c.Busy <= 0 {
		return 0
	}
	return max(0, 1-c.Exposed.Seconds()/c.Busy.Seconds())
}

// Communication says what a step costs that several ranks make together; it is zero for
// one process. On GPUs whose gradients NCCL adds up it is the time of the device.
func (r *Report) Communication() (c Communication) {
	if len(r.Steps) == 0 {
		return c
	}
	var all []Stretch
	for _, h := range r.Host {
		if h.Kind == Exchanging || h.Kind == Communicating {
			all = append(all, Stretch{h.Begin, h.End})
			c.Bytes += float64(h.Bytes)
		}
	}
	n := time.Duration(len(r.Steps))
	c.Bytes /= float64(n)
	c.Busy = length(united(all)) / n
	c.Exposed = r.Breakdown().Exchanging
	return c
}

// united are stretches without those within others, in order; none overlap.
func united(all []Stretch) (united []Stretch) {
	slices.SortFunc(all, func(a, b Stretch) int { return cmp.Compare(a.Begin, b.Begin) })
	for _, s := range all {
		if n := len(united); n > 0 && s.Begin <= united[n-1].End {
			united[n-1].End = max(united[n-1].End, s.End)
			continue
		}
		united = append(united, s)
	}
	return united
}

// exposed cuts out of a gap on a device the time in which it had numbers of other ranks
// to wait for: whatever the host did meanwhile, the device could do nothing.
func (r *Report) exposed(step int, gap Stretch) []Gap {
	var gaps []Gap
	at := gap.Begin
	for _, s := range r.exchanges {
		from, to := max(s.Begin, at), min(s.End, gap.End)
		if from >= to {
			continue
		}
		gaps = append(gaps, r.reasons(step, Stretch{at, from})...)
		gaps = append(gaps, Gap{step, from, to, string(Exchanging)})
		at = to
	}
	return append(gaps, r.reasons(step, Stretch{at, gap.End})...)
}
