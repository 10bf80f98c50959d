package kernel

import (
	"strings"
	"sync"
	"time"
)

// clocks has what the dates of messages say about the clocks of the latest clients.
type clocks struct {
	mu        sync.Mutex
	bySession map[string]*clientClock
}

// maxClients is the number of clients above which all are forgotten.
const maxClients = 16

// observe records the date of a request that was received, and returns the clock of its client.
func (c *clocks) observe(session, date string, received time.Time) *clientClock {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.bySession[session]
	if k == nil {
		if c.bySession == nil || len(c.bySession) >= maxClients {
			c.bySession = map[string]*clientClock{}
		}
		k = &clientClock{}
		c.bySession[session] = k
	}
	if date, unit, ok := parseDate(date); ok {
		k.observe(date, unit, received)
	}
	return k
}

// parseDate returns the date in the header of a message, and the unit to which it was rounded down.
func parseDate(text string) (date time.Time, unit time.Duration, ok bool) {
	date, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}, 0, false
	}
	unit = time.Second
	_, fraction, _ := strings.Cut(text, ".")
	for i := 0; i < len(fraction) && '0' <= fraction[i] && fraction[i] <= '9'; i++ {
		unit /= 10
	}
	return date, max(unit, 1), true
}

// A clientClock compares the clock of a client with that of the kernel. A request arrives after it was sent, so each one gives a
// bound: another one was sent no later than its date plus the difference between arrival and date of this one. That of the request
// with the shortest transit is the best.
type clientClock struct {
	mu       sync.Mutex
	newest   time.Time
	step     time.Duration // the smallest difference between two dates, and so at least the resolution of the clock; 0 if unknown
	since    time.Time     // when the current period began
	smallest [2]lag        // of the current period and the one before
}

// lag is the smallest difference between arrival and date of some requests.
type lag struct {
	difference time.Duration
	known      bool
}

// lagPeriod is how long a difference counts at least, and half of how long it counts at most: a clock may be set.
const lagPeriod = 5 * time.Second

func (c *clientClock) observe(date time.Time, unit time.Duration, received time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.newest.IsZero() && !date.Equal(c.newest) {
		step := max(date.Sub(c.newest).Abs(), unit)
		if c.step == 0 || step < c.step {
			c.step = step
		}
	}
	c.newest = date
	switch age := received.Sub(c.since); {
	case age > 2*lagPeriod:
		c.since, c.smallest = received, [2]lag{}
	case age > lagPeriod:
		c.since, c.smallest = received, [2]lag{{}, c.smallest[0]}
	}
	if d := received.Sub(date); !c.smallest[0].known || d < c.smallest[0].difference {
		c.smallest[0] = lag{d, true}
	}
}

// latest returns the latest time at which a request with a date was sent; ok is false if that is unknown.
func (c *clientClock) latest(date time.Time) (at time.Time, ok bool) {
	if c == nil {
		return time.Time{}, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.smallest {
		if end := date.Add(c.step + l.difference); l.known && c.step > 0 && (!ok || end.Before(at)) {
			at, ok = end, true
		}
	}
	return at, ok
}
