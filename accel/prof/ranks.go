package prof

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/quernlab/quern/accel/parallel"
	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/internal/quantity"
)

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
