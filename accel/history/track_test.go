package history

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestTrackFullDisk requires an error when the disk is full.
func TestTrackFullDisk(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has /dev/full")
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	run := &Run{Dataset: "digits", Best: -1}
	tr, err := newTracker(t.TempDir(), "", run, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := tr.history.file.Close(); err != nil {
		t.Fatal(err)
	}
	tr.history.file = full
	run.Steps = append(run.Steps, Step{Epoch: 1, Loss: 1, Accuracy: math.NaN()})
	if err := tr.Update(run); err == nil || !strings.Contains(err.Error(), "no space left on device") {
		t.Errorf("update: %v", err)
	}
	if err := tr.Close(run, nil); err == nil || !strings.Contains(err.Error(), "no space left on device") {
		t.Errorf("close: %v", err)
	}
}

// smallDisk accepts a limited number of bytes.
type smallDisk struct {
	*os.File
	free int
}

func (d *smallDisk) Write(b []byte) (int, error) {
	n := min(len(b), d.free)
	d.free -= n
	if _, err := d.File.Write(b[:n]); err != nil || n == len(b) {
		return n, err
	}
	return n, syscall.ENOSPC
}

// TestTrackedLinesAreWhole simulates a disk that becomes full after each number of bytes.
func TestTrackedLinesAreWhole(t *testing.T) {
	const lineBytes = len(`{"_step":1,"_runtime":0,"_timestamp":0,"train/loss":0.5,"crc32c":"00000000"}` + "\n")
	for free := range 3*lineBytes + 1 {
		path := filepath.Join(t.TempDir(), "history.jsonl")
		l, err := newLines(path)
		if err != nil {
			t.Fatal(err)
		}
		l.file = &smallDisk{l.file.(*os.File), free}
		for range 3 {
			for range 2 {
				l.begin(1, time.Unix(0, 0), 0)
				l.number("train/loss", 0.5)
				l.end()
			}
			_ = l.flush()
		}
		if err := l.close(); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("%d bytes: %v", free, err)
		}
		written, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := bytes.Count(written, []byte("}\n")), free/lineBytes; got != want {
			t.Fatalf("%d bytes: %d lines, want %d", free, got, want)
		}
	}
}
