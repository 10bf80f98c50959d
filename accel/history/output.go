package history

import (
	"context"
	"slices"
	"time"

	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/plots"
)

// Output shows or saves a run while it grows: [Live], [Line], [Track], [TensorBoard] and [Meter] open one. The training calls
// it after each step and validation, on its own goroutine.
type Output interface {
	// Update shows or saves what is new in the run; it may wait until more is.
	Update(r *Run) error
	// Close shows or saves the rest, with the error that ended the training, nil for none.
	Close(r *Run, err error) error
}

// liveFigure draws a run on another goroutine. Most calls of Update only read the clock.
type liveFigure struct {
	figures *plots.Live
	watch   *watch // nil unless device utilization is drawn
}

// Live draws a run while it goes on, with the metrics of its [Setup], in one output that is updated in place at most twice
// a second. Its goroutines end with Close, not with the context, so that a run that was interrupted still gets its final
// figure.
func Live(ctx context.Context, r *Run) Output {
	ctx = context.WithoutCancel(ctx)
	f := &liveFigure{}
	if slices.ContainsFunc(r.state.Live, Metric.OfDevice) {
		f.watch = startWatch(ctx, sampleEvery)
	}
	f.figures = plots.NewLive(ctx)
	f.draw(r)
	return f
}

// Update draws the run if that is due.
func (f *liveFigure) Update(r *Run) error {
	if f.figures.Due() {
		f.draw(r)
	}
	return nil
}

// draw passes a snapshot of the run to the goroutine that draws. The histories are only
// appended to, so copying the struct is enough.
func (f *liveFigure) draw(r *Run) {
	now, watch := *r, f.watch
	f.figures.Update(func() *plots.Figure {
		if watch != nil {
			now.recordUtilization(watch)
		}
		return now.draw(now.state.Live).Progress(now.progress()).Notes(now.state.Findings...)
	})
}

// Close draws the final run.
func (f *liveFigure) Close(r *Run, _ error) error {
	if f.watch != nil {
		f.watch.stop()
		r.recordUtilization(f.watch)
		f.watch = nil
	}
	f.draw(r)
	f.figures.Close()
	r.drawn = true
	return nil
}

// progressLine displays a run as a line of text.
type progressLine struct {
	line *display.Handle
	due  time.Time
}

// lineEvery is the minimum time between two lines of progress.
const lineEvery = 500 * time.Millisecond

// Line displays a line with the progress of a run, and at its end the run in one line.
func Line() Output {
	return &progressLine{display.Show(display.Text("training")), time.Now().Add(lineEvery)}
}

// Update changes the line if that is due.
func (l *progressLine) Update(r *Run) error {
	if time.Now().After(l.due) {
		l.due = time.Now().Add(lineEvery)
		l.line.Update(r.progress())
	}
	return nil
}

// Close displays the run in one line.
func (l *progressLine) Close(r *Run, _ error) error {
	l.line.Update(display.Text(r.String()))
	return nil
}

// meter samples the devices of a training.
type meter struct{ watch *watch }

// Meter samples the devices of the training, for [Run.EnergyUse] and the utilization of the run. [Live] with metrics of
// the device and [Track] do so, too.
func Meter(ctx context.Context) Output {
	return &meter{startWatch(context.WithoutCancel(ctx), sampleEvery)}
}

// Update does nothing.
func (m *meter) Update(*Run) error { return nil }

// Close adds the samples to the run.
func (m *meter) Close(r *Run, _ error) error {
	m.watch.stop()
	r.recordUtilization(m.watch)
	return nil
}
