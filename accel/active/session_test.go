package active

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/quernlab/quern/accel/data"
)

func resumed(t *testing.T, path string, s *data.Dataset, initial int, seed uint64) *Pool {
	t.Helper()
	p, err := Resume(path, s, initial, seed)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func TestResume(t *testing.T) {
	path := filepath.Join(t.TempDir(), "labels.jsonl")
	p := resumed(t, path, five(t), 1, 9)
	if fresh := NewPool(five(t), 1, 9); !slices.Equal(fresh.Unlabeled(), p.Unlabeled()) {
		t.Error("Resume begins otherwise than NewPool")
	}
	open := p.Unlabeled()
	if err := p.Label(open[2:4], 1, 2); err != nil {
		t.Fatal(err)
	}
	made, err := p.add([][]float32{{7.25}})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Label(made, 2); err != nil {
		t.Fatal(err)
	}
	// Simulates a kill: the file is never closed.
	again := resumed(t, path, five(t), 3, 77)
	if !slices.Equal(again.order, p.order) || !slices.Equal(again.labels, p.labels) || again.seed != 9 || again.Dataset().Example(made[0])[0] != 7.25 {
		t.Errorf("resumed is %v, %v; was %v, %v", again.order, again.labels, p.order, p.labels)
	}
	if err := again.Label(again.Unlabeled()[:1]); err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	if err := again.Label([]int{0}); !errors.Is(err, ErrNoPool) {
		t.Errorf("a closed pool: %v", err)
	}
	if third := resumed(t, path, five(t), 0, 0); third.Len() != 5 {
		t.Errorf("%v", third)
	}
}

// A kill can truncate the file anywhere.
func TestResumeOfAnyPart(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "whole.jsonl")
	p := resumed(t, path, five(t), 2, 1)
	for _, i := range p.Unlabeled()[:2] {
		if err := p.Label([]int{i}, 2); err != nil {
			t.Fatal(err)
		}
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	part := filepath.Join(folder, "part.jsonl")
	for n := range len(whole) + 1 {
		if err := os.WriteFile(part, whole[:n], 0o666); err != nil {
			t.Fatal(err)
		}
		q, err := Resume(part, five(t), 2, 1)
		if err != nil {
			t.Fatalf("%d of %d bytes: %v", n, len(whole), err)
		}
		lines := bytes.Count(whole[:n], []byte("\n"))
		if want := max(2, lines); q.Len() != want || !slices.Equal(q.order, p.order[:want]) {
			t.Fatalf("%d bytes, %d lines: %v; was %v", n, lines, q.order, p.order)
		}
		if err := q.Label(q.Unlabeled()); err != nil { // continues where it stopped
			t.Fatal(err)
		}
		if err := q.Close(); err != nil {
			t.Fatal(err)
		}
		q = resumed(t, part, five(t), 2, 1)
		if q.Left() != 0 {
			t.Fatalf("%d bytes, then all labels: %v", n, q)
		}
		if err := q.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestResumeRefuses(t *testing.T) {
	folder := t.TempDir()
	good := filepath.Join(folder, "good.jsonl")
	resumed(t, good, five(t), 2, 1)
	head, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	named, err := five(t).WithClasses("cat", "dog", "owl")
	if err != nil {
		t.Fatal(err)
	}
	other := set(t, [][]float32{{0}, {1}, {2}, {3}, {5}}, []int{0, 1, 2, 0, 1})
	for _, row := range []struct {
		name, text string
		set        *data.Dataset
		says       string
	}{
		{"another set", string(head), other, "another data set"},
		{"a shorter set", string(head), five(t).First(3), "another data set"},
		{"other classes", string(head), named, "classes"},
		{"a file of somebody else", "shopping list", five(t), "not a labeling session"},
		{"JSON of somebody else", "{\"a\": 1}\n", five(t), "not a labeling session"},
		{"somebody else's, without an end", "{\"a\": 1}\nlast line", five(t), "not a labeling session"},
		{"a broken line", string(head) + "{\"examples\":[1\n", five(t), "line 3"},
		{"a label outside", string(head) + "{\"examples\":[99],\"labels\":[0]}\n", five(t), "line 3"},
		{"labels missing", string(head) + "{\"examples\":[0,1],\"labels\":[0]}\n", five(t), "line 3"},
		{"an example of another size", string(head) + "{\"made\":\"AAAAAAAAAAA=\"}\n", five(t), "line 3"},
	} {
		path := filepath.Join(folder, "bad")
		if err := os.WriteFile(path, []byte(row.text), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := Resume(path, row.set, 2, 1)
		var session *SessionError
		if !errors.As(err, &session) || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v", row.name, err)
		}
		if after, _ := os.ReadFile(path); string(after) != row.text {
			t.Errorf("%s: the file was changed", row.name)
		}
		t.Logf("%s: %v", row.name, err)
	}
	if _, err := Resume(filepath.Join(folder, "no", "folder"), five(t), 0, 1); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
	if _, err := Resume(good, nil, 0, 1); !errors.Is(err, ErrNoPool) {
		t.Errorf("no set: %v", err)
	}
}

// fullDisk is a file on a disk with a limited number of bytes left.
type fullDisk struct {
	*os.File
	room  int
	stuck bool // Truncate fails as well
	sync  error
}

func (f *fullDisk) Write(p []byte) (int, error) {
	if len(p) <= f.room {
		f.room -= len(p)
		return f.File.Write(p)
	}
	n, _ := f.File.Write(p[:f.room])
	f.room = 0
	return n, syscall.ENOSPC
}

func (f *fullDisk) Sync() error {
	if f.sync != nil {
		return f.sync
	}
	return f.File.Sync()
}

func (f *fullDisk) Truncate(size int64) error {
	if f.stuck {
		return io.ErrClosedPipe
	}
	return f.File.Truncate(size)
}

func TestFullDisk(t *testing.T) {
	for room := range 30 {
		path := filepath.Join(t.TempDir(), "labels.jsonl")
		p := resumed(t, path, five(t), 1, 1)
		disk := &fullDisk{File: p.session.file.(*os.File), room: room}
		p.session.file = disk
		open := p.Unlabeled()
		var session *SessionError
		if err := p.Label(open[:1], 2); !errors.As(err, &session) || !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("%d bytes left: %v", room, err)
		}
		if p.Len() != 1 {
			t.Fatalf("%d bytes left: the label was taken, but is not on the disk", room)
		}
		if q := resumed(t, path, five(t), 1, 1); q.Len() != 1 {
			t.Fatalf("%d bytes left: the file has %v", room, q)
		}
		disk.room = 1000 // space has been freed
		if err := p.Label(open[:1], 2); err != nil {
			t.Fatal(err)
		}
		if q := resumed(t, path, five(t), 1, 1); !slices.Equal(q.order, p.order) {
			t.Fatalf("the file has %v, not %v", q.order, p.order)
		}
	}
}

func TestTwoPoolsOfOneFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "labels.jsonl")
	first, second := resumed(t, path, five(t), 1, 1), resumed(t, path, five(t), 1, 1)
	open := first.Unlabeled()
	if err := first.Label(open[:1], 2); err != nil {
		t.Fatal(err)
	}
	var session *SessionError
	if err := second.Label(open[1:2], 1); !errors.As(err, &session) || second.Len() != 1 {
		t.Errorf("the other pool has labeled meanwhile: %v, %v", err, second)
	}
	if err := first.Label(open[2:3], 0); err != nil {
		t.Errorf("the pool that goes on: %v", err)
	}
	if q := resumed(t, path, five(t), 1, 1); !slices.Equal(q.order, first.order) || !slices.Equal(q.labels, first.labels) {
		t.Errorf("the file has %v, not %v", q.order, first.order)
	}
}

func TestFileThatFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "labels.jsonl")
	p := resumed(t, path, five(t), 1, 1)
	disk := &fullDisk{File: p.session.file.(*os.File), room: 1000, sync: syscall.EIO}
	p.session.file = disk
	open := p.Unlabeled()
	if err := p.Label(open[:1]); !errors.Is(err, syscall.EIO) || p.Len() != 1 {
		t.Errorf("not synced: %v, %v", err, p)
	}
	disk.stuck = true
	if err := p.Label(open[:1]); err == nil || p.Len() != 1 {
		t.Errorf("cannot be cut: %v, %v", err, p)
	}
	disk.stuck, disk.sync = false, nil
	if err := p.Label(open[:1]); err == nil {
		t.Error("a file that may end in what nobody was told of is written on")
	}
	if q := resumed(t, path, five(t), 1, 1); q.Len() != 1 {
		t.Errorf("the file has %v", q)
	}
}

// A session with one flipped bit is not resumed, nor one without checksums.
func TestDamagedSession(t *testing.T) {
	path := filepath.Join(t.TempDir(), "labels.jsonl")
	p := resumed(t, path, five(t), 1, 9)
	if err := p.Label(p.Unlabeled()[1:3], 1, 2); err != nil {
		t.Fatal(err)
	}
	if _, err := p.add([][]float32{{7.25}}); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	again := func(text []byte) (*Pool, error) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := Resume(path, five(t), 1, 9)
		if err == nil {
			t.Cleanup(func() { _ = p.Close() })
		}
		return p, err
	}
	for at := range whole {
		for _, bit := range []int{at % 8, 5} { // bit 5 is the case of a letter
			damaged := bytes.Clone(whole)
			damaged[at] ^= 1 << bit
			if _, err := again(damaged); err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("bit %d of byte %d: %v", bit, at, err)
			}
			if left, err := os.ReadFile(path); err != nil || !bytes.Equal(left, damaged) {
				t.Fatalf("bit %d of byte %d: the damaged file was changed to %q, %v", bit, at, left, err)
			}
		}
	}
	if _, err := again(regexp.MustCompile(`,"crc32c":"[0-9a-f]{8}"`).ReplaceAll(whole, nil)); err == nil {
		t.Error("no checksums: no error")
	}
	p, err = again(whole)
	if err != nil || p.Len() != 3 {
		t.Fatalf("%v, %v", p, err)
	}
	if err := p.Label(p.Unlabeled()[:1], 0); err != nil {
		t.Error(err)
	}
	if q := resumed(t, path, five(t), 1, 9); q.Len() != 4 {
		t.Errorf("after another label: %v", q)
	}
}
