// Package golden compares what a test made with a file under testdata.
//
// It is imported by tests only and owns the one flag that renews all such
// files:
//
//	go test ./plots -update
//
// Look at the difference before you commit it: a renewed file says whatever
// the code says now.
package golden

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// Check fails the test when got differs from the file testdata/name, or when
// there is no such file. With -update it writes the file, and says so when
// that changed it.
func Check(t testing.TB, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", filepath.FromSlash(name))
	want, err := os.ReadFile(path)
	if *update {
		if err == nil && bytes.Equal(got, want) {
			return
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
		t.Logf("wrote %s", path)
		return
	}
	if err != nil {
		t.Fatalf("%v (go test -update writes it)", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (go test -update renews it):\n%s", path, diff.Diff("want", want, "got", got))
	}
}
