package display

import (
	"context"
	"io"
	"math"
	"sync"
	"time"
)

// Meter displays the progress of an operation that may be quick: it displays nothing during the
// first second. Its methods may be called from any goroutine, and do nothing for a nil Meter.
type Meter struct {
	label   string
	total   float64
	now     func() time.Time
	started time.Time
	outer   *Meter      // the meter that this is a step of; nil if none
	first   *time.Timer // shows the bar even if the first step takes long; nil in tests and inner meters

	mu     sync.Mutex
	handle *Handle // nil before the first display
	shown  time.Time
	last   Progress
}

// The delay before the first display, and the shortest interval between two.
const (
	meterDelay = time.Second
	meterEvery = 500 * time.Millisecond
)

// NewMeter starts to measure an operation with total steps; 0 means unknown. Call End when the
// operation is done.
func NewMeter(label string, total float64) *Meter {
	m := newMeter(label, total, time.Now)
	m.first = time.AfterFunc(meterDelay, m.showFirst)
	return m
}

// Measure is like [NewMeter], for an operation that may be a step of one that is already
// measured:
//
//	meter, ctx := display.Measure(ctx, "examples", n)
//	defer meter.End()
//
// A function that is called with the new context and measures itself displays no bar of its
// own. Instead it advances the outer bar within the step that began with the last Set.
func Measure(ctx context.Context, label string, total float64) (*Meter, context.Context) {
	outer, within := ctx.Value(meterKey{}).(*Meter)
	var m *Meter
	switch {
	case within && outer == nil:
		return nil, ctx
	case within:
		m = newMeter(label, total, time.Now)
		m.outer = outer
	default:
		m = NewMeter(label, total)
	}
	return m, context.WithValue(ctx, meterKey{}, m)
}

// Unmeasured returns a context in which nested operations display no progress, for callers that
// display it in another form.
func Unmeasured(ctx context.Context) context.Context {
	return context.WithValue(ctx, meterKey{}, (*Meter)(nil))
}

// meterKey is the context key of a meter.
type meterKey struct{}

func newMeter(label string, total float64, now func() time.Time) *Meter {
	return &Meter{label: label, total: total, now: now, started: now()}
}

// showFirst shows the bar after meterDelay if no call of Set has done so.
func (m *Meter) showFirst() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.handle == nil && !m.last.Ended {
		m.set(m.last.Done, m.last.Note)
	}
}

// Set records the number of steps done and a note, which may be empty.
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

// part records the fraction done of the step that began with the last Set.
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

// set displays the progress if it is due. The lock is held.
func (m *Meter) set(done float64, note string) {
	at := m.now()
	m.last = Progress{Label: m.label, Done: done, Total: m.total, Passed: at.Sub(m.started), Note: note}
	switch {
	case m.handle == nil && at.Sub(m.started) < meterDelay, m.handle != nil && at.Sub(m.shown) < meterEvery:
		return
	case m.handle == nil:
		m.handle = Show(m.last)
	default:
		m.handle.Update(m.last)
	}
	m.shown = at
}

// Last returns the last progress recorded, whether it was displayed or not.
func (m *Meter) Last() Progress {
	if m == nil {
		return Progress{}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last
}

// Reader counts what is read from r, in steps of a megabyte.
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

// Writer returns a writer to w that counts each megabyte written as a step. It passes on at most
// one megabyte at a time.
func (m *Meter) Writer(w io.Writer) io.Writer {
	if m == nil {
		return w
	}
	return &meteredWriter{Writer: w, meter: m}
}

type meteredWriter struct {
	io.Writer
	meter   *Meter
	written int64
}

func (w *meteredWriter) Write(p []byte) (written int, err error) {
	const most = 1e6
	for {
		n, err := w.Writer.Write(p[written:min(len(p), written+most)])
		written += n
		w.written += int64(n)
		w.meter.Set(float64(w.written)/1e6, "MB")
		if err != nil || written == len(p) {
			return written, err
		}
	}
}

// End displays the last state, if anything was displayed.
func (m *Meter) End() {
	if m == nil {
		return
	}
	if m.first != nil {
		m.first.Stop()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.last.Ended {
		return
	}
	m.last.Ended, m.last.Passed = true, m.now().Sub(m.started)
	if m.handle != nil {
		m.handle.Update(m.last)
	}
}
