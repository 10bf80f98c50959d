package quantity_test

import (
	"testing"

	"github.com/quernlab/quern/internal/quantity"
)

func TestQuantities(t *testing.T) {
	for n, want := range map[int][2]string{
		0: {"0 B", "0"}, 999: {"999 B", "999"}, 1000: {"0.977 KiB", "1 k"}, 2048: {"2 KiB", "2.05 k"},
		3 << 20: {"3 MiB", "3.15 M"}, 5 << 30: {"5 GiB", "5.37 G"}, 3 << 50: {"3072 TiB", "3378 T"},
		999_700: {"976 KiB", "1 M"}, 1_048_200_000: {"0.976 GiB", "1.05 G"}, 1_048_300: {"1 MiB", "1.05 M"},
	} {
		if bytes, count := quantity.Bytes(n), quantity.Count(n); bytes != want[0] || count != want[1] {
			t.Errorf("%d: %q and %q, want %q", n, bytes, count, want)
		}
	}
	for s, want := range map[float64]string{0: "0 µs", 2.05e-5: "20.5 µs", 0.003: "3 ms", 1.254: "1.25 s", 100: "100 s", 0.0009999: "1 ms", 0.9996: "1 s", 1234: "1234 s", 86400: "86\u00a0400 s"} {
		if got := quantity.Seconds(s); got != want {
			t.Errorf("%v: %q, want %q", s, got, want)
		}
	}
}

func TestBandwidth(t *testing.T) {
	for v, want := range map[float64]string{0: "0 B/s", 999.7e6: "1 GB/s", 1048e6: "1.05 GB/s", 25e9: "25 GB/s", 3.2e12: "3.2 TB/s", 1.2e16: "12\u00a0000 TB/s"} {
		if got := quantity.Bandwidth(v); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
}

func TestPlural(t *testing.T) {
	for want, got := range map[string]string{
		"0 steps": quantity.Plural(0, "step"), "1 step": quantity.Plural(1, "step"), "12\u00a0000 steps": quantity.Plural(12000, "step"),
		"1 entry": quantity.Plural(1, "entry"), "2 entries": quantity.Plural(2, "entry"), "2 classes": quantity.Plural(2, "class"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestUnit(t *testing.T) {
	for most, want := range map[float64]string{0: "bytes", 999: "bytes", 1000: "KiB", 5e5: "KiB", 2e6: "MiB", 3e9: "GiB", 1e20: "TiB"} {
		if size, name := quantity.Unit(most); name != want || name == "MiB" && size != 1<<20 {
			t.Errorf("%v: %v bytes, %s, want %s", most, size, name, want)
		}
	}
}
