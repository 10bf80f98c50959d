package history

import "testing"

func TestWords(t *testing.T) {
	for got, want := range map[string]string{
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

// A run is interactive where its bundle contains its figure.
func TestRunInteractive(t *testing.T) {
	steps := []Step{{Epoch: 1, Loss: 2, Accuracy: 0.5}, {Epoch: 1, Loss: 1, Accuracy: 0.75}}
	for name, test := range map[string]struct {
		run  *Run
		want bool
	}{
		"nil":                {nil, false},
		"no steps":           {&Run{}, false},
		"shown by Live":      {&Run{Steps: steps, Best: -1, drawn: true}, false},
		"shown by its value": {&Run{Steps: steps, Best: -1}, true},
	} {
		if got := test.run.Interactive() != nil; got != test.want {
			t.Errorf("%s: interactive is %v", name, got)
		}
	}
}
