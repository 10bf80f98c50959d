package plots

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/quernlab/quern/display"
)

// Partial shows the results so far of something that takes long: a live figure below a
// bar with the time that is left. Nothing is on the page before it has taken a second, so
// that what is quick shows its result alone. Its methods do nothing for nil.
//
//	part := plots.NewPartial(ctx, "trials", 30)
//	defer func() { result.drawn = part.Close(result.Figure) }()
//	for i := range 30 {
//		…
//		part.Set(float64(i+1), "", func() func() *plots.Figure { snapshot := result.clone(); return snapshot.Figure })
//	}
type Partial struct {
	live  *Live
	label string
	total float64
	began time.Time
	ready *time.Timer // when the first figure is due
	late  atomic.Bool // a second has passed
	shown atomic.Bool
}

// partialDelay is how long nothing is shown.
const partialDelay = time.Second

// NewPartial begins to measure something that has so many steps; 0 is an unknown number.
// The figure stays when ctx ends, until Close.
func NewPartial(ctx context.Context, label string, total float64) *Partial {
	p := &Partial{label: label, total: total, began: time.Now()}
	p.live = NewLive(context.WithoutCancel(ctx), func(v any) Updater {
		p.shown.Store(true)
		return display.Show(v)
	})
	p.ready = time.AfterFunc(partialDelay, func() { p.late.Store(true) })
	return p
}

// Set tells how many steps are done, what else is to be said beside the bar, and how the
// results so far are drawn. snapshot is called at once, but only when a figure is due, and
// copies what may change; what it returns draws later, in another goroutine, and may
// return nil as long as there is nothing to draw.
func (p *Partial) Set(done float64, note string, snapshot func() func() *Figure) {
	if p == nil || !p.late.Load() || !p.live.Due() {
		return
	}
	now := display.Progress{Label: p.label, Done: done, Total: p.total, Passed: time.Since(p.began), Note: note}
	draw := snapshot()
	p.live.Update(func() *Figure {
		f := draw()
		if f == nil {
			f = newFigure("", nothingYet{})
		}
		return f.Progress(now)
	})
}

// Close replaces the figure by the final one, without the bar, and tells whether it is on
// the page. Closing twice is fine.
func (p *Partial) Close(figure func() *Figure) (shown bool) {
	if p == nil {
		return false
	}
	p.ready.Stop()
	if p.shown.Load() {
		p.live.Update(figure)
	}
	p.live.Close()
	return p.shown.Load()
}

// nothingYet is a figure of which there is only the bar.
type nothingYet struct{}

func (nothingYet) size() (width, height float64) { return 560, 40 }
func (nothingYet) sections(look) []section       { return nil }
