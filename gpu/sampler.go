package gpu

import (
	"context"
	"sync"
	"time"
)

// Limits of the sampling interval. The driver averages over at least a sixth of a second:
// faster samples repeat each other.
const (
	fastest = 100 * time.Millisecond
	slowest = time.Minute
)

// stopTimeout is how long Stop waits for a device that does not respond.
const stopTimeout = 2 * time.Second

// Sampler samples a device periodically until it is stopped.
type Sampler struct {
	name string
	host bool
	stop context.CancelFunc
	done chan struct{} // closed when the goroutine ends

	mu      sync.Mutex
	samples []Sample // guarded by mu
}

// Start samples d immediately and then at each interval, which is limited to between 100 ms and
// a minute, until ctx is done or [Sampler.Stop] is called. The sampler owns d and closes it at
// the end.
func Start(ctx context.Context, d Device, interval time.Duration) *Sampler {
	ctx, stop := context.WithCancel(ctx)
	_, isHost := d.(*host)
	s := &Sampler{name: d.Name(), host: isHost, stop: stop, done: make(chan struct{})}
	go s.run(ctx, d, min(max(interval, fastest), slowest))
	return s
}

func (s *Sampler) run(ctx context.Context, d Device, interval time.Duration) {
	defer close(s.done)
	// An error of Close has no consequence: the history is complete.
	defer d.Close()
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		s.add(d.Sample())
		select {
		case <-ctx.Done():
			s.add(d.Sample()) // the end of the last interval
			return
		case <-tick.C:
		}
	}
}

// Stop takes a last sample and returns when the device is closed, or after two seconds if the
// device does not respond. Stop may be called more than once.
func (s *Sampler) Stop() {
	s.stop()
	late := time.NewTimer(stopTimeout)
	defer late.Stop()
	select {
	case <-s.done:
	case <-late.C:
	}
}

// History returns a copy of the samples so far.
func (s *Sampler) History() History {
	s.mu.Lock()
	defer s.mu.Unlock()
	return History{Name: s.name, Host: s.host, Samples: append([]Sample(nil), s.samples...)}
}

// maxSamples limits a history to more than a day at one sample per second.
const maxSamples = 100_000

func (s *Sampler) add(sample Sample) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.samples) >= maxSamples {
		s.samples = coarser(s.samples)
	}
	s.samples = append(s.samples, sample)
}
