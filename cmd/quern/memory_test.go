package main

import (
	"context"
	"math"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

func TestParseMemory(t *testing.T) {
	for _, row := range []struct {
		in      string
		want    int64
		wantErr string
	}{
		{"", 0, ""},
		{"4294967296", 4 << 30, ""},
		{"4GiB", 4 << 30, ""},
		{" 1.5 GiB ", 3 << 29, ""},
		{"500MB", 500_000_000, ""},
		{"512MiB", 512 << 20, ""},
		{"200000kB", 200_000_000, ""},
		{"1MiB", 0, "at least 128 MiB"},
		{"0", 0, "at least 128 MiB"},
		{"-1GiB", 0, "give bytes"},
		{"much", 0, "give bytes"},
		{"NaN", 0, "give bytes"},
		{"1e30", 0, "give bytes"},
	} {
		got, err := parseMemory(row.in)
		switch {
		case row.wantErr == "" && (err != nil || got != row.want):
			t.Errorf("%q: got %d, %v, want %d", row.in, got, err, row.want)
		case row.wantErr != "" && (err == nil || !strings.Contains(err.Error(), row.wantErr)):
			t.Errorf("%q: got %d, %v, want an error with %q", row.in, got, err, row.wantErr)
		}
	}
}

var kept []byte

func TestLimitMemory(t *testing.T) {
	t.Cleanup(func() { debug.SetMemoryLimit(math.MaxInt64); kept = nil })
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	limit := memoryInUse() + 64<<20
	done := make(chan int64, 1)
	go func() {
		defer close(done)
		limitMemory(ctx, limit, func(used int64) { done <- used })
	}()
	for range 100 { // garbage is no reason
		kept = make([]byte, 4<<20)
	}
	select {
	case used := <-done:
		t.Fatalf("garbage was held to be in use: %d of %d bytes", used, limit)
	default:
	}
	kept = make([]byte, 128<<20)
	if used := <-done; used <= limit {
		t.Errorf("told of %d bytes, the limit is %d", used, limit)
	}
	kept[0] = 1
}
