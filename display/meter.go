package display

import (
	"context"
	"io"
	"math"
	"sync"
	"time"
)

// Meter is an output that shows the progress of what is perhaps quick: there is nothing
// on the page before it has taken a second. Its methods may be called from any goroutine;
// those of nil do nothing.
type Meter struct {
	label string
	total float64
	now   func() time.Time
	begun time.Time
	outer *Meter // what this is a step of; nil for nothing

	mu     sync.Mutex
	handle *Handle // nil before the first picture
	shown  time.Time
	last   Progress
}

// The least time before the first picture, and between two.
const (
	meterDelay = time.Second
	meterEvery = 500 * time.Millisecond
)

// NewMeter begins to measure something that has so many steps; 0 is an unknown number.
func NewMeter(label string, total float64) *Meter { return newMeter(label, total, time.Now) }

// Measure is [NewMeter] for something that may be a step of what is measured already:
//
//	meter, ctx := display.Measure(ctx, "examples", n)
//	defer meter.End()
//
// What is called with the new context and measures itself shows no bar of its own: it
// moves the bar of the whole on, within the step that began with the last Set.
func Measure(ctx context.Context, label string, total float64) (*Meter, context.Context) {
	m := NewMeter(label, total)
	if outer, ok := ctx.Value(meterKey{}).(*Meter); ok {
		if outer == nil {
			return nil, ctx
		}
		m.outer = outer
	}
	return m, context.WithValue(ctx, meterKey{}, m)
}

// Unmeasured is a context in which nothing measures itself, for what shows its progress in
// another way.
func Unmeasured(ctx context.Context) context.Context {
	return context.WithValue(ctx, meterKey{}, (*Meter)(nil))
}

// meterKey is the key of the meter of a context.
type meterKey struct{}

func newMeter(label string, total float64, now func() time.Time) *Meter {
	return &Meter{label: label, total: total, now: now, begun: now()}
}

// Set tells how many steps are done, and what else is to be said, which may be empty.
func (m *Meter) Set(done float64, note string) {
	if m == nil {
		return
	}
	if m.outer != nil {
		m.mu.Lock()
		m.last.Done = done
		m.mu.Unlock()
		if m.total > 0 {
			m.outer.part(min(done/m.total, 1))
		}
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.set(done, note)
}

// part tells how much of the step is done that began with the last Set.
func (m *Meter) part(share float64) {
	m.mu.Lock()
	done, note := math.Floor(m.last.Done)+min(share, 0.999), m.last.Note // the step ends with the next Set
	if m.outer == nil {
		defer m.mu.Unlock()
		m.set(done, note)
		return
	}
	m.last.Done = done
	m.mu.Unlock()
	m.outer.part(done / max(m.total, 1))
}

// set shows the progress if it is time to. The lock is held.
func (m *Meter) set(done float64, note string) {
	at := m.now()
	m.last = Progress{Label: m.label, Done: done, Total: m.total, Passed: at.Sub(m.begun), Note: note}
	switch {
	case m.handle == nil && at.Sub(m.begun) < meterDelay, m.handle != nil && at.Sub(m.shown) < meterEvery:
		return
	case m.handle == nil:
		m.handle = Show(m.last)
	default:
		m.handle.Update(m.last)
	}
	m.shown = at
}

// Last is what was last told, whether it was shown or not.
func (m *Meter) Last() Progress {
	if m == nil {
		return Progress{}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last
}

// Reader counts what is read of r as steps of a megabyte.
func (m *Meter) Reader(r io.Reader) io.Reader {
	if m == nil {
		return r
	}
	return &meteredReader{Reader: r, meter: m}
}

type meteredReader struct {
	io.Reader
	meter *Meter
	read  int64
}

func (r *meteredReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.read += int64(n)
	r.meter.Set(float64(r.read)/1e6, "MB")
	return n, err
}

// End shows the last state, if anything was shown.
func (m *Meter) End() {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.handle == nil || m.last.Ended {
		return
	}
	m.last.Ended, m.last.Passed = true, m.now().Sub(m.begun)
	m.handle.Update(m.last)
}
