package history

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/quernlab/quern/display"
)

// TestProgressLine calls Update when the progress line is due and when it is not.
func TestProgressLine(t *testing.T) {
	var shown []string
	previous := display.SetSink(display.SinkFunc(func(m display.Message) {
		shown = append(shown, fmt.Sprint(m.Data["text/plain"]))
	}))
	defer display.SetSink(previous)
	r := &Run{Best: -1, Planned: 4}
	line := Line().(*progressLine)
	r.Steps = append(r.Steps, Step{Epoch: 1, Loss: 0.5, Accuracy: 1, Seconds: 2})
	for _, due := range []time.Time{line.due, {}} { // not due yet, and due
		line.due = due
		if err := line.Update(r); err != nil {
			t.Fatal(err)
		}
	}
	r.state.Finished = true
	r.Epochs = []Epoch{{Steps: 1, Loss: 0.5, Accuracy: 1}}
	if err := line.Close(r, nil); err != nil {
		t.Fatal(err)
	}
	want := []string{"training", "[#######.......................] 1/4  00:02, 00:06 left, epoch 1, loss 0.5000", "1 epoch, 1 step, training loss 0.5000, accuracy 100.0 %, 0 s"}
	if !slices.Equal(shown, want) {
		t.Errorf("want %q\n got  %q", want, shown)
	}
}
