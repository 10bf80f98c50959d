package data

import (
	"strings"
	"testing"
	"time"
)

// The sentence names the largest part of the time of a batch.
func TestBenchLimit(t *testing.T) {
	row := func(what BenchStage, milliseconds int) BenchRow {
		return BenchRow{What: what, Workers: 2, Seconds: time.Duration(milliseconds) * time.Millisecond}
	}
	tests := []struct {
		name     string
		rows     []BenchRow
		inMemory bool
		want     string
	}{
		{"transforms", []BenchRow{row(BenchCold, 22), row(BenchWarm, 20), row(BenchPlain, 5)}, false, "the time of the transforms: 15 ms of the 22 ms of a batch, with 2 workers"},
		{"decoding", []BenchRow{row(BenchCold, 22), row(BenchWarm, 20), row(BenchPlain, 15)}, false, "the time of decoding examples: 15 ms of the 22 ms"},
		{"gathering", []BenchRow{row(BenchWarm, 20)}, true, "the time of gathering examples: 20 ms of the 20 ms"},
		{"reading", []BenchRow{row(BenchCold, 50), row(BenchWarm, 20)}, false, "the time of reading the files: 30 ms of the 50 ms"},
		{"copying", []BenchRow{row(BenchWarm, 20), row(BenchPinned, 30)}, true, "the time of copying to the device: 30 ms of the 50 ms"},
		{"faster with transforms than without, by chance", []BenchRow{row(BenchWarm, 20), row(BenchPlain, 21)}, true, "the time of gathering examples: 20 ms of the 20 ms"},
	}
	for _, tt := range tests {
		if got := (&BenchReport{Rows: tt.rows}).limit(tt.inMemory); !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s", tt.name, got)
		}
	}
}
