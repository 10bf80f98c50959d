// Package golden compares the results of tests with files under testdata.
//
// Only tests import it. It declares the flag -update, with which tests write such files
// instead of comparing with them:
//
//	go test ./plots -update
//
// Check the difference before you commit it: the new file has whatever the code produces
// now.
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

// Update reports whether -update is set, for tests whose files [Check] cannot
// compare, such as those that hold the output of compiled programs.
func Update() bool { return *update }

// Check fails the test if got differs from the file testdata/name or if there is no such
// file. With -update it writes the file and logs whether that changed it.
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
		t.Errorf("%s differs (go test -update writes it):\n%s", path, diff.Diff("want", want, "got", got))
	}
}
