package history

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

func reopen(t *testing.T, path string) *History {
	t.Helper()
	h := openPatiently(path, func(err error) { t.Error(err) })
	t.Cleanup(h.Close)
	<-h.writer.opened
	return h
}

// openPatiently is Open with a timeout that is long enough for any machine.
func openPatiently(path string, failed func(error)) *History {
	h := Open(path, failed)
	h.writer.timeout = time.Minute
	return h
}

func TestSessionsFollowEachOther(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a", "b", "history")
	first := reopen(t, path)
	add(t, first, 1, "x := 1", "")
	add(t, first, 2, "x\n\"\x00é", "1")
	first.Close()
	add(t, first, 3, "after the end", "") // in memory only
	second := reopen(t, path)
	add(t, second, 1, "y", "")
	want := []Entry{{1, 1, "x := 1", ""}, {1, 2, "x\n\"\x00é", "1"}, {2, 1, "y", ""}}
	if got := second.Tail(10); !reflect.DeepEqual(got, want) || second.Session() != 2 {
		t.Errorf("session %d\ngot  %+v\nwant %+v", second.Session(), got, want)
	}
	if got := second.Range(-1, 2, nil); len(got) != 1 || got[0].Line != 2 {
		t.Errorf("the session before: %+v", got)
	}
	if runtime.GOOS != "windows" {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
	}
}

func TestGarbledLinesArePassedOver(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history")
	long := `{"session":8,"line":1,"input":"` + strings.Repeat("x", 2*maxLine) + `"}`
	text := "garbage\n" + `{"session":3,"line":1,"input":"a"}` + "\n" + long + "\n[]\n" + `{"session":-1,"line":1}` + "\n" + `{"session":4,"line":2,"input":"b"}` + "\n" + `{"session":9,"li`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	h := reopen(t, path)
	if got, want := h.Tail(10), []Entry{{3, 1, "a", ""}, {4, 2, "b", ""}}; !reflect.DeepEqual(got, want) || h.Session() != 5 {
		t.Errorf("session %d, got %+v", h.Session(), got)
	}
}

// A truncated last line of a killed kernel does not affect other lines.
func TestCutLineIsEnded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history")
	if err := os.WriteFile(path, []byte(`{"session":9,"li`), 0o600); err != nil {
		t.Fatal(err)
	}
	h := reopen(t, path)
	add(t, h, 1, "x", "")
	h.Close()
	if got := reopen(t, path).Tail(10); len(got) != 1 || got[0].Input != "x" {
		t.Errorf("got %+v", got)
	}
}

func TestFileIsBounded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history")
	var text strings.Builder
	for i := range 2*maxEntries + 1 {
		fmt.Fprintf(&text, `{"session":1,"line":%d,"input":"x"}`+"\n", i)
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	h := reopen(t, path)
	add(t, h, 7, "y", "")
	h.Close()
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(got), "\n"); lines != maxEntries+2 || !strings.HasSuffix(string(got), `{"session":2,"line":7,"input":"y"}`+"\n") {
		t.Errorf("%d lines", lines)
	}
	if entries := reopen(t, path).Tail(maxEntries + 1); len(entries) != maxEntries || entries[0].Line != maxEntries+2 {
		t.Errorf("%d entries from line %d", len(entries), entries[0].Line)
	}
	if files, err := filepath.Glob(path + "*"); err != nil || len(files) != 2 { // the history and its lock
		t.Errorf("files are left: %q, %v", files, err)
	}
}

func TestLongCellsAreCut(t *testing.T) {
	t.Parallel()
	h := reopen(t, filepath.Join(t.TempDir(), "history"))
	add(t, h, 1, strings.Repeat("é", maxText), strings.Repeat("𝛼", maxText))
	got := h.Tail(1)[0]
	if len(got.Input) > maxText || len(got.Output) > maxText || strings.Trim(got.Input, "é") != "" || strings.Trim(got.Output, "𝛼") != "" {
		t.Errorf("%d and %d bytes", len(got.Input), len(got.Output))
	}
}

func TestSeveralKernels(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history")
	var kernels sync.WaitGroup
	var open []*History
	for range 4 {
		h := reopen(t, path)
		open = append(open, h)
		kernels.Go(func() {
			for i := range 100 {
				add(t, h, i, strings.Repeat("x", 5000), "")
			}
		})
	}
	kernels.Wait()
	for _, h := range open {
		h.Close()
	}
	if got := reopen(t, path).Tail(1000); len(got) != 400 {
		t.Errorf("%d of 400 cells", len(got))
	}
}

// Cells of other kernels do not change the history of a running kernel.
func TestOtherKernelsAreIgnored(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history")
	first := reopen(t, path)
	add(t, first, 1, "before", "")
	first.Close()
	ours, theirs := reopen(t, path), reopen(t, path)
	add(t, theirs, 1, "theirs", "")
	add(t, ours, 1, "ours", "")
	add(t, theirs, 2, "theirs again", "")
	if got := ours.Tail(5); len(got) != 2 || got[0].Input != "before" || got[1].Input != "ours" {
		t.Errorf("ours: %+v", got)
	}
	if got := ours.Range(0, 0, nil); len(got) != 1 || got[0].Input != "ours" {
		t.Errorf("this session: %+v", got)
	}
}

// Kernels that start at the same time get different session numbers.
func TestDistinctSessions(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history")
	var kernels []*History
	for range 8 { // concurrently
		kernels = append(kernels, openPatiently(path, func(err error) { t.Error(err) }))
	}
	seen := map[int]bool{}
	for i, h := range kernels {
		<-h.writer.opened
		seen[h.Session()] = true
		h.Add(1, fmt.Sprint("cell of ", i), "")
		h.Close()
	}
	if len(seen) != len(kernels) {
		t.Errorf("%d kernels have the sessions %v", len(kernels), seen)
	}
	numbers := map[int]bool{}
	for _, e := range reopen(t, path).Tail(100) {
		numbers[e.Session] = true
	}
	if len(numbers) != len(kernels) {
		t.Errorf("%d kernels have written the sessions %v", len(kernels), numbers)
	}
}

// Cells that a kernel adds after another one has replaced the file are not lost.
func TestFileIsReplacedUnderAKernel(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history")
	long := reopen(t, path)
	add(t, long, 1, "before", "")
	long.Close()
	other := reopen(t, path)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(strings.Repeat(`{"session":1,"line":7,"input":"x"}`+"\n", 2*maxEntries+1))
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	reopen(t, path).Close() // replaces it
	add(t, other, 1, "behind", "")
	other.Close()
	got := reopen(t, path).Tail(1)
	if len(got) != 1 || got[0].Input != "behind" {
		t.Errorf("got %+v", got)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(`{"session":3,"line":1,"input":"a","output":"b"}` + "\n"))
	f.Add([]byte("\x00\n\n[]\n{\"session\":1e99}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "history")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		h := reopen(t, path)
		for _, e := range h.Tail(maxEntries) {
			if e.Session < 1 || e.Session >= h.Session() {
				t.Errorf("session %d comes after %+v", h.Session(), e)
			}
		}
	})
}

func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "history")
	var text strings.Builder
	for i := range 2 * maxEntries {
		fmt.Fprintf(&text, `{"session":%d,"line":%d,"input":%q}`+"\n", 1+i/20, i%20, strings.Repeat("x := 1\n", 15))
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		h := Open(path, func(err error) { b.Error(err) })
		h.Close()
	}
}
