//go:build failpoints

package accel

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/history"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/internal/failpoint"
	"github.com/quernlab/quern/internal/failpoint/failpointtest"
)

// fitSmall trains a small model, the same one each time.
func fitSmall(options ...Option) (*Run, error) {
	train, _, err := data.Digits()
	if err != nil {
		return nil, err
	}
	Seed(1)
	model := nn.Sequential(nn.Flatten(), nn.Dense(10))
	return Fit(context.Background(), model, train.First(64), append([]Option{BatchSize(32), SGD(0.1, 0), Quiet()}, options...)...)
}

// A checkpoint belongs to the previous epoch or to this one: a training that continues from it
// has the same losses as one without a failure.
func TestFailpointsOfCheckpoints(t *testing.T)     { checkpoints(t, "checkpoint") }
func TestFailpointsOfCheckpointFiles(t *testing.T) { checkpoints(t, "file") }

func checkpoints(t *testing.T, owner string) {
	uninterrupted, err := fitSmall(Epochs(3))
	if err != nil {
		t.Fatal(err)
	}
	path := func(folder string) string { return filepath.Join(folder, "training.safetensors") }
	leave := func(folder, name string) error { // as a killed process does
		return os.WriteFile(filepath.Join(folder, name), nil, 0o600)
	}
	failpointtest.Run(t, owner, failpointtest.Scenario{
		Before: func(folder string) error {
			_, err := fitSmall(Epochs(1), Resume(path(folder)))
			if err == nil {
				err = leave(folder, ".save-1")
			}
			return err
		},
		Attempt: func(folder string) error {
			_, err := fitSmall(Epochs(2), Resume(path(folder)))
			return err
		},
		Check: func(t *testing.T, folder string, o failpointtest.Outcome) {
			if !o.Killed && o.Error == "" && o.Point != "file/clean" {
				t.Error("no error")
			}
			run, err := fitSmall(Epochs(3), Resume(path(folder)))
			if err != nil {
				t.Fatal(err)
			}
			losses := func(r *Run) (all []float64) {
				for _, s := range r.Steps {
					all = append(all, s.Loss)
				}
				return all
			}
			if got, want := losses(run), losses(uninterrupted); !slices.Equal(got, want) {
				t.Errorf("resumed, the losses are %v, want %v", got, want)
			}
			if left := failpointtest.Left(t, folder, ".save-*"); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
		},
	})
}

// Recorded files consist of complete lines, except for the last line of a killed process, and
// the training continues when writing fails.
func TestFailpointsOfTrack(t *testing.T) {
	failpointtest.Run(t, "track", failpointtest.Scenario{
		Attempt: func(folder string) error {
			_, err := fitSmall(Epochs(2), Track(filepath.Join(folder, "runs")))
			return err
		},
		Check: func(t *testing.T, folder string, o failpointtest.Outcome) {
			files, err := filepath.Glob(filepath.Join(folder, "runs", "*", "*.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range files {
				text, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				end := bytes.LastIndexByte(text, '\n') + 1
				if end < len(text) && !o.Killed {
					t.Errorf("%s ends in part of a line: %q", path, text[end:])
				}
				for line := range strings.Lines(string(text[:end])) {
					if !json.Valid([]byte(line)) {
						t.Errorf("%s has the line %q", path, line)
					}
				}
			}
			// Another run is recorded, and all runs can be read.
			if _, err := fitSmall(Epochs(1), Track(filepath.Join(folder, "runs"))); err != nil {
				t.Fatal(err)
			}
			all, err := Runs(filepath.Join(folder, "runs"))
			if err != nil {
				t.Fatal(err)
			}
			if last := all.Runs[len(all.Runs)-1]; last.Status != history.Finished {
				t.Errorf("the run after that is %v: %s", last.Status, last.Error)
			}
			for _, r := range all.Runs {
				if r.Status == history.Unreadable {
					t.Errorf("a run cannot be read: %s", r.Error)
				}
			}
		},
	})
}

// An event file consists of complete records, except for the last one of a killed process, and
// the training continues when writing fails.
func TestFailpointsOfTensorBoard(t *testing.T) {
	failpointtest.Run(t, "events", failpointtest.Scenario{
		Attempt: func(folder string) error {
			_, err := fitSmall(Epochs(2), TensorBoard(filepath.Join(folder, "events")))
			return err
		},
		Check: func(t *testing.T, folder string, o failpointtest.Outcome) {
			if o.Error != "" && (o.Point == failpoint.EventsWrite || o.Point == failpoint.EventsClose) && !strings.Contains(o.Error, "TensorBoard") {
				t.Errorf("the error does not say what failed: %s", o.Error)
			}
			files := failpointtest.Left(t, folder, "events/*")
			for _, name := range files {
				b, err := os.ReadFile(filepath.Join(folder, "events", name))
				if err != nil {
					t.Fatal(err)
				}
				for len(b) >= 16 {
					n := int(b[0]) | int(b[1])<<8
					if n+16 > len(b) {
						break
					}
					if uninterrupted := record(b[12 : 12+n]); string(uninterrupted) != string(b[:16+n]) {
						t.Fatalf("a record of %s has other checksums", name)
					}
					b = b[16+n:]
				}
				if len(b) > 0 && !o.Killed {
					t.Errorf("%s ends in part of a record, of %d bytes", name, len(b))
				}
			}
			if _, err := fitSmall(Epochs(1), TensorBoard(filepath.Join(folder, "events"))); err != nil {
				t.Fatal(err)
			}
			if all := failpointtest.Left(t, folder, "events/*"); len(all) != len(files)+1 {
				t.Errorf("there are %q, and before %q", all, files)
			}
		},
	})
}
