package frame

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// TestContent reads files of which a part is buffered, and others from a position on, as package os does.
func TestContent(t *testing.T) {
	for _, size := range []int{0, 1, 5000, 1<<16 + 3, 3*pieceSize + 17} {
		for _, from := range []int{0, size / 3} {
			for _, compressed := range []bool{false, true} {
				t.Run(fmt.Sprint(size, " from ", from, ", compressed ", compressed), func(t *testing.T) {
					want := make([]byte, size-from)
					for i := range want {
						want[i] = byte(i * i >> 7)
					}
					var stored bytes.Buffer
					stored.Write(make([]byte, from))
					if compressed {
						z := gzip.NewWriter(&stored)
						_, _ = z.Write(want)
						_ = z.Close()
					} else {
						stored.Write(want)
					}
					path := filepath.Join(t.TempDir(), "file")
					if err := os.WriteFile(path, stored.Bytes(), 0o600); err != nil {
						t.Fatal(err)
					}
					file, err := os.Open(path)
					if err != nil {
						t.Fatal(err)
					}
					defer file.Close()
					if _, err := file.Seek(int64(from), io.SeekStart); err != nil {
						t.Fatal(err)
					}
					got, err := content(file)
					if err != nil || !bytes.Equal(got, want) {
						t.Errorf("%d bytes, %v; want those that were written", len(got), err)
					}
					if rest, err := io.ReadAll(file); len(rest) > 0 || err != nil {
						t.Errorf("%d bytes were left, %v", len(rest), err)
					}
				})
			}
		}
	}
}

// TestContentOfPipe reads what has no size.
func TestContentOfPipe(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	want := bytes.Repeat([]byte("some text\n"), 10_000)
	go func() {
		_, _ = out.Write(want)
		_ = out.Close()
	}()
	if got, err := content(in); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %v; want %d", len(got), err, len(want))
	}
}
