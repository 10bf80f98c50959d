package embedded

import (
	"embed"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

//go:embed testdata
var compiled embed.FS

//go:embed all:testdata testdata/b/*.txt
var compiledAll embed.FS

// TestAsCompiled compares a file system with the one that the compiler makes of the same files.
func TestAsCompiled(t *testing.T) {
	for _, row := range []struct {
		want     embed.FS
		patterns []string
	}{
		{compiled, []string{"testdata"}},
		{compiledAll, []string{"all:testdata", "testdata/b/*.txt"}},
	} {
		files, err := Find(".", row.patterns)
		if err != nil {
			t.Fatal(err)
		}
		got := files.FS()
		if !reflect.DeepEqual(listing(t, got), listing(t, row.want)) {
			t.Errorf("%v: got %v, want %v", row.patterns, listing(t, got), listing(t, row.want))
		}
		if err := fstest.TestFS(got, "testdata/a.txt", "testdata/b/c.txt"); err != nil {
			t.Error(err)
		}
	}
}

func listing(t *testing.T, system fs.FS) (list []string) {
	t.Helper()
	err := fs.WalkDir(system, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			list = append(list, p+"/")
			return err
		}
		text, err := fs.ReadFile(system, p)
		list = append(list, p+": "+string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestLayout checks that embed.FS has the fields that FS sets.
func TestLayout(t *testing.T) {
	system := reflect.TypeFor[embed.FS]()
	if system.NumField() != 1 || system.Field(0).Type.Kind() != reflect.Pointer {
		t.Fatalf("embed.FS is %v", system)
	}
	file := system.Field(0).Type.Elem().Elem()
	ours := reflect.TypeFor[fsFile]()
	if file.NumField() != ours.NumField() {
		t.Fatalf("a file is %v", file)
	}
	for i := range file.NumField() {
		if a, b := file.Field(i), ours.Field(i); a.Name != b.Name || a.Type != b.Type || a.Offset != b.Offset {
			t.Errorf("field %v, want %v", a, b)
		}
	}
}

func TestSet(t *testing.T) {
	type text string
	var s text
	var b []byte
	var n int
	one := Files{"a": "x"}
	for _, v := range []any{&s, &b} {
		if err := one.Set(reflect.ValueOf(v).Elem()); err != nil {
			t.Error(err)
		}
	}
	if s != "x" || string(b) != "x" {
		t.Errorf("got %q and %q", s, b)
	}
	for _, row := range []struct {
		files Files
		want  string
	}{{one, "cannot apply to a variable of type int"}, {Files{"a": "", "b": ""}, "holds one embedded file, not 2"}} {
		if err := row.files.Set(reflect.ValueOf(&n).Elem()); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("got %v, want %s", err, row.want)
		}
	}
}

func TestFindErrors(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "empty", ".hidden"), 0o755); err != nil {
		t.Fatal(err)
	}
	for pattern, want := range map[string]string{
		"none":      "pattern none: no matching files found",
		"empty":     "pattern empty: cannot embed directory empty: contains no embeddable files",
		"../up":     "pattern ../up: invalid pattern syntax",
		"/etc/host": "pattern /etc/host: invalid pattern syntax",
		"[":         "pattern [: invalid pattern syntax",
	} {
		if _, err := Find(dir, []string{pattern}); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestStamp(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("a.txt", "1")
	stamps := []string{Stamp(dir, []string{"*.txt"})}
	write("a.txt", "22")
	stamps = append(stamps, Stamp(dir, []string{"*.txt"}))
	write("b.txt", "")
	stamps = append(stamps, Stamp(dir, []string{"*.txt"}))
	slices.Sort(stamps)
	if len(slices.Compact(stamps)) != 3 {
		t.Errorf("equal stamps: %q", stamps)
	}
}
