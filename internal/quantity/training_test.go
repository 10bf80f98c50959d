package quantity

import (
	"math"
	"testing"
)

func TestNumbersInTables(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{Number(.34), "0.3400"}, {Number(.044), "0.04400"}, {Number(2), "2.000"}, {Number(123.44), "123.4"}, {Number(999.96), "1000"},
		{Number(1234.5), "1234"}, {Number(12345678), "1.235e+07"}, {Number(1.5e-7), "1.5e-07"}, {Number(0), "0"}, {Number(math.NaN()), "NaN"}, {Number(-.5), "-0.5000"},
		{Rate(17918), "17\u00a0900"}, {Rate(9999), "9999"}, {Rate(10_000), "10\u00a0000"}, {Rate(6453), "6453"}, {Rate(99.96), "100"}, {Rate(99.94), "99.9"}, {Rate(7.2), "7.2"}, {Rate(0.4), "0.4"}, {Rate(0.01234), "0.0123"}, {Rate(0), "0"},
		{LearningRate(.01), "0.01"}, {LearningRate(4.2e-8), "4.2e−8"}, {LearningRate(5.72e-4), "5.72e−4"}, {LearningRate(1e-4), "1e−4"}, {LearningRate(.00123), "0.00123"}, {LearningRate(1e21), "1e21"}, {LearningRate(0), "0"},
	} {
		if tt.got != tt.want {
			t.Errorf("%q, want %q", tt.got, tt.want)
		}
	}
}

func TestWords(t *testing.T) {
	for got, want := range map[string]string{
		Rate(1234567):        "1.23 M",
		Rate(123456):         "123\u00a0500",
		Rate(1234):           "1234",
		Rate(math.NaN()):     "–",
		Rate(math.Inf(1)):    "–",
		Plural(1, "step"):    "1 step",
		Plural(2, "step"):    "2 steps",
		Percent(0.9876):      "98.8 %",
		Elapsed(0):           "0 s",
		Elapsed(123456):      "123 µs",
		Elapsed(1234567):     "1.2 ms",
		Elapsed(123456789):   "123 ms",
		Elapsed(12345678901): "12.3 s",
	} {
		if got != want {
			t.Errorf("want %q, got %q", want, got)
		}
	}
}
