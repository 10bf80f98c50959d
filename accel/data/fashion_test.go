package data

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/accel/download"
	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/internal/testenv"
)

// sample returns a file description for three tiny images, and the bytes of the file.
func sample(t *testing.T) (f file, raw, zipped []byte) {
	t.Helper()
	raw = idxBytes(8, []uint32{3, 2, 2}, []byte("twelve bytes"))
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(raw); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(raw)
	return file{"sample-idx3-ubyte", hex.EncodeToString(sum[:]), []int{3, 2, 2}}, raw, b.Bytes()
}

func write(t *testing.T, folder, name string, content []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, name), content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// quiet hides the progress of downloads.
func quiet(t *testing.T) {
	t.Helper()
	previous := display.SetSink(display.SinkFunc(func(display.Message) {}))
	t.Cleanup(func() { display.SetSink(previous) })
}

func TestFileRead(t *testing.T) {
	f, raw, zipped := sample(t)
	damaged := bytes.Clone(zipped)
	damaged[len(damaged)-6] ^= 1 // a bit of the CRC
	tests := []struct {
		name, path string
		content    []byte
		want       string // part of the error; empty for success
	}{
		{"raw", f.name, raw, ""},
		{"gzip", f.name + ".gz", zipped, ""},
		{"cut gzip", f.name + ".gz", zipped[:len(zipped)-12], "want undamaged gzip data"},
		{"damaged gzip", f.name + ".gz", damaged, "want undamaged gzip data"},
		{"not gzip", f.name + ".gz", []byte("<html>moved</html>"), "want a gzip file"},
		{"cut raw", f.name, raw[:len(raw)-1], "want 12 elements for shape [3 2 2], got 11"},
		{"another content", f.name, append(bytes.Clone(raw[:len(raw)-1]), 'S'), "want content with SHA-256 " + f.sha256},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			folder := t.TempDir()
			write(t, folder, tt.path, tt.content)
			a, err := f.read(folder)
			if tt.want == "" {
				if err != nil || string(a.Data) != "twelve bytes" {
					t.Fatalf("got %v, %v", a, err)
				}
				return
			}
			var format *FormatError
			if !errors.As(err, &format) || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("error\n want a FormatError with %q\n got  %v", tt.want, err)
			}
			if format.Path != filepath.Join(folder, tt.path) {
				t.Errorf("the error names %q", format.Path)
			}
		})
	}
}

func TestDownload(t *testing.T) {
	f, _, zipped := sample(t)
	quiet(t)
	served := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		served++
		if r.URL.Path != "/"+f.name+".gz" {
			http.NotFound(w, r)
			return
		}
		w.Write(zipped)
	}))
	defer server.Close()
	c := collection{files: []file{f}, cache: filepath.Join(t.TempDir(), "deep", "cache"), address: server.URL + "/"}
	c.folders = []string{c.cache}
	if _, err := c.find(); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("before the download: %v", err)
	}
	for range 2 { // the second iteration finds the downloaded files
		if err := c.download(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if served != 1 {
		t.Errorf("%d requests for one file", served)
	}
	if folder, err := c.find(); err != nil || folder != c.cache {
		t.Errorf("after the download: %q, %v", folder, err)
	}
	if _, err := f.read(c.cache); err != nil {
		t.Error(err)
	}
	if entries, _ := os.ReadDir(c.cache); len(entries) != 1 {
		t.Errorf("the cache holds %v", entries)
	}
}

func TestDownloadFails(t *testing.T) {
	f, _, zipped := sample(t)
	hang := make(chan struct{})
	tests := []struct {
		name   string
		handle http.HandlerFunc
		want   string
	}{
		{"not found", http.NotFound, "404 Not Found"},
		{"a page", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<html>")) }, "want a gzip file"},
		{"cut", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "9999")
			w.Write(zipped)
		}, "unexpected EOF"},
		{"stalls", func(w http.ResponseWriter, _ *http.Request) {
			w.Write(zipped[:10])
			w.(http.Flusher).Flush()
			<-hang
		}, "no data for"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			quiet(t)
			server := httptest.NewServer(tt.handle)
			defer server.Close()
			if tt.name == "stalls" {
				defer close(hang)
			}
			c := collection{files: []file{f}, cache: t.TempDir(), address: server.URL + "/", options: []download.Option{download.Stall(100 * time.Millisecond)}}
			err := c.download(t.Context())
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error\n want %q\n got  %v", tt.want, err)
			}
			if entries, _ := os.ReadDir(c.cache); len(entries) != 0 {
				t.Errorf("a failed download left %v", entries)
			}
		})
	}
}

func TestDownloadEndsWithItsContext(t *testing.T) {
	f, _, _ := sample(t)
	quiet(t)
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	}))
	defer server.Close()
	c := collection{files: []file{f}, cache: t.TempDir(), address: server.URL + "/"}
	if err := c.download(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("want context.Canceled, got %v", err)
	}
}

func TestMissingFashionMNISTSaysWhatToDo(t *testing.T) {
	quiet(t)
	server := httptest.NewServer(http.HandlerFunc(http.NotFound))
	defer server.Close()
	empty := t.TempDir()
	_, _, err := loadFashion(t.Context(), collection{
		files: fashionFiles, folders: []string{empty}, cache: t.TempDir(), address: server.URL + "/",
	})
	for _, want := range []string{empty, "404", "dataset-fashion-mnist", "QUERN_DATA"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error should hold %q: %v", want, err)
		}
	}
	if _, _, err := OpenFashionMNIST(t.Context(), empty); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder without the files: %v", err)
	}
}

// TestLoadFashion downloads four tiny files with the structure of the real ones, and then finds
// them in the cache.
func TestLoadFashion(t *testing.T) {
	quiet(t)
	contents := map[string][]byte{}
	published := func(name string, shape []int, data string) file {
		var dims []uint32
		for _, d := range shape {
			dims = append(dims, uint32(d))
		}
		raw := idxBytes(8, dims, []byte(data))
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write(raw)
		w.Close()
		contents["/"+name+".gz"] = b.Bytes()
		sum := sha256.Sum256(raw)
		return file{name, hex.EncodeToString(sum[:]), shape}
	}
	image := strings.Repeat("\xff", 28*28)
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		w.Write(contents[r.URL.Path])
	}))
	defer server.Close()
	c := collection{cache: t.TempDir(), address: server.URL + "/", files: []file{
		published("train-images", []int{2, 28, 28}, image+image),
		published("train-labels", []int{2}, "\x03\x09"),
		published("test-images", []int{1, 28, 28}, image),
		published("test-labels", []int{1}, "\x05"),
	}}
	c.folders = []string{c.cache}
	for range 2 {
		train, test, err := loadFashion(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if train.Len() != 2 || train.Label(1) != 9 || test.Label(0) != 5 || train.Example(0)[0] != 1 || train.Name() != "Fashion-MNIST, train" {
			t.Errorf("got %v and %v", train, test)
		}
	}
	if requests != 4 {
		t.Errorf("%d requests for four files", requests)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := loadFashion(ctx, c); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the context: %v", err)
	}
}

// TestFashionFiles reads the test set of the real files if the Debian package or the user has
// installed it; it downloads nothing.
func TestFashionFiles(t *testing.T) {
	folder, err := fashionCollection().find()
	if errors.Is(err, fs.ErrNotExist) {
		testenv.Missing(t, "Fashion-MNIST is not here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	images, err := fashionFiles[2].read(folder)
	if err != nil {
		t.Fatal(err)
	}
	labels, err := fashionFiles[3].read(folder)
	if err != nil {
		t.Fatal(err)
	}
	test := fashionSet("test", images, labels)
	if test.Len() != 10000 {
		t.Errorf("got %v", test)
	}
	for c, n := range test.Counts() {
		if n != 1000 {
			t.Errorf("class %s has %d examples", test.Classes()[c], n)
		}
	}
	if got := test.Classes()[test.Label(0)]; got != "ankle boot" {
		t.Errorf("the first test image is labeled %q", got)
	}
}
