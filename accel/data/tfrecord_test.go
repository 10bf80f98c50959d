package data_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/data"
)

const tfrecords = "../internal/tfrecord/testdata/examples.tfrecord"

// pictures reads the image and the number of tokens of a record.
func pictures(r data.Record) (data.Example, error) {
	x, err := r.Image("image", 2, 2)
	if err != nil {
		return data.Example{}, err
	}
	tokens, err := r.Ints("tokens", -1)
	return data.Example{X: x, Class: len(tokens) - 1}, err
}

func TestTFRecord(t *testing.T) {
	set, err := data.TFRecord([]string{tfrecords, tfrecords + ".gz"}, pictures, "one", "two", "three")
	if err != nil {
		t.Fatal(err)
	}
	red, green, blue := []float32{1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0}, []float32{0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0}, []float32{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1}
	x, labels := read(t, set.Batches(4, data.Workers(2)))
	if !slices.Equal(x, slices.Concat(red, green, blue, red, green, blue)) || !slices.Equal(labels, []int{0, 1, 2, 0, 1, 2}) {
		t.Errorf("%v, %v", x, labels)
	}
	if set.Path(4) != tfrecords+".gz" || set.Name() != tfrecords {
		t.Errorf("%s: %s", set.Name(), set.Path(4))
	}
	points, err := data.TFRecord([]string{tfrecords}, func(r data.Record) (data.Example, error) {
		point, err := r.Floats("point", 2)
		if !r.Has("weight") {
			return data.Example{X: point, Targets: []float32{-1}}, err
		}
		return data.Example{X: point, Targets: []float32{1}}, err
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := points.Example(2); !slices.Equal(got, []float32{0.25, -3}) || points.Target(1)[0] != -1 {
		t.Errorf("%v, %v", got, points.Target(1))
	}
}

// Files that are damaged are errors with the number of the record, at once or when it is read.
func TestTFRecordErrors(t *testing.T) {
	b, err := os.ReadFile(tfrecords)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	path := func(name string, b []byte) string {
		p := filepath.Join(folder, name)
		if err := os.WriteFile(p, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	var format *data.FormatError
	for name, c := range map[string]struct {
		b      []byte
		record int
	}{
		"truncated": {b[:len(b)-1], 3},
		"text":      {[]byte("some text, which has no records"), 1},
	} {
		p := path(name, c.b)
		if _, err := data.TFRecord([]string{p}, pictures, "a"); !errors.As(err, &format) || format.Record != c.record || format.Path != p {
			t.Errorf("%s: %v", name, err)
		}
	}
	changed := bytes.Clone(b)
	changed[len(b)-20] ^= 1 // data of the last record
	damaged, err := data.TFRecord([]string{path("changed", changed)}, pictures, "one", "two", "three")
	if err != nil {
		t.Fatal(err)
	}
	it := damaged.Batches(3)
	var example *data.ExampleError
	if it.Next() || !errors.As(it.Err(), &example) || example.Example != 2 || !errors.As(it.Err(), &format) || format.Record != 3 {
		t.Errorf("damaged data: %v", it.Err())
	}
	for name, of := range map[string]func(r data.Record) error{
		"no feature":    func(r data.Record) error { _, err := r.Floats("height", 1); return err },
		"another type":  func(r data.Record) error { _, err := r.Floats("id", 1); return err },
		"too many":      func(r data.Record) error { _, err := r.Floats("point", 3); return err },
		"a huge number": func(r data.Record) error { _, err := r.Bytes("name", math.MaxInt); return err },
		"no image":      func(r data.Record) error { _, err := r.Image("name", 2, 2); return err },
	} {
		_, err := data.TFRecord([]string{tfrecords}, func(r data.Record) (data.Example, error) { return data.Example{}, of(r) }, "a")
		if !errors.As(err, &format) || format.Record != 1 || format.Path != tfrecords || !strings.Contains(format.Want, "feature") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := data.TFRecord([]string{tfrecords}, func(r data.Record) (data.Example, error) {
		_, err := r.Image("image", 0, math.MaxInt)
		return data.Example{}, err
	}, "a"); err == nil {
		t.Error("an image without pixels")
	}
	for _, paths := range [][]string{nil, {path("empty", nil)}, {folder}, {filepath.Join(folder, "none")}} {
		if _, err := data.TFRecord(paths, pictures, "a"); err == nil {
			t.Errorf("%q: no error", paths)
		}
	}
	if _, err := data.TFRecord([]string{tfrecords}, nil, "a"); err == nil {
		t.Error("no function: no error")
	}
}

func ExampleTFRecord() {
	set, err := data.TFRecord([]string{"../internal/tfrecord/testdata/examples.tfrecord"}, func(r data.Record) (data.Example, error) {
		x, err := r.Image("image", 2, 2)
		return data.Example{X: x, Class: 0}, err
	}, "square")
	if err != nil {
		fmt.Println(err)
		return
	}
	set, err = set.Reshape(3, 2, 2)
	fmt.Println(set.Len(), set.Shape(), err)
	// Output: 3 [3 2 2] <nil>
}
