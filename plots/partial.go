package plots

import (
	"context"
	"time"

	"github.com/quernlab/quern/display"
)

// Partial displays the results so far of a long computation: a live figure with a progress bar
// and the remaining time above it. It displays nothing during the first second, so a quick
// computation shows only its result. All methods accept a nil receiver and then do nothing.
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
}

// partialDelay is how long nothing is displayed.
const partialDelay = time.Second

// NewPartial starts to measure a computation with total steps; 0 means unknown. The figure
// stays when ctx ends, until Close.
func NewPartial(ctx context.Context, label string, total float64) *Partial {
	began := time.Now()
	live := newLive(context.WithoutCancel(ctx), false, began.Add(partialDelay)) // whether it is displayed depends on the time, so it is not a result
	return &Partial{live, label, total, began}
}

// Set records the number of steps done, a note that is shown beside the bar, and how to draw
// the results so far. snapshot is called before Set returns, and only when a figure is due; it
// must copy what may change. The function that it returns draws later in another goroutine. It
// may return nil while there is nothing to draw.
func (p *Partial) Set(done float64, note string, snapshot func() func() *Figure) {
	if p == nil || !p.live.Due() {
		return
	}
	now := display.Progress{Label: p.label, Done: done, Total: p.total, Passed: time.Since(p.began), Note: note}
	draw := snapshot()
	p.live.Update(func() *Figure {
		f := draw()
		if f == nil {
			f = newFigure("", progressOnly{})
		}
		return f.Progress(now)
	})
}

// Close replaces the figure by the final one without the bar, and reports whether the figure
// has been displayed. It may be called more than once.
func (p *Partial) Close(figure func() *Figure) (shown bool) {
	if p == nil {
		return false
	}
	if p.live.displayed() != nil {
		p.live.Update(figure)
	}
	p.live.Close()
	return p.live.displayed() != nil
}

// progressOnly is the kind of a figure that has only the bar.
type progressOnly struct{}

func (progressOnly) size() (width, height float64) { return 560, 40 }
func (progressOnly) sections(settings) []section   { return nil }
