package tfrecord

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"slices"
	"testing"
)

// file returns a file with records.
func file(records ...[]byte) []byte {
	var b []byte
	for _, r := range records {
		head := binary.LittleEndian.AppendUint64(nil, uint64(len(r)))
		b = append(b, binary.LittleEndian.AppendUint32(head, MaskedCRC(head))...)
		b = append(b, r...)
		b = binary.LittleEndian.AppendUint32(b, MaskedCRC(r))
	}
	return b
}

// all reads all records.
func all(b []byte) (records [][]byte, err error) {
	content, err := Content(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	r := bytes.NewReader(content)
	places, err := Index(r, int64(len(content)))
	for i, p := range places {
		data, err := Read(r, p, i+1)
		if err != nil {
			return records, err
		}
		records = append(records, data)
	}
	return records, err
}

// Files of the Python package tfrecord; see testdata/make_tfrecord.py.
func TestGolden(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"testdata/examples.tfrecord", "testdata/examples.tfrecord.gz"} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		records, err := all(b)
		if err != nil || len(records) != 3 {
			t.Fatalf("%s: %d records, %v", name, len(records), err)
		}
		f, err := Parse(records[2], 3)
		if err != nil || !slices.Equal(f["tokens"].Ints, []int64{0, 1, 2}) || !slices.Equal(f["point"].Floats, []float32{0.25, -3}) || string(f["name"].Bytes[0]) != "b" || len(f) != 6 {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
		if f, err := Parse(records[0], 1); err != nil || f["id"].Ints[0] != -1<<62 {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
}

// Damaged, truncated and huge inputs are errors with the number of the record, and need no memory.
func TestDamage(t *testing.T) {
	t.Parallel()
	good := file([]byte("first"), []byte("second"))
	first := len(file([]byte("first")))
	huge := binary.LittleEndian.AppendUint64(nil, math.MaxUint64)
	huge = binary.LittleEndian.AppendUint32(huge, MaskedCRC(huge))
	large := binary.LittleEndian.AppendUint64(nil, 1<<50)
	large = append(binary.LittleEndian.AppendUint32(large, MaskedCRC(large)), "a few bytes"...)
	for name, c := range map[string]struct {
		b      []byte
		record int
	}{
		"text":         {[]byte("city,sold\nLima,3\n"), 1},
		"length":       {slices.Concat(good[:first], []byte{7}, good[first+1:]), 2},
		"huge length":  {huge, 1},
		"large length": {large, 1},
		"gzip":         {[]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 1},
	} {
		var invalid *Error
		if _, err := all(c.b); !errors.As(err, &invalid) || invalid.Record != c.record {
			t.Errorf("%s: %v", name, err)
		}
	}
	for n := 1; n < len(good); n++ {
		var invalid *Error
		records, err := all(good[:n])
		if n == first {
			if err != nil || len(records) != 1 {
				t.Errorf("one record: %v", err)
			}
			continue
		}
		if want := min(2, 1+n/first); !errors.As(err, &invalid) || invalid.Record != want {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	for i := range good { // each byte is part of something that has a checksum
		b := bytes.Clone(good)
		b[i] ^= 0x10
		if _, err := all(b); err == nil {
			t.Errorf("byte %d was changed, and no error", i)
		}
	}
	zipped, err := os.ReadFile("testdata/examples.tfrecord.gz")
	if err != nil {
		t.Fatal(err)
	}
	for n := 2; n < len(zipped); n++ {
		var invalid *Error
		if _, err := all(zipped[:n]); !errors.As(err, &invalid) || invalid.Record < 1 || invalid.Record > 4 {
			t.Errorf("%d of %d bytes of a compressed file: %v", n, len(zipped), err)
		}
	}
}

// A length may have the first bytes of a gzip file.
func TestLengthLikeGzip(t *testing.T) {
	t.Parallel()
	record := make([]byte, 0x8b1f)
	if records, err := all(file(record)); err != nil || len(records) != 1 || len(records[0]) != len(record) {
		t.Errorf("%d records, %v", len(records), err)
	}
}

// Values may be packed or not, and messages that are no tf.train.Example are errors.
func TestParse(t *testing.T) {
	t.Parallel()
	entry := func(feature string) string {
		message := "\x0a\x01a\x12" + string(rune(len(feature))) + feature
		message = "\x0a" + string(rune(len(message))) + message
		return "\x0a" + string(rune(len(message))) + message
	}
	for name, c := range map[string]struct {
		message string
		ints    []int64
		ok      bool
	}{
		"empty":             {"", nil, true},
		"packed":            {entry("\x1a\x04\x0a\x02\x05\x06"), []int64{5, 6}, true},
		"not packed":        {entry("\x1a\x04\x08\x05\x08\x06"), []int64{5, 6}, true},
		"no values":         {entry("\x1a\x00"), nil, true},
		"no list":           {entry(""), nil, true},
		"truncated":         {entry("\x1a\x04\x0a\x02\x05\x06")[:9], nil, false},
		"truncated value":   {entry("\x1a\x03\x0a\x01\x85"), nil, false},
		"a number as bytes": {entry("\x0a\x02\x08\x05"), nil, false},
		"another list":      {entry("\x22\x02\x08\x05"), nil, false},
		"sequence example":  {"\x12\x00", nil, false},
		"a number":          {"\x08\x01", nil, false},
		"text":              {"some text", nil, false},
	} {
		f, err := Parse([]byte(c.message), 4)
		var invalid *Error
		if (err == nil) != c.ok || err != nil && (!errors.As(err, &invalid) || invalid.Record != 4) || !slices.Equal(f["a"].Ints, c.ints) {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
}

// FuzzRead reads arbitrary files and messages.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"testdata/examples.tfrecord", "testdata/examples.tfrecord.gz"} {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, b[:40])
		records, err := all(b)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b[:100], records[1])
	}
	f.Fuzz(func(t *testing.T, b, message []byte) {
		records, err := all(b)
		if compressed, e := Compressed(bytes.NewReader(b)); e == nil && !compressed && err == nil && !bytes.Equal(file(records...), b) {
			t.Errorf("the file of the %d records that were read is another", len(records))
		}
		features, err := Parse(message, 1)
		if again, e := all(file(message)); e != nil || len(again) != 1 || !bytes.Equal(again[0], message) {
			t.Errorf("what is written is not read: %v", e)
		}
		for _, v := range features {
			if err == nil && v.Kind == None && v.Len() > 0 {
				t.Errorf("%+v", v)
			}
		}
	})
}
