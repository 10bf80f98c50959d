package accel

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/quernlab/quern/display"
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
		if (criterion{}).better(Validation{Loss: tt.loss}, Validation{Loss: tt.than}) != tt.want {
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
		o, err := newOptions(nil)
		if err != nil {
			t.Fatal(err)
		}
		r := &Run{Time: Timing{Waiting: row.waiting}}
		l := &loop{o: o, stepper: stepper{Training: &Training{Run: r}, precision: newPrecision(o.amp, o.precision, r)}, waited: row.waiting, making: row.making}
		l.began = time.Now().Add(-row.total)
		l.end(nil)
		if len(r.Notes) != row.want {
			t.Errorf("%s: got %q, want %d notes", row.name, r.Notes, row.want)
		}
	}
}

// TestProgressLine calls offer when the progress line is due and when it is not.
func TestProgressLine(t *testing.T) {
	var shown []string
	previous := display.SetSink(display.SinkFunc(func(m display.Message) {
		shown = append(shown, fmt.Sprint(m.Data["text/plain"]))
	}))
	defer display.SetSink(previous)
	o, err := newOptions(nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &Run{Best: -1, planned: 4}
	s, training := &screen{ctx: t.Context(), o: o}, &Training{Run: r}
	if err := s.Begin(training); err != nil {
		t.Fatal(err)
	}
	r.Steps = append(r.Steps, Step{Epoch: 1, Loss: 0.5, Accuracy: 1, Seconds: 2})
	s.offer(r) // not due yet
	s.lineDue = time.Time{}
	s.offer(r)
	r.finished = true
	r.Epochs = []Epoch{{Steps: 1, Loss: 0.5, Accuracy: 1}}
	s.End(training, nil)
	want := []string{"training", "[#######.......................] 1/4  00:02, 00:06 left, epoch 1, loss 0.5000", "1 epoch, 1 step, training loss 0.5000, accuracy 100.0 %, 0 s"}
	if !slices.Equal(shown, want) {
		t.Errorf("want %q\n got  %q", want, shown)
	}
}

func TestWords(t *testing.T) {
	for got, want := range map[string]string{
		rateText(1234567):            "1.23 M",
		rateText(123456):             "123\u00a0500",
		rateText(1234):               "1234",
		rateText(math.NaN()):         "–",
		rateText(math.Inf(1)):        "–",
		plural(1, "step"):            "1 step",
		plural(2, "step"):            "2 steps",
		percent(0.9876):              "98.8 %",
		seconds(0):                   "0 s",
		seconds(123456):              "123 µs",
		seconds(1234567):             "1.2 ms",
		seconds(123456789):           "123 ms",
		seconds(12345678901):         "12.3 s",
		(&Run{}).String():            "no steps",
		(&Run{}).progress().String(): "0  00:00",
		Metric(-1).String():          "Metric(-1)",
		LearningRate.String():        "LearningRate",
		(&Run{}).share(12345678):     "0.0 %",
	} {
		if got != want {
			t.Errorf("want %q, got %q", want, got)
		}
	}
}
