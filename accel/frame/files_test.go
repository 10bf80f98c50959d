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

// wantFile is the table that testdata/make_files.py writes.
const wantFile = "i8 int: -128 - 127; i64 int: -9223372036854775808 0 9223372036854775807; u32 int: 0 - 4294967295; u64 int: 0 1 9223372036854775807; " +
	"f32 float: 0.5 - -1.25; f64 float: 0.1 - +Inf; b bool: true - false; s text: é - ; category text: x - x; day time: 2024-02-29 - 1969-12-31; " +
	"ms time: 2024-02-29T13:14:15.5Z - 2024-02-29T13:14:15.5Z; us time: 2024-02-29T13:14:15.5Z - 2024-02-29T13:14:15.5Z; ns time: 2024-02-29T13:14:15.5Z - 1960-01-01"

func TestParquet(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, more string }{
		{"none.parquet", "; decimal float: -1.1 - 1.2345678901234568e+16"}, {"snappy.parquet", "; decimal float: -1.1 - 1.2345678901234568e+16"},
		{"gzip.parquet", "; decimal float: -1.1 - 1.2345678901234568e+16"}, {"zstd.parquet", "; decimal float: -1.1 - 1.2345678901234568e+16"},
		{"lz4.parquet", "; decimal float: -1.1 - 1.2345678901234568e+16"}, {"brotli.parquet", "; decimal float: -1.1 - 1.2345678901234568e+16"},
		{"plain.parquet", ""},
	} {
		f, err := frame.Parquet(filepath.Join("testdata/files", test.name))
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		} else if got := contents(f); got != wantFile+test.more {
			t.Errorf("%s: got  %s\nwant %s", test.name, got, wantFile+test.more)
		}
	}
}

// TestParquetNulls reads columns without a type, which pandas writes for objects that are all None, as Arrow reads them.
func TestParquetNulls(t *testing.T) {
	t.Parallel()
	const path = "testdata/files/nulls.parquet"
	f, err := frame.Parquet(path)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := contents(f), "i int: 1 2 3; none float: - - -; group.none float: - - -"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if f, err := frame.Parquet(path, "none", "i"); err != nil || contents(f) != "none float: - - -; i int: 1 2 3" {
		t.Errorf("got %v, %v", f, err)
	}
	if f, err := frame.Parquet(path, "i"); err != nil || contents(f) != "i int: 1 2 3" {
		t.Errorf("got %v, %v", f, err)
	}
}

func TestUnsupportedColumns(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"testdata/files/lists.parquet"} {
		var invalid *frame.FileError
		if _, err := frame.Parquet(path); !errors.As(err, &invalid) || !strings.HasPrefix(invalid.Column, "a") || invalid.Path != path {
			t.Errorf("%s: got %v, want a FileError of column a", path, err)
		}
		if _, err := frame.Parquet(path, "ok", "n"); !errors.As(err, &invalid) || invalid.Column != "n" {
			t.Errorf("%s: got %v, want a FileError of column n", path, err)
		}
		if f, err := frame.Parquet(path, "ok"); err != nil || contents(f) != "ok int: 1 2" {
			t.Errorf("%s: got %v, %v", path, f, err)
		}
		var column *frame.ColumnError
		if _, err := frame.Parquet(path, "okay"); !errors.As(err, &column) {
			t.Errorf("%s: got %v, want a ColumnError", path, err)
		}
	}
	if _, err := frame.CSV("testdata/files/lists.parquet"); err == nil || !strings.Contains(err.Error(), "use Parquet") {
		t.Errorf("got %v, want the advice to use Parquet", err)
	}
	text := strings.NewReader("city,sold\nLima,3\n")
	if _, err := frame.ReadParquet(text, text.Size()); err == nil || !strings.Contains(err.Error(), "is this a complete Parquet file?") {
		t.Errorf("reading a CSV file as Parquet: %v", err)
	}
}

// TestDamagedFiles reads files with a changed or missing part: there is an error or a table, and no panic.
func TestDamagedFiles(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"zstd.parquet", "plain.parquet"} {
		data, err := os.ReadFile(filepath.Join("testdata/files", name))
		if err != nil {
			t.Fatal(err)
		}
		read := func(data []byte) error {
			_, err := frame.ReadParquet(bytes.NewReader(data), int64(len(data)))
			return err
		}
		if err := read(data[:len(data)/2]); err == nil {
			t.Errorf("%s: half of the file was read without an error", name)
		}
		for i := 0; i < len(data); i += 7 {
			changed := bytes.Clone(data)
			changed[i] ^= 0xff
			_ = read(changed) // must return
		}
	}
}
