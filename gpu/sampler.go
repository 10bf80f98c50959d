package gpu

import (
	"context"
	"sync"
	"time"
)

// The bounds of the time between two samples. The driver averages over a
// sixth of a second or more: faster samples repeat each other.
const (
	fastest = 100 * time.Millisecond
	slowest = time.Minute
)

// patience is how long Stop waits for a device that does not answer.
const patience = 2 * time.Second

// Sampler measures a device again and again until it is stopped.
type Sampler struct {
	name string
	host bool
	stop context.CancelFunc
	done chan struct{} // closed when the goroutine has ended

	mu      sync.Mutex
	samples []Sample // guarded by mu
}

// Start measures d at once and then at each interval, which is brought between
// 100 ms and a minute, until ctx ends or [Sampler.Stop] is called. The sampler
// owns d from now on and closes it in the end.
func Start(ctx context.Context, d Device, interval time.Duration) *Sampler {
	ctx, stop := context.WithCancel(ctx)
	_, isHost := d.(*host)
	s := &Sampler{name: d.Name(), host: isHost, stop: stop, done: make(chan struct{})}
	go s.run(ctx, d, min(max(interval, fastest), slowest))
	return s
}

func (s *Sampler) run(ctx context.Context, d Device, interval time.Duration) {
	defer close(s.done)
	// Nothing can be done about a device that does not close well, and its
	// history is complete.
	defer d.Close()
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		s.add(d.Sample())
		select {
		case <-ctx.Done():
			s.add(d.Sample()) // the end of the last stretch
			return
		case <-tick.C:
		}
	}
}

// Stop ends the measuring with one last sample, and returns when the device is
// closed. A device that does not answer is given up after two seconds. Stop
// may be called more than once.
func (s *Sampler) Stop() {
	s.stop()
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-s.done:
	case <-late.C:
	}
}

// History is a copy of what has been measured so far.
func (s *Sampler) History() History {
	s.mu.Lock()
	defer s.mu.Unlock()
	return History{Name: s.name, Host: s.host, Samples: append([]Sample(nil), s.samples...)}
}

// maxSamples bounds a history: more than a day at one sample a second.
const maxSamples = 100_000

func (s *Sampler) add(sample Sample) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.samples) >= maxSamples {
		s.samples = coarser(s.samples)
	}
	s.samples = append(s.samples, sample)
}
