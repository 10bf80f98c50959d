package accel

import (
	"strings"
	"testing"
)

// A figure during the comparison names the seeds that it draws: the current run counts if it is the
// first of its variant.
func TestComparisonSoFar(t *testing.T) {
	run := func(losses ...float64) *Run {
		r := &Run{Best: -1}
		for _, loss := range losses {
			r.Steps = append(r.Steps, Step{Loss: loss})
			r.Epochs = append(r.Epochs, Epoch{Loss: loss})
		}
		return r
	}
	for _, row := range []struct {
		name    string
		a, b    []*Run
		current int // variant
		run     *Run
		want    string
	}{
		{"the first run of the first variant", nil, nil, 0, run(1), "set, 1 seed"},
		{"the first run of the second", []*Run{run(1, 1)}, nil, 1, run(1), "set, 1 seed"},
		{"the second run of the first", []*Run{run(1, 1)}, []*Run{run(2, 2)}, 0, run(1), "set, 1 seed"},
		{"the second run of the second", []*Run{run(1, 1), run(3, 3)}, []*Run{run(2, 2)}, 1, run(1), "set, mean of 2 seeds (a), 1 seed (b)"},
		{"the third run of the first", []*Run{run(1, 1), run(3, 3)}, []*Run{run(2, 2), run(2, 2)}, 0, run(), "set, mean of 2 seeds"},
		{"a run that ended early", []*Run{run(1, 1), run(3)}, []*Run{run(2, 2), run(2, 2)}, 0, run(), "set, mean of 2 seeds, fewer after a run has ended"},
	} {
		c := &Comparison{Dataset: "set", Seeds: 3, Variants: []VariantResult{{Name: "a", Runs: row.a}, {Name: "b", Runs: row.b}}}
		if got := c.soFar(row.current, row.run)().String(); !strings.HasSuffix(got, ": "+row.want) {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
	if f := (&Comparison{Variants: []VariantResult{{}}}).soFar(0, run())(); f != nil {
		t.Errorf("nothing was measured, but drawn: %v", f)
	}
	v := VariantResult{Runs: []*Run{run(0.1), run(0.1), run(0.1)}}
	if mean, deviation := v.Loss(); mean != 0.1 || deviation != 0 {
		t.Errorf("three times 0.1: %v ± %v", mean, deviation)
	}
}
