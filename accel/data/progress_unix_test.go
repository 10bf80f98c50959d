//go:build unix

package data

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Reading a file displays a bar with its name.
func TestLongFilesHaveABar(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table.csv")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	shown := bars(t)
	bar := make(chan string, 1)
	go func() {
		w, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Error(err)
			return
		}
		defer w.Close()
		_, _ = io.WriteString(w, "a,class\n1,x\n")
		bar <- <-shown
		_, _ = io.WriteString(w, "2,y\n")
	}()
	if _, err := CSV(path, "class"); err != nil {
		t.Error(err)
	}
	if text := <-bar; !strings.HasPrefix(text, "reading table.csv 0 ") {
		t.Errorf("%q", text)
	}
}
