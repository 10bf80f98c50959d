package data

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"github.com/quernlab/quern/accel/internal/tfrecord"
)

// TFRecord makes a data set of files in TensorFlow's TFRecord format, uncompressed or compressed with gzip,
// whose records are messages tf.train.Example. example returns the example of a record; the workers of
// [Batches] call it from several goroutines at once, each time that a batch needs the example. Classes are
// named as in [FromSource]; without names the examples have targets.
//
//	set, err := data.TFRecord([]string{"flowers.tfrecord"}, func(r data.Record) (data.Example, error) {
//		x, err := r.Image("image", 64, 64)
//		if err != nil {
//			return data.Example{}, err
//		}
//		label, err := r.Ints("label", 1)
//		if err != nil {
//			return data.Example{}, err
//		}
//		return data.Example{X: x, Class: label[0]}, nil
//	}, "daisy", "rose")
//	set, err = set.Reshape(3, 64, 64)
//
// Of an uncompressed file only the lengths of the records and their checksums are read immediately, so it may be
// larger than memory; it must not change while the data set is in use. The records of a compressed file are
// kept in memory. A file that is damaged or truncated is a [*FormatError] with the number of the record: now,
// or in an [*ExampleError] if only the data of a record are damaged. Tables of single values are read by frame.TFRecord.
func TFRecord(paths []string, example func(r Record) (Example, error), classes ...string) (*Dataset, error) {
	if len(paths) == 0 || example == nil {
		return nil, errors.New("data: TFRecord: there must be at least one path, and a function that returns the example of a record")
	}
	source := &tfrecords{example: example}
	for _, path := range paths {
		if err := source.open(path); err != nil {
			return nil, err
		}
	}
	if len(source.records) == 0 {
		return nil, fmt.Errorf("data: TFRecord: there are no records in %q", paths)
	}
	set, err := FromSource(source, classes...)
	if err != nil {
		return nil, err
	}
	return set.Named(paths[0]), nil
}

// tfrecords is a [Source] of records.
type tfrecords struct {
	files   []recordFile
	records []recordPlace
	example func(r Record) (Example, error)
}

type recordFile struct {
	path    string
	content io.ReaderAt // the file, which is closed when it is garbage collected, or the content of a compressed one
}

type recordPlace struct {
	file, number int // the number is from 0
	tfrecord.Place
}

func (s *tfrecords) open(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("data: %w", err)
	}
	f := recordFile{path, file}
	places, err := f.index(file)
	if err != nil || f.content != io.ReaderAt(file) {
		file.Close()
	}
	if err != nil {
		return recordError(path, err)
	}
	for n, p := range places {
		s.records = append(s.records, recordPlace{len(s.files), n, p})
	}
	s.files = append(s.files, f)
	return nil
}

// index finds the records of a file. It reads a compressed one into memory.
func (f *recordFile) index(file *os.File) ([]tfrecord.Place, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	size := info.Size()
	if !info.Mode().IsRegular() {
		return nil, &tfrecord.Error{Want: "a regular file", Got: info.Mode().Type().String()}
	}
	compressed, err := tfrecord.Compressed(file)
	if err != nil {
		return nil, err
	}
	if compressed {
		r, meter := withProgress(file, "reading "+f.path, size)
		defer meter.End()
		content, err := tfrecord.Content(r)
		if err != nil {
			return nil, err
		}
		f.content, size = bytes.NewReader(content), int64(len(content))
	}
	return tfrecord.Index(f.content, size)
}

func (s *tfrecords) Len() int          { return len(s.records) }
func (s *tfrecords) Path(i int) string { return s.files[s.records[i].file].path }

func (s *tfrecords) Example(i int) (Example, error) {
	p := s.records[i]
	f := s.files[p.file]
	data, err := tfrecord.Read(f.content, p.Place, p.number+1)
	if err != nil {
		return Example{}, recordError(f.path, err)
	}
	features, err := tfrecord.Parse(data, p.number+1)
	if err != nil {
		return Example{}, recordError(f.path, err)
	}
	return s.example(Record{path: f.path, number: p.number + 1, features: features})
}

// recordError returns an error of package tfrecord as a [*FormatError].
func recordError(path string, err error) error {
	if invalid, ok := errors.AsType[*tfrecord.Error](err); ok {
		return &FormatError{Format: "TFRecord", Path: path, Record: invalid.Record, Want: invalid.Want, Got: invalid.Got}
	}
	return fmt.Errorf("data: %s: %w", path, err)
}

// Record is a record of a TFRecord file: features with names, each a list of values of one type. Its methods
// fail with a [*FormatError] that names file and record.
type Record struct {
	path     string
	number   int
	features map[string]tfrecord.Feature
}

// Has reports whether the record has a feature with at least one value.
func (r Record) Has(name string) bool { return r.features[name].Len() > 0 }

// Floats returns the n values of a feature of type float_list; with n = -1 all, whatever their number.
func (r Record) Floats(name string, n int) ([]float32, error) {
	f, err := r.feature(name, tfrecord.Floats, n)
	return slices.Clone(f.Floats), err
}

// Ints returns the n values of a feature of type int64_list; with n = -1 all, whatever their number.
func (r Record) Ints(name string, n int) ([]int, error) {
	f, err := r.feature(name, tfrecord.Ints, n)
	if err != nil {
		return nil, err
	}
	values := make([]int, len(f.Ints))
	for i, v := range f.Ints {
		if v > math.MaxInt || v < math.MinInt {
			return nil, r.wrong(name, "integers in the range of int", fmt.Sprint(v))
		}
		values[i] = int(v)
	}
	return values, nil
}

// Bytes returns the n values of a feature of type bytes_list; with n = -1 all, whatever their number. They must
// not be changed.
func (r Record) Bytes(name string, n int) ([][]byte, error) {
	f, err := r.feature(name, tfrecord.Bytes, n)
	return f.Bytes, err
}

// Image decodes an image in one of the formats of [Images], the only value of a feature of type bytes_list,
// and scales it to height × width: three channels, one after the other, with values from 0 to 1.
func (r Record) Image(name string, height, width int) ([]float32, error) {
	if height < 1 || width < 1 || height > 1<<15 || width > 1<<15 {
		return nil, fmt.Errorf("data: Image: the size %d × %d must be positive, and at most %d", height, width, 1<<15)
	}
	encoded, err := r.Bytes(name, 1)
	if err != nil {
		return nil, err
	}
	decoded, err := decodeImage(bytes.NewReader(encoded[0]), int64(len(encoded[0])))
	if invalid, ok := errors.AsType[*FormatError](err); ok {
		return nil, r.wrong(name, invalid.Want, invalid.Got)
	}
	if err != nil {
		return nil, err
	}
	planes, _ := resample(opaque(decoded), height, width)
	x := make([]float32, len(planes))
	divide(x, planes, 255)
	return x, nil
}

func (r Record) feature(name string, kind tfrecord.Kind, n int) (tfrecord.Feature, error) {
	f, ok := r.features[name]
	switch {
	case !ok:
		return f, &FormatError{Format: "TFRecord", Path: r.path, Record: r.number, Want: fmt.Sprintf("the feature %q", name), Got: "a record without it"}
	case f.Kind != kind && f.Len() > 0:
		return tfrecord.Feature{}, r.wrong(name, kind.String(), f.Kind.String())
	case n >= 0 && f.Len() != n:
		return tfrecord.Feature{}, r.wrong(name, fmt.Sprintf("%d values", n), fmt.Sprint(f.Len()))
	}
	return f, nil
}

func (r Record) wrong(name, want, got string) error {
	return &FormatError{Format: "TFRecord", Path: r.path, Record: r.number, Want: fmt.Sprintf("%s in feature %q", want, name), Got: got}
}
