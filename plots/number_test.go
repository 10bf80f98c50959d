package plots

import (
	"math"
	"testing"
)

func TestNumbers(t *testing.T) {
	tests := []struct{ name, got, want string }{
		{"tick", plain(.25, .05), "0.25"},
		{"tick in thousands", plain(12000, 2000), "12\u00a0000"},
		{"tick below ten thousand", plain(3500, 500), "3500"},
		{"tick in millions", plain(2.5e6, .5e6), "2\u00a0500\u00a0000"},
		{"large tick with a small step", plain(1000001, 1), "1\u00a0000\u00a0001"},
		{"tick above a hundred million", plain(2.5e8, .5e8), "2.5e8"},
		{"tick in thousands with digits", plain(-12000.5, .5), "−12\u00a0000.5"},
		{"text as a tick", value(12000), "12\u00a0000"},
		{"text of millions as a tick", value(2.5e6), "2\u00a0500\u00a0000"},
		{"text above a hundred million as a tick", value(2.5e8), "2.5e8"},
		{"negative tick", plain(-2, 1), "−2"},
		{"zero that rounding left", plain(-1e-17, .1), "0"},
		{"tiny tick", plain(2e-7, 1e-7), "2e−7"},
		{"tiny tick, digits", plain(1.5e-6, 5e-7), "1.5e−6"},
		{"huge tick", plain(1.5e299, 5e298), "1.5e299"},
		{"power of ten", scientific(1, 2), "1e0"},
		{"percent", percent(50, 50), "50 %"},
		{"no minus zero percent", percent(-1e-9, 50), "0 %"},
		{"clock", clock(90, 30), "1:30"},
		{"clock with hours", clock(3661, 1), "1:01:01"},
		{"clock below a second", clock(.25, .05), "0.25 s"},
		{"clock before the beginning", clock(-30, 30), "−0:30"},
		{"value", value(.26714), "0.267"},
		{"value that rounds up", value(.99999), "1.00"},
		{"value that rounds to a digit more", value(9.999), "10.0"},
		{"value of hundreds", value(999.4), "999"},
		{"value of thousands", value(12345.6), "12\u00a0346"},
		{"small value", value(.001), "0.001"},
		{"small value, digits", value(.0037649), "0.00376"},
		{"tiny value", value(.000123456), "1.23e−4"},
		{"huge value", value(1.5e9), "1.5e9"},
		{"NaN", value(math.NaN()), "NaN"},
		{"infinite", value(math.Inf(-1)), "−Inf"},
		{"grouped", grouped(-1234567), "−1\u00a0234\u00a0567"},
		{"grouped, short", grouped(999), "999"},
		{"whole", whole(2999), "2999"},
		{"not whole", whole(2.5), "2.50"},
		{"ratio", ratio(.91314), "91.3 %"},
		{"short", short(-.8349), "−0.83"},
		{"energy", energy(165432), "165 kJ"},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: want %q, got %q", tt.name, tt.want, tt.got)
		}
	}
}
