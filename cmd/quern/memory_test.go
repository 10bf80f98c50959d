package main

import (
	"context"
	"errors"
	"math"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

func TestParseMemory(t *testing.T) {
	for _, row := range []struct {
		in      string
		want    int64
		wantErr string
	}{
		{"off", 0, ""},
		{"4294967296", 4 << 30, ""},
		{"4GiB", 4 << 30, ""},
		{" 1.5 GiB ", 3 << 29, ""},
		{"500MB", 500_000_000, ""},
		{"512MiB", 512 << 20, ""},
		{"200000kB", 200_000_000, ""},
		{"1MiB", 0, "at least 128 MiB"},
		{"0", 0, "at least 128 MiB"},
		{"-1GiB", 0, "want a number of bytes"},
		{"much", 0, "want a number of bytes"},
		{"NaN", 0, "want a number of bytes"},
		{"1e30", 0, "want a number of bytes"},
	} {
		got, err := parseMemory(row.in)
		switch {
		case row.wantErr == "" && (err != nil || got != memoryLimit{bytes: row.want}):
			t.Errorf("%q: got %v, %v, want %d", row.in, got, err, row.want)
		case row.wantErr != "" && (err == nil || !strings.Contains(err.Error(), row.wantErr)):
			t.Errorf("%q: got %v, %v, want an error with %q", row.in, got, err, row.wantErr)
		}
	}
}

// TestSystemMemory checks the default memory limit.
func TestSystemMemory(t *testing.T) {
	t.Parallel()
	has := memlimit.Limit
	unknown := func() (uint64, error) { return 0, errors.New("unknown") }
	for _, row := range []struct {
		name               string
		machine, container memlimit.Provider
		want               memoryLimit
	}{
		{"machine", has(10 << 30), unknown, memoryLimit{bytes: 9 << 30, whose: "this machine"}},
		{"container", has(100 << 30), has(10 << 30), memoryLimit{bytes: 9 << 30, whose: "this container"}},
		{"container without a limit of its own", has(10 << 30), has(math.MaxUint64), memoryLimit{bytes: 9 << 30, whose: "this machine"}},
		{"small container", has(10 << 30), has(1 << 30), memoryLimit{bytes: 768 << 20, whose: "this container"}},
		{"very small container", has(10 << 30), has(256 << 20), memoryLimit{bytes: 128 << 20, whose: "this container"}},
		{"nothing", unknown, unknown, memoryLimit{}},
	} {
		if got := systemMemory(row.machine, row.container); got != row.want {
			t.Errorf("%s: got %+v, want %+v", row.name, got, row.want)
		}
	}
	if got, err := parseMemory(""); err != nil || got.bytes < minMemory || got.whose == "" {
		t.Errorf("this machine: %+v, %v", got, err)
	}
}

// TestWatchMachine checks when a worker ends because the machine runs out of memory.
func TestWatchMachine(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	const total = 32 << 30
	answers := []machine{
		{total, total / 2, total / 2, 1},
		{total, total / 100, total / 5, 1}, // used by other processes
		{total, total / 100, total / 2, 1},
		{total, total / 2, total / 2, 1}, // it was garbage and has been freed
		{total, total / 100, total / 2, 1},
		{total, total / 101, total / 2, 1},
	}
	next := 0
	var got []machine
	watchMachine(ctx, func() (machine, error) {
		next++
		return answers[next-1], nil
	}, func(m machine) { got = append(got, m) })
	if len(got) != 1 || got[0] != answers[5] {
		t.Errorf("got %+v", got)
	}
	if m, err := machineMemory(); err != nil || m.total <= 0 || m.own <= 0 || m.own > m.total || m.scarce() {
		t.Errorf("this machine: %+v, %v", m, err)
	}
}

// TestWatchMemory checks that garbage does not count.
func TestWatchMemory(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	const limit = 100
	answers := [][2]int64{ // used and needed
		{90, 90},
		{150, 60}, {70, 60}, // garbage, which the collection frees
		{130, 100}, {100, 100},
		{150, 60}, {110, 105}, // a part of it was no garbage
	}
	next, collected := 0, 0
	var got []int64
	watchMemory(ctx, limit, func() (used, needed int64) {
		next++
		return answers[next-1][0], answers[next-1][1]
	}, func() { collected++ }, func(used int64) { got = append(got, used) })
	if next != len(answers) || collected != 3 || len(got) != 1 || got[0] != 110 {
		t.Errorf("%d measurements, %d collections, exceeded with %v", next, collected, got)
	}
	answers, next, collected, got = [][2]int64{{120, 101}}, 0, 0, nil // no time for a collection
	watchMemory(ctx, limit, func() (used, needed int64) {
		next++
		return answers[0][0], answers[0][1]
	}, func() { collected++ }, func(used int64) { got = append(got, used) })
	if next != 1 || collected != 0 || len(got) != 1 || got[0] != 120 {
		t.Errorf("%d measurements, %d collections, exceeded with %v", next, collected, got)
	}
}

var kept []byte

// TestLimitMemory keeps more than the limit.
func TestLimitMemory(t *testing.T) {
	t.Cleanup(func() { debug.SetMemoryLimit(math.MaxInt64); kept = nil })
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	used, needed := memoryInUse()
	if needed > used {
		t.Errorf("%d bytes are needed of %d", needed, used)
	}
	limit := used + 64<<20
	done := make(chan int64, 1)
	go func() {
		defer close(done)
		limitMemory(ctx, limit, func(used int64) { done <- used })
	}()
	kept = make([]byte, 128<<20)
	if used := <-done; used <= limit {
		t.Errorf("exceeded was called with %d bytes, the limit is %d", used, limit)
	}
	kept[0] = 1
}

func TestRanksShareTheMemory(t *testing.T) {
	t.Parallel()
	limit := memoryLimit{bytes: 1 << 30, whose: "this machine"}
	if got, err := limit.share(1); err != nil || got != limit {
		t.Errorf("alone: %+v, %v", got, err)
	}
	if got, err := limit.share(4); err != nil || got.bytes != 256<<20 {
		t.Errorf("one of four: %+v, %v", got, err)
	}
	if got, err := limit.share(9); err == nil || !strings.Contains(err.Error(), "9 ranks leave 114 MiB") {
		t.Errorf("one of nine: %+v, %v", got, err)
	}
	if got, err := (memoryLimit{}).share(1000); err != nil || got.bytes != 0 {
		t.Errorf("without a limit: %+v, %v", got, err)
	}
	const total = 32 << 30
	if !(machine{total, total / 100, total / 5, 2}).scarce() || (machine{total, total / 100, total / 5, 1}).scarce() {
		t.Error("each of two ranks may have half of what one may have")
	}
}
