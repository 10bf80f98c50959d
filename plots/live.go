package plots

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/quernlab/quern/display"
)

// Timing of a live figure.
const (
	// minInterval is the shortest time between two frames. Front ends redraw immediately, and
	// collaborative ones store every frame in the log of the notebook.
	minInterval = 500 * time.Millisecond
	// intervalDivisor makes the interval grow with the elapsed time, which it divides: after an
	// hour there is one frame every 18 seconds.
	intervalDivisor = 200
	// deadline is the time limit for drawing one frame.
	deadline = 10 * time.Second
	// lastDeadline is the time limit for the last frame. It is longer because the computation
	// has ended by then, and this frame stays in the notebook.
	lastDeadline = time.Minute
)

// Live redraws one figure in place while its data arrive.
//
// It has one goroutine, which draws the newest figure that it has received and skips older
// ones: at most two a second, fewer in a long run. Intermediate frames are SVG only; the last
// one has all formats. A frame that panics or takes longer than ten seconds is skipped, so the
// caller of Update never waits for drawing. The last frame may take a minute.
//
//	live := plots.NewLive(ctx)
//	defer live.Close()
//	for ... {
//		if live.Due() {
//			d := snapshot()
//			live.Update(func() *plots.Figure { return plots.Training(d) })
//		}
//	}
type Live struct {
	result  bool                // the last frame is a result of the program
	newest  chan func() *Figure // buffer of one
	ended   chan struct{}       // closed when the goroutine ends
	stop    context.CancelFunc
	pending chan struct{} // of a frame that timed out; closed when it finishes after all

	mu    sync.Mutex
	due   time.Time       // earliest time of the next frame, guarded by mu
	shown *display.Handle // nil until the first frame, guarded by mu
}

// NewLive starts a live figure. The first update displays it with display.Show; later updates replace
// it. When ctx is done, the newest figure is drawn and the live figure ends, as with [Live.Close].
func NewLive(ctx context.Context) *Live { return newLive(ctx, true, time.Time{}) }

func newLive(ctx context.Context, result bool, due time.Time) *Live {
	ctx, stop := context.WithCancel(ctx)
	l := &Live{result: result, newest: make(chan func() *Figure, 1), ended: make(chan struct{}), stop: stop, due: due}
	go l.run(ctx)
	return l
}

// Due reports whether an update would be drawn now. Callers can use it to avoid copying data
// for frames that would be skipped.
func (l *Live) Due() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !time.Now().Before(l.due)
}

// Update sets the newest figure and returns immediately. The function is called later in
// another goroutine, so it must not use data that change. After Close, Update has no effect.
func (l *Live) Update(figure func() *Figure) {
	for {
		select {
		case <-l.ended:
			return
		case l.newest <- figure:
			return
		default:
		}
		select { // drop the older figure
		case <-l.newest:
		default:
		}
	}
}

// Close draws the newest figure once more in all its formats and stops the goroutine. It
// returns when that is done or has timed out. It may be called more than once.
func (l *Live) Close() {
	l.stop()
	<-l.ended
}

func (l *Live) run(ctx context.Context) {
	defer close(l.ended)
	defer l.stop()
	start := time.Now()
	var last func() *Figure
	wait := time.NewTimer(0)
	defer wait.Stop()
	<-wait.C
	for {
		select {
		case <-ctx.Done():
			select {
			case last = <-l.newest:
			default:
			}
			if last != nil {
				l.draw(last, true)
			}
			return
		case last = <-l.newest:
		}
		l.draw(last, false)
		pause := max(minInterval, time.Since(start)/intervalDivisor)
		l.mu.Lock()
		l.due = time.Now().Add(pause)
		l.mu.Unlock()
		wait.Reset(pause)
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
		}
	}
}

// draw draws and displays one figure, or skips it. Each frame is drawn in a goroutine of its own, which is
// abandoned if it hangs.
func (l *Live) draw(figure func() *Figure, final bool) {
	limit := deadline
	if final {
		limit = lastDeadline
	}
	late := time.NewTimer(limit)
	defer late.Stop()
	if l.pending != nil {
		// Do not start another frame while an abandoned one is still running.
		if !final {
			select {
			case <-l.pending:
			default:
				return
			}
		}
		select {
		case <-l.pending:
		case <-late.C:
			slog.Debug("skip a frame of a live figure: the previous one still runs")
			return
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if r := recover(); r != nil {
				slog.Debug("skip a frame of a live figure: it panicked", "panic", r)
			}
		}()
		drawn := figure()
		if drawn == nil {
			return
		}
		f := render(drawn, final)
		f.interim = !final || !l.result
		l.show(f)
	}()
	select {
	case <-done:
		l.pending = nil
	case <-late.C:
		slog.Debug("abandon a frame of a live figure: it timed out", "limit", limit)
		l.pending = done
	}
}

// show displays a frame in place of the one before.
func (l *Live) show(f frame) {
	if h := l.displayed(); h != nil {
		h.Update(f)
		return
	}
	h := display.Show(f)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shown = h
}

// displayed returns the output, or nil before the first frame.
func (l *Live) displayed() *display.Handle {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.shown
}

// frame is a figure that has been drawn.
type frame struct {
	figure           *Figure
	bundle, metadata map[string]any
	interim          bool
}

func (f frame) MIMEBundle() map[string]any        { return f.bundle }
func (f frame) MIMEMetadata() map[string]any      { return f.metadata }
func (f frame) Interactive() *display.Interactive { return f.figure.Interactive() }
func (f frame) Interim() bool                     { return f.interim }
func (f frame) String() string                    { return fmt.Sprint(f.bundle["text/plain"]) }

// render draws a figure: in all its formats if it is the final one, otherwise only in the
// cheapest.
func render(f *Figure, final bool) frame {
	if !final && f.settings.format.resolve() == Both {
		copied := *f
		f = copied.As(SVG)
	}
	return frame{figure: f, bundle: f.MIMEBundle(), metadata: f.MIMEMetadata()}
}
