package cuda

import (
	"errors"
	"math"
	"slices"
	"time"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/engine/trace"
)

// profile converts times of the device to those of a collector.
type profile struct {
	ctx    *profiledContext
	stream driver.Stream

	collector *trace.Collector   // nil without a profile
	origin    driver.Event       // 0 before the first profile
	at        time.Duration      // time of the origin event on the collector's clock
	eventCost time.Duration      // how much longer the device takes for each event in a graph
	pending   []*kernelEvents    // of launched graphs that have not been read, the oldest first
	exchanges []profiledExchange // between ranks, whose events have not been read
}

// kernelEvents are the events of a graph for profiles.
type kernelEvents struct {
	events []driver.Event // before the first kernel and after each; nil without a profile
	works  *trace.Work    // the kernels of the last launch, until their times are read from the events
}

// The time of the origin is measured several times: the first tries are slower. It is exact
// to half the time that the last one took, and is measured again if that was long because
// another thread ran meanwhile.
const (
	tries    = 3
	maxTries = 50
	exact    = 100 * time.Microsecond
)

// begin makes c the collector, if it is not yet. The origin is an event whose time is
// known on both clocks, with an error of half the time that the host takes to record it
// and to wait for it: a few microseconds.
func (p *profile) begin(c *trace.Collector) (err error) {
	if p.collector == c {
		return nil
	}
	if p.origin == 0 {
		if p.eventCost, err = p.measureEvents(); err != nil {
			return err
		}
		if p.origin, err = p.ctx.NewEvent(true); err != nil {
			return err
		}
	}
	p.collector, p.pending, p.exchanges = nil, nil, nil
	if err := p.ctx.SyncStream(p.stream); err != nil {
		return err
	}
	for try := 1; ; try++ {
		before := c.Now()
		if err := p.ctx.Record(p.origin, p.stream); err != nil {
			return err
		}
		if err := p.ctx.SyncEvent(p.origin); err != nil {
			return err
		}
		took := c.Now() - before
		p.at = before + took/2
		if try >= tries && took < exact || try >= maxTries {
			break
		}
	}
	p.collector = c
	return nil
}

// fills is the number of nodes in a graph that measures what an event costs.
const fills = 64

// measureEvents returns how much longer a graph takes for each event that it records between
// two nodes: the fastest launch of a graph with events less that of one without.
func (p *profile) measureEvents() (cost time.Duration, err error) {
	at, err := p.ctx.Alloc(4, p.stream)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, p.ctx.Free(at, p.stream)) }()
	var took [2]time.Duration
	for i, between := range []bool{false, true} {
		if took[i], err = p.fastestFills(at, between); err != nil {
			return 0, err
		}
	}
	return max(0, took[1]-took[0]) / (fills - 1), nil
}

// fastestFills returns the shortest time of a graph of nodes that each fill a word, with or
// without events between them.
func (p *profile) fastestFills(at driver.Pointer, between bool) (fastest time.Duration, err error) {
	var events []driver.Event
	defer func() {
		for _, e := range events {
			err = errors.Join(err, p.ctx.CloseEvent(e))
		}
	}()
	g, err := p.ctx.NewGraph()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, p.ctx.CloseGraph(g)) }()
	var before []driver.Node
	mark := func() error {
		e, err := p.ctx.NewEvent(true)
		if err != nil {
			return err
		}
		events = append(events, e)
		n, err := p.ctx.AddEvent(g, before, e)
		before = []driver.Node{n}
		return err
	}
	if err := mark(); err != nil {
		return 0, err
	}
	for i := range fills {
		n, err := p.ctx.AddFill(g, before, at, 0, 4, 1)
		if err != nil {
			return 0, err
		}
		before = []driver.Node{n}
		if between || i == fills-1 {
			if err := mark(); err != nil {
				return 0, err
			}
		}
	}
	x, err := p.ctx.Instantiate(g)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, p.ctx.CloseExecutable(x)) }()
	for i := range tries {
		if err := p.ctx.LaunchGraph(x, p.stream); err != nil {
			return 0, err
		}
		if err := p.ctx.SyncStream(p.stream); err != nil {
			return 0, err
		}
		took, err := p.since(events[0], events[len(events)-1])
		if err != nil {
			return 0, err
		}
		if i == 0 || took < fastest {
			fastest = took
		}
	}
	return fastest, nil
}

// measure reads the events of all launches, which must have run, and begins a profile if
// one was requested.
func (p *profile) measure() error {
	for len(p.pending) > 0 {
		if err := p.settle(p.pending[0]); err != nil {
			return err
		}
	}
	if err := p.settleExchanges(); err != nil {
		return err
	}
	if c := trace.Profile(); c != nil {
		return p.begin(c)
	}
	return nil
}

// settle reads from the events of a graph when its kernels ran.
func (p *profile) settle(x *kernelEvents) error {
	w := x.works
	if w == nil {
		return nil
	}
	x.works = nil
	p.pending = slices.DeleteFunc(p.pending, func(y *kernelEvents) bool { return x == y })
	if err := p.ctx.SyncEvent(x.events[len(x.events)-1]); err != nil {
		return err
	}
	at, err := p.since(p.origin, x.events[0])
	if err != nil {
		return err
	}
	at += p.at
	// The host time of the origin is known to within a few microseconds. No kernel begins before
	// its launch, so one that seems to do so shows by how much the origin is later.
	if early := w.Launched - at; early > 0 {
		p.at += early
		at += early
	}
	for i := range w.Kernels {
		took, err := p.since(x.events[i], x.events[i+1])
		if err != nil {
			return err
		}
		w.Kernels[i].Begin, w.Kernels[i].End = at, at+took
		at += took
	}
	return nil
}

// since returns the time between two events.
func (p *profile) since(from, to driver.Event) (time.Duration, error) {
	ms, err := p.ctx.Elapsed(from, to)
	return time.Duration(math.Round(ms * float64(time.Millisecond))), err
}

// profiledExchange is an exchange between ranks with an event before and after it.
type profiledExchange struct {
	begin, end driver.Event
	bytes      int
}

// exchange calls start, which starts an exchange of some bytes in a stream, between two events if
// there is a profile.
func (p *profile) exchange(stream driver.Stream, bytes int, start func() error) (err error) {
	c := trace.Profile()
	if c == nil {
		return start()
	}
	if err := p.begin(c); err != nil {
		return err
	}
	m := profiledExchange{bytes: bytes}
	if m.begin, err = p.ctx.NewEvent(true); err != nil {
		return err
	}
	if m.end, err = p.ctx.NewEvent(true); err != nil {
		return errors.Join(err, p.ctx.CloseEvent(m.begin))
	}
	if err := p.ctx.Record(m.begin, stream); err != nil {
		return err
	}
	if err := start(); err != nil {
		return err
	}
	p.exchanges = append(p.exchanges, m)
	return p.ctx.Record(m.end, stream)
}

// settleExchanges reads the times of the exchanges from their events.
func (p *profile) settleExchanges() error {
	exchanges := p.exchanges
	p.exchanges = nil
	var failed error
	for _, m := range exchanges {
		err := p.ctx.SyncEvent(m.end)
		begin, failedBegin := p.since(p.origin, m.begin)
		end, failedEnd := p.since(p.origin, m.end)
		if err = errors.Join(err, failedBegin, failedEnd); err == nil {
			p.collector.Add(trace.Event{Kind: trace.Communicating, Name: "NCCL", Begin: p.at + begin, End: p.at + end, Bytes: m.bytes})
		}
		failed = errors.Join(failed, err, p.ctx.CloseEvent(m.begin), p.ctx.CloseEvent(m.end))
	}
	return failed
}
