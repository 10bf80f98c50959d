package accel

import (
	"math"
	"testing"
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
		if better(tt.loss, tt.than) != tt.want {
			t.Errorf("better(%v, %v) is %v", tt.loss, tt.than, !tt.want)
		}
	}
}

func TestWords(t *testing.T) {
	for got, want := range map[string]string{
		quantity(1234567):        "1.23 M",
		quantity(123456):         "123 k",
		quantity(1234):           "1234",
		quantity(math.NaN()):     "–",
		quantity(math.Inf(1)):    "–",
		plural(1, "step"):        "1 step",
		plural(2, "step"):        "2 steps",
		percent(0.9876):          "98.8 %",
		seconds(1234567):         "1 ms",
		seconds(12345678901):     "12.3 s",
		(&Run{}).String():        "no steps",
		(&Run{}).status():        "",
		(&Run{}).progress():      "",
		Metric(-1).String():      "Metric(-1)",
		LearningRate.String():    "LearningRate",
		(&Run{}).share(12345678): "0.0 %",
	} {
		if got != want {
			t.Errorf("want %q, got %q", want, got)
		}
	}
}
