package magic

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// stopTime is the number of the call behind a timed statement.
const stopTime = -1

var timeLine = command{
	name: "%time", usage: "%time statement", doc: "runs a statement of Go and tells how long it took",
	prepare: func(text string) (action, error) {
		if text == "" {
			return nil, errors.New("%time needs a statement: %time f(), or %%time for the whole cell")
		}
		return startTime, nil
	},
}

var timeCell = command{
	name: "%%time", usage: "%%time", doc: "tells how long the rest of the cell took",
	prepare: func(text string) (action, error) { return startTime, noArgument("%%time", text) },
}

func startTime(_ context.Context, r *Run, _ []any) error {
	r.started = time.Now()
	return nil
}

// Stop ends what is timed and tells how long it took. A session calls it when a
// cell has ended well.
func (r *Run) Stop() {
	if r.started.IsZero() {
		return
	}
	took := time.Since(r.started)
	r.started = time.Time{}
	if r.session.Ranks().Rank() > 0 {
		return // no two ranks take the same time, and their reader wants to know one
	}
	// A cell whose output is gone is not told.
	_, _ = fmt.Fprintf(r.session.Stdout(), "time: %s\n", duration(took))
}

// duration has three digits that count.
func duration(d time.Duration) string {
	switch {
	case d < time.Microsecond:
		return d.String()
	case d < time.Millisecond:
		return fmt.Sprintf("%.3g µs", float64(d)/float64(time.Microsecond))
	case d < time.Second:
		return fmt.Sprintf("%.3g ms", float64(d)/float64(time.Millisecond))
	case d < time.Minute:
		return fmt.Sprintf("%.3g s", d.Seconds())
	}
	return d.Round(time.Second).String()
}
