package frame_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/frame"
)

// The columns of the table that testdata/make_arrow.py writes, after those of wantFile.
const (
	wantArrow = "; decimal float: -1.1 - 1.2345678901234568e+16; i16 int: -32768 - 32767; u8 int: 0 - 255; u16 int: 0 - 65535; f16 float: 5.960464477539063e-08 - -65504; " +
		"large text: a longer text than views contain - ; "
	wantView  = "view text: a longer text than views contain - twelve bytes; "
	wantOther = "number float: 2.5 - 2.5; date64 time: 2024-02-29 - 1969-12-31; sec time: 2024-02-29T13:14:15Z - 1960-01-01; " +
		"decimal256 float: -1.1 - 1.2345678901234568e+16; null float: - - -"
)

func TestArrow(t *testing.T) {
	t.Parallel()
	all := wantFile + wantArrow + wantView + wantOther
	for _, test := range []struct {
		name    string
		columns []string
		want    string
	}{
		{"file.arrow", nil, all},
		{"lz4.arrow", nil, all},
		{"zstd.arrow", nil, all},
		{"stream.arrow", nil, all},
		{"legacy.arrow", nil, wantFile + wantArrow + wantOther},
		{"v2.feather", nil, all},
		{"file.arrow", []string{"category", "i8"}, "category text: x - x; i8 int: -128 - 127"},
		{"delta.arrow", nil, "word text: a b a a b c -"},
		{"replaced.arrow", nil, "word text: a b a c - a"},
		{"none.arrow", nil, "a int:; s text:"},
		{"strange.arrow", []string{"ok"}, "ok text: last column"},
	} {
		f, err := frame.Arrow(filepath.Join("testdata/files", test.name), test.columns...)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		} else if got := contents(f); got != test.want {
			t.Errorf("%s: got  %s\nwant %s", test.name, got, test.want)
		}
	}
	if f, err := frame.Arrow("testdata/files/empty.arrow"); err != nil || f.Len() != 0 || len(f.Columns()) != 25 {
		t.Errorf("empty.arrow: got %v, %v", f, err)
	}
}

func TestArrowErrors(t *testing.T) {
	t.Parallel()
	const path = "testdata/files/strange.arrow"
	for column, want := range map[string]string{
		"n": "want an integer in the range of int", "binary": "got binary", "duration": "got duration", "lists": "got list", "fixed": "got fixed-size list",
		"struct": "got struct", "map": "got map", "dense": "got union", "sparse": "got union", "runs": "got run-end encoded", "views": "got binary view",
		"listviews": "got list view", "interval": "got interval",
	} {
		_, err := frame.Arrow(path, "ok", column)
		var invalid *frame.FileError
		if !errors.As(err, &invalid) || invalid.Path != path || invalid.Column != column || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want a FileError with %s", column, err, want)
		}
	}
	file, err := os.ReadFile("testdata/files/file.arrow")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, data, want string }{
		{"nothing", "", "got nothing"},
		{"Parquet", "PAR1abc", "use Parquet"},
		{"Feather 1", "FEA1abc", "a Feather file of version 1"},
		{"half a file", string(file[:len(file)/2]), "is the file complete?"},
		{"text", "a,b\n1,2\n", "is this a complete Arrow file?"},
	} {
		var invalid *frame.FileError
		if _, err := frame.ReadArrow(strings.NewReader(test.data)); !errors.As(err, &invalid) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want a FileError with %s", test.name, err, test.want)
		}
	}
	if _, err := frame.CSV("testdata/files/file.arrow"); err == nil || !strings.Contains(err.Error(), "use Arrow") {
		t.Errorf("got %v, want the advice to use Arrow", err)
	}
	var column *frame.ColumnError
	if _, err := frame.Arrow(path, "okay"); !errors.As(err, &column) {
		t.Errorf("got %v, want a ColumnError", err)
	}
}

// FuzzArrow reads damaged files: there is an error or a table, and no panic. The seeds have each byte of a file changed.
func FuzzArrow(f *testing.F) {
	for _, name := range []string{"file.arrow", "zstd.arrow", "stream.arrow", "legacy.arrow", "strange.arrow", "delta.arrow"} {
		data, err := os.ReadFile(filepath.Join("testdata/files", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		for i := 0; i < len(data); i += 11 {
			changed := bytes.Clone(data)
			changed[i] ^= byte(0xff >> (i % 3 * 3))
			f.Add(changed)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := frame.ReadArrow(bytes.NewReader(data))
		if (got == nil) == (err == nil) {
			t.Errorf("got %v, %v", got, err)
		}
		var invalid *frame.FileError
		var column *frame.ColumnError // two columns with one name
		if err != nil && !errors.As(err, &invalid) && !errors.As(err, &column) {
			t.Logf("got %v", err) // of compress/gzip, for example
		}
	})
}
