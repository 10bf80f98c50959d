package magic

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// stopTime is the number of the call after a timed statement.
const stopTime = -1

var timeLine = command{
	name: "%time", usage: "%time statement", doc: "runs a Go statement and prints how long it took",
	prepare: func(text string) (action, error) {
		if text == "" {
			return nil, errors.New("%time needs a statement: %time f(), or %%time for the whole cell")
		}
		return startTime, nil
	},
}

var timeCell = command{
	name: "%%time", usage: "%%time", doc: "prints how long the rest of the cell took",
	prepare: func(text string) (action, error) { return startTime, noArgument("%%time", text) },
}

func startTime(_ context.Context, r *Run, _ []any) error {
	r.started = time.Now()
	return nil
}

// Stop prints how long the timed statement took, if there is one. The session calls it when a
// cell has ended without an error.
func (r *Run) Stop() {
	if r.started.IsZero() {
		return
	}
	took := time.Since(r.started)
	r.started = time.Time{}
	if r.session.Ranks().Rank() > 0 {
		return // each rank has another time, and one is enough
	}
	// If the output is closed, nobody reads the time.
	_, _ = fmt.Fprintf(r.session.Stdout(), "time: %s\n", Duration(took))
}

// Duration formats d with three significant digits.
func Duration(d time.Duration) string {
	if d >= time.Minute {
		return d.Round(time.Second).String()
	}
	return seconds(d.Seconds())
}

// seconds returns a number of seconds with three digits and a unit.
func seconds(s float64) string {
	const belowNext = 999.5 // what is not less has four digits
	for _, unit := range []struct {
		name string
		of   float64
	}{{"ns", 1e9}, {"µs", 1e6}, {"ms", 1e3}} {
		if s*unit.of < belowNext {
			return fmt.Sprintf("%.3g %s", s*unit.of, unit.name)
		}
	}
	return fmt.Sprintf("%.3g s", s)
}
