package frame_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/quernlab/quern/accel/frame"
)

const tfrecords = "../internal/tfrecord/testdata/examples.tfrecord"

func TestTFRecord(t *testing.T) {
	t.Parallel()
	const want = "id int: -4611686018427387904 0 4611686018427387904; weight float: 0 - 1; name text: é  b"
	for _, path := range []string{tfrecords, tfrecords + ".gz"} {
		f, err := frame.TFRecord(path, "id", "weight", "name")
		if err != nil || contents(f) != want {
			t.Errorf("%s: got %v, %v\nwant %s", path, contents(f), err, want)
		}
		for column, record := range map[string]int{"point": 1, "tokens": 2, "image": 1} {
			var invalid *frame.FileError
			if _, err := frame.TFRecord(path, column); !errors.As(err, &invalid) || invalid.Column != column || invalid.Record != record || invalid.Path != path {
				t.Errorf("%s: %v", column, err)
			}
		}
		var missing *frame.ColumnError
		if _, err := frame.TFRecord(path, "ID"); !errors.As(err, &missing) {
			t.Errorf("a column that is not there: %v", err)
		}
	}
	b, err := os.ReadFile(tfrecords)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "damaged")
	if err := os.WriteFile(path, b[:len(b)-1], 0o600); err != nil {
		t.Fatal(err)
	}
	var invalid *frame.FileError
	if _, err := frame.TFRecord(path); !errors.As(err, &invalid) {
		t.Errorf("all columns: %v", err)
	}
	if _, err := frame.TFRecord(path, "id"); !errors.As(err, &invalid) || invalid.Record != 3 || invalid.Path != path {
		t.Errorf("truncated: %v", err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if f, err := frame.TFRecord(path); err != nil || f.Len() != 0 {
		t.Errorf("no records: %v, %v", f, err)
	}
}

func ExampleTFRecord() {
	f, err := frame.TFRecord("../internal/tfrecord/testdata/examples.tfrecord", "id", "weight")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(f.Len(), f.Column("weight"))
	// Output: 3 weight: 3 values of type float, 1 missing
}
