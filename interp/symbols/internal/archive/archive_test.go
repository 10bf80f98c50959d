package archive_test

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/quernlab/quern/interp/symbols/internal/archive"
)

var packages = []archive.Package{
	{Path: "b/two", Name: "two", Types: []byte("types of two"), Docs: archive.Docs{"": "Package two.", "T.M": "M is\nlong.", "F": "F does."}},
	{Path: "a", Name: "a", Docs: archive.Docs{}},
	{Path: "internal", Docs: archive.Docs{"T": "T is."}},
}

func write(t *testing.T, p ...archive.Package) string {
	t.Helper()
	var b bytes.Buffer
	if err := archive.Write(&b, "go1.26", p); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestRoundTrip(t *testing.T) {
	r, err := archive.NewReader(write(t, packages...))
	if err != nil {
		t.Fatal(err)
	}
	if r.Version() != "go1.26" {
		t.Errorf("version %q, want go1.26", r.Version())
	}
	if want := map[string]string{"a": "a", "b/two": "two"}; !maps.Equal(r.Names(), want) {
		t.Errorf("names %v, want %v", r.Names(), want)
	}
	if got, err := r.Types("b/two"); err != nil || string(got) != "types of two" {
		t.Errorf("types of b/two: %q, %v", got, err)
	}
	if _, err := r.Types("a"); err == nil {
		t.Error("types of a, which has none: no error")
	}
	for _, p := range packages {
		if got, err := r.Docs(p.Path); err != nil || !maps.Equal(got, p.Docs) {
			t.Errorf("docs of %s: %q, %v, want %q", p.Path, got, err, p.Docs)
		}
	}
}

func TestSameBytes(t *testing.T) {
	if write(t, packages[0], packages[1]) != write(t, packages[1], packages[0]) {
		t.Error("the order of the packages changes the file")
	}
}

func TestDamaged(t *testing.T) {
	whole := write(t, packages...)
	for _, cut := range []int{0, 1, len(whole) / 2, len(whole) - 1} {
		if _, err := archive.NewReader(whole[:cut]); err == nil {
			t.Errorf("file cut at byte %d of %d: no error", cut, len(whole))
		}
	}
}

func TestFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "own")
	for range 2 { // the second time into the existing folder
		if err := archive.WriteFolder(dir, packages); err != nil {
			t.Fatal(err)
		}
	}
	f, err := archive.OpenFolder(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]string{"a": "a", "b/two": "two"}; !maps.Equal(f.Names(), want) {
		t.Errorf("names %v, want %v", f.Names(), want)
	}
	if got, err := f.Types("b/two"); err != nil || string(got) != "types of two" {
		t.Errorf("types of b/two: %q, %v", got, err)
	}
	for _, path := range []string{"a", "b", "none", "../a", ""} {
		if _, err := f.Types(path); !errors.Is(err, archive.ErrNone) {
			t.Errorf("types of %q: %v, want %v", path, err, archive.ErrNone)
		}
	}
	for _, p := range packages {
		if got, err := f.Docs(p.Path); err != nil || !maps.Equal(got, p.Docs) {
			t.Errorf("docs of %s: %q, %v, want %q", p.Path, got, err, p.Docs)
		}
	}
	if err := archive.WriteFolder(dir, packages[:1]); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Docs("a"); !errors.Is(err, archive.ErrNone) {
		t.Errorf("a package that is gone still has documentation: %v", err)
	}
}

func TestDamagedFolder(t *testing.T) {
	f, err := archive.OpenFolder(fstest.MapFS{"names": {Data: []byte("a a\n")}, "a/types": {Data: []byte("\x07")}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Types("a"); err == nil || errors.Is(err, archive.ErrNone) {
		t.Errorf("damaged types: %v", err)
	}
}
