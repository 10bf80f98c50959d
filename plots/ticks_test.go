package plots

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/plot"
)

func labels(ticks []plot.Tick) string {
	var label []string
	for _, t := range ticks {
		if t.Label != "" {
			label = append(label, t.Label)
		}
	}
	return strings.Join(label, " ")
}

func TestTicks(t *testing.T) {
	five := linear{count: 5, format: plain}
	tests := []struct {
		name   string
		ticker plot.Ticker
		lo, hi float64
		want   string
	}{
		{"unit", five, 0, 1, "0 0.2 0.4 0.6 0.8 1.0"},
		{"negative", five, -1.1, 1.1, "−1.0 −0.5 0 0.5 1.0"},
		{"thousands", five, 0, 4000, "0 1000 2000 3000 4000"},
		{"far from zero", five, 1000.1, 1000.6, "1000.1 1000.2 1000.3 1000.4 1000.5 1000.6"},
		{"whole", linear{count: 7, format: plain, whole: true}, 0, 2, "0 1 2"},
		{"constant", five, 3, 3, "3"},
		{"overflow", five, -extreme, extreme, "−1e300 −5e299 0 5e299 1e300"},
		{"percent", linear{count: 2, format: percent}, 0, 100, "0 % 50 % 100 %"},
		{"seconds", timed{8}, 0, 60, "0:00 0:10 0:20 0:30 0:40 0:50 1:00"},
		{"minutes", timed{8}, 0, 300, "0:00 0:30 1:00 1:30 2:00 2:30 3:00 3:30 4:00 4:30 5:00"},
		{"hours", timed{8}, 0, 20000, "0:00 1:00:00 2:00:00 3:00:00 4:00:00 5:00:00"},
		{"moment", timed{8}, 0, .5, "0.00 s 0.05 s 0.10 s 0.15 s 0.20 s 0.25 s 0.30 s 0.35 s 0.40 s 0.45 s 0.50 s"},
		{"log", logarithmic{5}, .04, 3, "0.05 0.1 0.2 0.5 1 2"},
		{"log, decades", logarithmic{7}, 1e-7, .4, "1e−7 1e−6 1e−5 1e−4 0.001 0.01 0.1"},
		{"log, many decades", logarithmic{5}, 1e-300, 1e300, "1e−240 1e−120 1 1e120 1e240"},
		{"log, part of a decade", logarithmic{5}, 2, 4, "2.0 2.5 3.0 3.5 4.0"},
		{"log of nothing", logarithmic{5}, 0, 0, ""},
		{"silent", unlabeled{five}, 0, 1, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := labels(tt.ticker.Ticks(tt.lo, tt.hi)); got != tt.want {
				t.Errorf("ticks of [%v, %v]\n want %s\n got  %s", tt.lo, tt.hi, tt.want, got)
			}
		})
	}
}

// No pair of numbers makes a ticker loop forever or return too many ticks.
func FuzzTicks(f *testing.F) {
	f.Add(0., 1.)
	f.Add(-math.MaxFloat64, math.MaxFloat64)
	f.Add(1., math.Nextafter(1, 2))
	f.Add(1e16, 1e16+2)
	f.Add(0., math.SmallestNonzeroFloat64)
	f.Add(math.NaN(), math.Inf(1))
	f.Fuzz(func(t *testing.T, lo, hi float64) {
		for _, ticker := range []plot.Ticker{linear{count: 5, format: plain}, timed{8}, logarithmic{5}} {
			if n := len(ticker.Ticks(lo, hi)); n > 400 {
				t.Errorf("%T gives %d ticks of [%v, %v]", ticker, n, lo, hi)
			}
		}
	})
}
