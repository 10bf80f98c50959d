package cuda

import (
	"errors"
	"time"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/trace"
)

// profiledSum is a sum over ranks with an event before and after it.
type profiledSum struct {
	begin, end driver.Event
	bytes      int
}

// sumBegins records the event before a sum; it returns nil without a profile.
func (d *Device) sumBegins(c *trace.Collector, stream driver.Stream) (m *profiledSum, err error) {
	if c == nil {
		return nil, nil
	}
	if _, err := d.began(c); err != nil {
		return nil, err
	}
	m = &profiledSum{}
	if m.begin, err = d.ctx.NewEvent(true); err != nil {
		return nil, err
	}
	if m.end, err = d.ctx.NewEvent(true); err != nil {
		return nil, errors.Join(err, d.ctx.CloseEvent(m.begin))
	}
	return m, d.ctx.Record(m.begin, stream)
}

// sumEnds records the event after it.
func (d *Device) sumEnds(m *profiledSum, stream driver.Stream, bytes int) error {
	if m == nil {
		return nil
	}
	m.bytes = bytes
	d.profile.sums = append(d.profile.sums, *m)
	return d.ctx.Record(m.end, stream)
}

// settleSums reads the times of the sums from their events.
func (p *profile) settleSums(ctx driver.Context) error {
	sums := p.sums
	p.sums = nil
	var failed error
	for _, m := range sums {
		err := ctx.SyncEvent(m.end)
		var begin, end float64
		if err == nil {
			begin, err = ctx.Elapsed(p.origin, m.begin)
		}
		if err == nil {
			end, err = ctx.Elapsed(p.origin, m.end)
		}
		if err == nil {
			ms := func(t float64) time.Duration { return p.at + time.Duration(t*float64(time.Millisecond)) }
			p.collector.Add(trace.Event{Kind: trace.Communicating, Name: "NCCL", Begin: ms(begin), End: ms(end), Bytes: m.bytes})
		}
		failed = errors.Join(failed, err, ctx.CloseEvent(m.begin), ctx.CloseEvent(m.end))
	}
	return failed
}
