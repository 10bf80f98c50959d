package accel

import (
	"context"
	"time"

	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/plots"
)

// screen displays a run while it goes on: as figures, which another goroutine draws, or as a
// line of text. The training loop calls offer after each step; most calls only read the clock.
type screen struct {
	ownObserver
	ctx     context.Context
	o       *options
	figures *plots.Live     // nil without Live
	watch   *watch          // nil unless device utilization is drawn
	line    *display.Handle // nil with Live or Quiet
	lineDue time.Time
}

// lineEvery is the minimum time between two lines of progress.
const lineEvery = 500 * time.Millisecond

// Begin displays the output. Its goroutines end with End, not with the context, so that a run
// that was interrupted still gets its final figure.
func (s *screen) Begin(t *Training) error {
	ctx := context.WithoutCancel(s.ctx)
	for _, m := range s.o.live {
		if m.ofDevice() && s.watch == nil {
			s.watch = startWatch(ctx, sampleEvery)
		}
	}
	switch {
	case len(s.o.live) > 0:
		s.figures = plots.NewLive(ctx, nil)
		s.draw(t.Run)
	case !s.o.quiet:
		s.line = display.Show(display.Text("training"))
		s.lineDue = time.Now().Add(lineEvery)
	}
	return nil
}

// Step updates the display if it is due.
func (s *screen) Step(t *Training, _ Step) error {
	s.offer(t.Run)
	return nil
}

// Validation updates the display if it is due.
func (s *screen) Validation(t *Training, _ Validation) error {
	s.offer(t.Run)
	return nil
}

func (s *screen) offer(r *Run) {
	switch {
	case s.figures != nil && s.figures.Due():
		s.draw(r)
	case s.line != nil && time.Now().After(s.lineDue):
		s.lineDue = time.Now().Add(lineEvery)
		s.line.Update(r.progress())
	}
}

// draw passes a snapshot of the run to the goroutine that draws. The histories are only
// appended to, so copying the struct is enough.
func (s *screen) draw(r *Run) {
	now, watch := *r, s.watch
	s.figures.Update(func() *plots.Figure {
		if watch != nil {
			now.recordUtilization(watch)
		}
		return now.draw(now.metrics).Progress(now.progress()).Notes(now.findings...)
	})
}

// End displays the final run and ends the goroutines.
func (s *screen) End(t *Training, _ error) {
	r := t.Run
	if s.watch != nil {
		s.watch.stop()
		r.recordUtilization(s.watch)
		s.watch = nil
	}
	if s.figures != nil {
		s.draw(r)
		s.figures.Close()
		r.drawn = true
	}
	if s.line != nil {
		s.line.Update(display.Text(r.String()))
	}
}
