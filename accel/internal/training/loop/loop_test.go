package loop

import (
	"math"
	"testing"
	"time"

	"github.com/quernlab/quern/accel/history"
)

func TestBetter(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, tt := range []struct {
		loss, than float64
		want       bool
	}{
		{1, 2, true}, {2, 1, false}, {1, 1, false}, {1, inf, true}, {inf, 1, false},
		{1, nan, true}, {nan, 1, false}, {nan, nan, false}, {inf, nan, true},
	} {
		if (Criterion{}).better(history.Validation{Loss: tt.loss}, history.Validation{Loss: tt.than}) != tt.want {
			t.Errorf("better(%v, %v) is %v", tt.loss, tt.than, !tt.want)
		}
	}
}

// A note advises more workers only where they can help: not if the batches were made faster than the training waited for them.
func TestInputBound(t *testing.T) {
	const ms = time.Millisecond
	for _, row := range []struct {
		name                   string
		total, waiting, making time.Duration
		want                   int
	}{
		{"slow files", 2000 * ms, 500 * ms, 1200 * ms, 1},
		{"slow files without workers", 2000 * ms, 500 * ms, 500 * ms, 1},
		{"a small table on a busy machine", 2000 * ms, 500 * ms, 20 * ms, 0},
		{"hardly a wait", 2000 * ms, 300 * ms, 1200 * ms, 0},
		{"a short run", 900 * ms, 500 * ms, 1200 * ms, 0},
	} {
		o := &Settings{Workers: 2}
		record := history.NewRecorder(history.Setup{})
		r := record.Run()
		r.Time.Waiting = row.waiting
		l := &loop{settings: o, record: record, run: r, precision: newPrecision(o.Amp, o.Precision, record), waited: row.waiting, making: row.making}
		l.at.began = time.Now().Add(-row.total)
		l.end(nil)
		if len(r.Notes) != row.want {
			t.Errorf("%s: got %q, want %d notes", row.name, r.Notes, row.want)
		}
	}
}
