package accel

import (
	"math"
	"testing"
)

func TestNumbersInTables(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{number(.34), "0.3400"}, {number(.044), "0.04400"}, {number(2), "2.000"}, {number(123.44), "123.4"}, {number(999.96), "1000"},
		{number(1234.5), "1234"}, {number(12345678), "1.235e+07"}, {number(1.5e-7), "1.5e-07"}, {number(0), "0"}, {number(math.NaN()), "NaN"}, {number(-.5), "-0.5000"},
		{rateText(17918), "17\u00a0900"}, {rateText(9999), "9999"}, {rateText(10_000), "10\u00a0000"}, {rateText(6453), "6453"},
		{rate(.01), "0.01"}, {rate(4.2e-8), "4.2e−8"}, {rate(5.72e-4), "5.72e−4"}, {rate(1e-4), "1e−4"}, {rate(.00123), "0.00123"}, {rate(1e21), "1e21"}, {rate(0), "0"},
	} {
		if tt.got != tt.want {
			t.Errorf("%q, want %q", tt.got, tt.want)
		}
	}
}
