package nn

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
)

// displayed returns the texts of what is displayed until the test ends.
func displayed(t *testing.T) <-chan string {
	t.Helper()
	texts := make(chan string, 100)
	previous := display.SetSink(display.SinkFunc(func(m display.Message) { texts <- m.Data["text/plain"].(string) }))
	t.Cleanup(func() { display.SetSink(previous) })
	return texts
}

// counts returns 0, 1, 2 and so on.
func counts(n int) []float32 {
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(i)
	}
	return values
}

// slowReader waits at its second read until something is displayed.
type slowReader struct {
	io.ReaderAt
	reads int
	texts <-chan string
	first string
}

func (r *slowReader) ReadAt(b []byte, from int64) (int, error) {
	if r.reads++; r.reads == 2 {
		r.first = <-r.texts
	}
	return r.ReaderAt.ReadAt(b, from)
}

// Loading a file for longer than a second displays a bar that counts megabytes, within a large
// tensor too.
func TestLoadShowsItsProgress(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large.safetensors")
	large := tensor.New(counts(5<<20), 5<<20)
	if err := SaveTensors(path, map[string]*Tensor{"large": large}, nil); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}()
	texts := displayed(t)
	slow := &slowReader{ReaderAt: f.data, texts: texts}
	f.data = slow
	end := (&weightFiles{files: map[string]*File{path: f}}).showProgress(path)
	got, err := f.Tensor("large")
	if err != nil {
		t.Fatal(err)
	}
	end()
	if !slices.Equal(got.Data(), large.Data()) {
		t.Error("another tensor")
	}
	if !strings.HasPrefix(slow.first, "loading large.safetensors [") || !strings.Contains(slow.first, "] 8/20") || !strings.Contains(slow.first, " left, MB") {
		t.Errorf("displayed %q", slow.first)
	}
	last := ""
	for len(texts) > 0 {
		last = <-texts
	}
	if !strings.Contains(last, "] 20/20") {
		t.Errorf("displayed at last: %q", last)
	}
}

// slowWriter waits at its second write until something is displayed.
type slowWriter struct {
	io.Writer
	writes int
	texts  <-chan string
	first  string
}

func (w *slowWriter) Write(b []byte) (int, error) {
	if w.writes++; w.writes == 2 {
		w.first = <-w.texts
	}
	return w.Writer.Write(b)
}

// Saving for longer than a second displays a bar, and writes the same bytes.
func TestSaveShowsItsProgress(t *testing.T) {
	large := map[string]*Tensor{"large": tensor.New(counts(1<<20), 1<<20)}
	path := filepath.Join(t.TempDir(), "large.safetensors")
	if err := SaveTensors(path, large, nil); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	slow := &slowWriter{Writer: &b, texts: displayed(t)}
	if err := withProgress(path, large, func(meter *display.Meter) error { return WriteTensors(meter.Writer(slow), large, nil) }); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(slow.first, "saving large.safetensors [") || !strings.Contains(slow.first, "/4  00:01") {
		t.Errorf("displayed %q", slow.first)
	}
	if b.String() != string(want) {
		t.Error("other bytes")
	}
}
