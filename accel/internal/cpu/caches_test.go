package cpu

import (
	"fmt"
	"testing"
)

func TestCacheShare(t *testing.T) {
	zen3, xeon := Cache{512 << 10, 8}, Cache{2 << 20, 16}
	for _, c := range []struct {
		cache              Cache
		rows, bytes, pitch int
		want               float64
	}{
		{zen3, 256, 64, 64, 1.0 / 8},                      // packed
		{zen3, 256, 64, 3136, 1.0 / 8},                    // an odd number of lines: all sets
		{zen3, 256, 64, 1024, 4.0 / 8},                    // 64 places
		{zen3, 256, 64, 4096, 16.0 / 8},                   // 16 places: does not fit
		{xeon, 256, 64, 4096, 8.0 / 16},                   // a larger cache has more
		{zen3, 96, 1536, 3136, 96.0 * 1536 / (512 << 10)}, // rows that are longer than their distance modulo a way
	} {
		t.Run(fmt.Sprint(c.cache, c.rows, c.bytes, c.pitch), func(t *testing.T) {
			if got := c.cache.share(c.rows, c.bytes, c.pitch); got != c.want {
				t.Errorf("share %v, want %v", got, c.want)
			}
		})
	}
}

// TestKnownCaches replaces what a CPU, or the hypervisor that pretends to be one, does not report.
func TestKnownCaches(t *testing.T) {
	reported := Caches{L1: Cache{48 << 10, 12}, L2: Cache{2 << 20, 16}, L3: Cache{30 << 20, 12}}
	for _, c := range []struct {
		name      string
		got, want Caches
	}{
		{"reported", reported, reported},
		{"nothing", Caches{}, Caches{L1: Cache{32 << 10, 8}, L2: Cache{512 << 10, 8}}},
		{"no second level", Caches{L1: reported.L1}, Caches{L1: reported.L1, L2: Cache{512 << 10, 8}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := knownCaches(c.got); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
	if c := DataCaches(); c.L1.Size < 8<<10 || c.L1.Size > 1<<20 || c.L2.Size > 1<<30 {
		t.Errorf("improbable caches: %+v", c)
	}
}
