package plots

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/quernlab/quern/display"
)

// Updater is an output on a page that can be replaced, such as a
// *display.Handle.
type Updater interface {
	Update(v any)
}

// Shower puts a value on the page and returns what replaces it there.
type Shower func(v any) Updater

// Pace of a live figure.
const (
	// shortest is the least time between two pictures. Front ends redraw at
	// once, and collaborative ones keep every picture in the notebook's log.
	shortest = 500 * time.Millisecond
	// share makes the time between pictures grow with a long run: after an
	// hour there is one in 18 seconds.
	share = 200
	// deadline is how long one picture may take before it is given up.
	deadline = 10 * time.Second
	// lastDeadline is that of the last picture. Nothing waits for the processor
	// any more, and this one stays in the notebook.
	lastDeadline = time.Minute
)

// Live redraws one figure in place while the data for it come in.
//
// It owns one goroutine, which draws the newest figure that it was given and
// leaves out those in between: at most two a second, fewer in a long run.
// Pictures in between are SVG only, the last is a full bundle. A figure that
// panics or takes longer than ten seconds is left out, and what gives the
// figures never waits for it; only the last may take a minute.
//
//	live := plots.NewLive(ctx, nil)
//	defer live.Close()
//	for ... {
//		if live.Due() {
//			d := snapshot()
//			live.Update(func() *plots.Figure { return plots.Training(d) })
//		}
//	}
type Live struct {
	show   Shower
	newest chan func() *Figure // holds at most one
	ended  chan struct{}       // closed when the goroutine has ended
	stop   context.CancelFunc

	mu  sync.Mutex
	due time.Time // when the next picture may be drawn, guarded by mu
}

// NewLive starts a live figure. The first update shows it with show, which is
// display.Show when nil; later ones replace it. When ctx ends, the newest
// figure is drawn and the live figure ends, as with [Live.Close].
func NewLive(ctx context.Context, show Shower) *Live {
	if show == nil {
		show = func(v any) Updater { return display.Show(v) }
	}
	ctx, stop := context.WithCancel(ctx)
	l := &Live{
		show:   show,
		newest: make(chan func() *Figure, 1),
		ended:  make(chan struct{}),
		stop:   stop,
	}
	go l.run(ctx)
	return l
}

// Due reports whether an update would be drawn now. A caller that asks first
// spares itself the copies of data for pictures that are left out.
func (l *Live) Due() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !time.Now().Before(l.due)
}

// Update sets the newest figure and returns at once. The function is called
// later in another goroutine, so it must not share data that change. After
// Close it has no effect.
func (l *Live) Update(figure func() *Figure) {
	for {
		select {
		case <-l.ended:
			return
		case l.newest <- figure:
			return
		default:
		}
		select { // make room: latest wins
		case <-l.newest:
		default:
		}
	}
}

// Close draws the newest figure once more with all its formats, and ends. It
// returns when that is done, or when the picture has taken too long. It may be
// called more than once.
func (l *Live) Close() {
	l.stop()
	<-l.ended
}

func (l *Live) run(ctx context.Context) {
	defer close(l.ended)
	defer l.stop()
	s := &screen{show: l.show}
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
				s.draw(last, true)
			}
			return
		case last = <-l.newest:
		}
		s.draw(last, false)
		pause := max(shortest, time.Since(start)/share)
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

// screen is the place on the page. It draws in a second goroutine, which can
// be left behind if it hangs.
type screen struct {
	show    Shower
	shown   Updater       // nil until the first picture
	pending chan struct{} // of a picture that was given up; closed when it is done after all
}

// draw draws and shows one figure, or leaves it out.
func (s *screen) draw(figure func() *Figure, final bool) {
	limit := deadline
	if final {
		limit = lastDeadline
	}
	late := time.NewTimer(limit)
	defer late.Stop()
	if s.pending != nil {
		// One that hangs is enough: no second one until it is done.
		if !final {
			select {
			case <-s.pending:
			default:
				return
			}
		}
		select {
		case <-s.pending:
		case <-late.C:
			slog.Debug("live figure left out: one before it hangs")
			return
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if r := recover(); r != nil {
				slog.Debug("live figure left out", "panic", r)
			}
		}()
		drawn := figure()
		if drawn == nil {
			return
		}
		f := picture(drawn, final)
		if s.shown == nil {
			s.shown = s.show(f)
		} else {
			s.shown.Update(f)
		}
	}()
	select {
	case <-done:
		s.pending = nil
	case <-late.C:
		slog.Debug("live figure given up", "after", limit)
		s.pending = done
	}
}

// frame is a figure that has been drawn.
type frame struct {
	bundle, metadata map[string]any
}

func (f frame) MIMEBundle() map[string]any   { return f.bundle }
func (f frame) MIMEMetadata() map[string]any { return f.metadata }
func (f frame) String() string               { return fmt.Sprint(f.bundle["text/plain"]) }

// picture draws a figure: in all its formats when it is the final one, in the
// cheapest when it will be replaced soon.
func picture(f *Figure, final bool) frame {
	if !final && f.look.format.orEnvironment() == Both {
		copied := *f
		f = copied.As(SVG)
	}
	return frame{f.MIMEBundle(), f.MIMEMetadata()}
}
