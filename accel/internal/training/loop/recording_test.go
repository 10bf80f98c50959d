package loop

import (
	"errors"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/history"
)

// fullDisk is an output that cannot write.
type fullDisk struct{ closed int }

func (f *fullDisk) Update(*history.Run) error { return errors.New("no space left on device") }

func (f *fullDisk) Close(*history.Run, error) error {
	f.closed++
	return nil
}

// The training goes on without an output that fails.
func TestRecordingStops(t *testing.T) {
	record := history.NewRecorder(history.Setup{})
	disk := &fullDisk{}
	w, training := &recording{record: record, output: disk}, &history.Training{Run: record.Run()}
	for range 2 {
		if err := w.Step(training, history.Step{}); err != nil {
			t.Error(err)
		}
	}
	w.End(training, nil)
	if want := []string{"recording stopped: no space left on device"}; disk.closed != 1 || !slices.Equal(record.Run().Notes, want) {
		t.Errorf("closed %d times, notes %q", disk.closed, record.Run().Notes)
	}
}
