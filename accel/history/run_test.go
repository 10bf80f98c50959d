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
