package history

import (
	"bytes"
	"encoding/gob"
	"math"
	"reflect"
	"testing"
	"time"
)

// A run that was sent to another process has the same texts and figures.
func TestGob(t *testing.T) {
	r := NewRecorder(Setup{Dataset: "digits", Classes: true, Options: []string{"Epochs(2)"}, Seed: 7, Planned: 2, Ranks: 1, LocalRanks: 1, Outputs: []string{"Live()"}, Live: []Metric{Power}, Watts: 30})
	begin := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	r.Begin(begin)
	r.BeginEpoch(begin)
	r.Step(Step{Epoch: 1, Loss: 2.5, Accuracy: math.NaN(), LearningRate: 0.1, Seconds: 1}, 32)
	r.Step(Step{Epoch: 1, Loss: math.Inf(1), Accuracy: 0.5, LearningRate: 0.1, Seconds: 2}, 32)
	r.Epoch(Epoch{Steps: 2, Loss: 2.25, Accuracy: 0.25, Seconds: 2})
	r.Validation(Validation{Step: 2, Epoch: 1, Loss: 2, Accuracy: 0.75, Metrics: []MetricValue{{Name: "F1", Value: 0.5}}}, true)
	r.Note("a note")
	r.Finding("a finding")
	r.Peak(1 << 20)
	r.Finish(3 * time.Second)
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(r.Run()); err != nil {
		t.Fatal(err)
	}
	var got *Run
	if err := gob.NewDecoder(&b).Decode(&got); err != nil {
		t.Fatal(err)
	}
	if got.Summary() != r.Run().Summary() || got.Figure().String() != r.Run().Figure().String() || got.Best != 0 || !math.IsInf(got.Steps[1].Loss, 1) || got.Metric("F1") != 0.5 ||
		!reflect.DeepEqual(got.state.Setup, r.Run().state.Setup) {
		t.Errorf("got\n%s\nwant\n%s", got.Summary(), r.Run().Summary())
	}
}
