package frame_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/accel/frame"
)

// written is a format that frames are written in and read from.
type written struct {
	name   string
	format func(*frame.Frame, io.Writer) error
	write  func(*frame.Frame, string) error
	read   func(path string, columns ...string) (*frame.Frame, error)
}

var formats = []written{
	{"parquet", (*frame.Frame).FormatParquet, (*frame.Frame).WriteParquet, frame.Parquet},
	{"arrow", (*frame.Frame).FormatArrow, (*frame.Frame).WriteArrow, frame.Arrow},
}

var leap = time.Date(2024, 2, 29, 13, 14, 15, 123456789, time.UTC)

// everything is a frame of all types with missing values, whose columns are not in the order of their names.
func everything() *frame.Frame {
	missing := frame.New(frame.Ints("i", math.MinInt, 0, math.MaxInt), frame.Bools("b", true, false, true), frame.Texts("s", "é,\n", "", "\x00"))
	missing = missing.Join(frame.Outer, frame.New(frame.Ints("i", 7)), "i")
	return frame.New(
		frame.Texts("z.last", "a", "b", "c", "d"), missing.Column("i"), missing.Column("b"), missing.Column("s"),
		frame.Floats("f", 0.1, math.NaN(), math.Inf(-1), math.SmallestNonzeroFloat64),
		frame.Times("t", leap, time.Time{}, time.Unix(-1, 5), time.Date(2262, 1, 1, 0, 0, 0, 0, time.UTC)),
		frame.Times("far", time.Date(1, 1, 1, 0, 0, 0, 1000, time.UTC), time.Time{}, time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC), leap.Truncate(time.Microsecond)),
	)
}

// What is written is read again: all types, missing values, several batches, and frames without rows.
func TestWriteAndRead(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	long := make([]float64, 200_001)
	texts := make([]string, len(long))
	for i := range long {
		if long[i] = random.NormFloat64(); i%7 == 0 {
			long[i] = math.NaN()
		}
		texts[i] = strings.Repeat("ab", random.IntN(4))
	}
	all := everything()
	var many []frame.Column
	for k := range 300 {
		many = append(many, frame.Ints(fmt.Sprint("c", k), k, -k))
	}
	for name, f := range map[string]*frame.Frame{
		"all types":    all,
		"some rows":    all.Head(2),
		"no rows":      all.Head(0),
		"many batches": frame.New(frame.Floats("x", long...), frame.Texts("s", texts...)),
		"many columns": frame.New(many...),
		"all missing":  frame.New(frame.Floats("x", math.NaN(), math.NaN()), frame.Times("t", time.Time{}, time.Time{})),
	} {
		for _, format := range formats {
			path := filepath.Join(t.TempDir(), "table")
			if err := format.write(f, path); err != nil {
				t.Errorf("%s, %s: %v", format.name, name, err)
				continue
			}
			got, err := format.read(path)
			if err != nil {
				t.Errorf("%s, %s: %v", format.name, name, err)
				continue
			}
			compareFrames(t, format.name+", "+name, got, f)
		}
	}
	empty := frame.New()
	path := filepath.Join(t.TempDir(), "table")
	if err := empty.WriteArrow(path); err != nil {
		t.Fatal(err)
	}
	if got, err := frame.Arrow(path); err != nil || got.Len() != 0 || len(got.Columns()) != 0 {
		t.Errorf("no columns: %v, %v", got, err)
	}
}

// compareFrames compares names, types and all values.
func compareFrames(t *testing.T, what string, got, want *frame.Frame) {
	t.Helper()
	if fmt.Sprint(got.Columns()) != fmt.Sprint(want.Columns()) || got.Len() != want.Len() {
		t.Errorf("%s: got %d rows of %v, want %d of %v", what, got.Len(), got.Columns(), want.Len(), want.Columns())
		return
	}
	for _, name := range want.Columns() {
		g, w := got.Column(name), want.Column(name)
		if g.Type() != w.Type() {
			t.Errorf("%s, %s: got %v, want %v", what, name, g.Type(), w.Type())
		}
		for i := range w.Len() {
			if g.Missing(i) != w.Missing(i) || g.Format(i) != w.Format(i) {
				t.Errorf("%s, %s, row %d: got %q, want %q", what, name, i, g.Format(i), w.Format(i))
				break
			}
		}
	}
}

// The file that pyarrow 26.0.1 reads with these values, and without a finding of its check:
//
//	import pyarrow.feather as feather
//	table = feather.read_table("testdata/files/written.arrow")
//	table.validate(full=True)
//	print(table.to_pandas(timestamp_as_object=True))
func TestWriteArrowAsPyarrowReadsIt(t *testing.T) {
	t.Parallel()
	want, err := os.ReadFile("testdata/files/written.arrow")
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := everything().FormatArrow(&got); err != nil || !bytes.Equal(got.Bytes(), want) {
		t.Errorf("the file has other bytes (%v): read it with pyarrow, and replace it", err)
	}
}

// Times in other zones are the same instants.
func TestWriteZones(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("+02", 7200)
	f := frame.New(frame.Times("t", leap.In(zone)))
	for _, format := range formats {
		path := filepath.Join(t.TempDir(), "table")
		if err := format.write(f, path); err != nil {
			t.Fatal(err)
		}
		got, err := format.read(path)
		if err != nil || !got.Column("t").Times()[0].Equal(leap) || got.Column("t").Times()[0].Location() != time.UTC {
			t.Errorf("%s: %v, %v", format.name, got, err)
		}
	}
}

// full is a disk without space.
type full struct{ left int }

var errFull = errors.New("no space left on device")

func (f *full) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

// What cannot be written is an error that names the column, and an old file stays as it is.
func TestWriteErrors(t *testing.T) {
	t.Parallel()
	for _, format := range formats {
		path := filepath.Join(t.TempDir(), "table")
		if err := os.WriteFile(path, []byte("before"), 0o600); err != nil {
			t.Fatal(err)
		}
		for name, column := range map[string]frame.Column{
			"text":  frame.Texts("c", "a", "\xff"),
			"time":  frame.Times("c", time.Date(1, 1, 1, 0, 0, 0, 1001, time.UTC)),
			"mixed": frame.Times("c", time.Date(1500, 1, 1, 0, 0, 0, 0, time.UTC), leap),
		} {
			var invalid *frame.FileError
			err := format.write(frame.New(column), path)
			if !errors.As(err, &invalid) || invalid.Column != "c" || invalid.Path != path {
				t.Errorf("%s, %s: %v", format.name, name, err)
			}
			if b, err := os.ReadFile(path); err != nil || string(b) != "before" {
				t.Errorf("%s, %s: the file has %q, %v", format.name, name, b, err)
			}
		}
		var whole bytes.Buffer
		if err := format.format(everything(), &whole); err != nil {
			t.Fatal(err)
		}
		for n := 0; n < whole.Len(); n += 13 {
			if err := format.format(everything(), &full{n}); !errors.Is(err, errFull) {
				t.Fatalf("%s: %d of %d bytes were written: %v", format.name, n, whole.Len(), err)
			}
		}
		if err := format.write(everything(), filepath.Join(path, "below a file")); err == nil {
			t.Errorf("%s: a file below a file", format.name)
		}
	}
	var invalid *frame.FileError
	if err := frame.New().FormatParquet(io.Discard); !errors.As(err, &invalid) {
		t.Errorf("no columns: %v", err)
	}
}

func ExampleFrame_WriteParquet() {
	folder, err := os.MkdirTemp("", "frame")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "cities.parquet")
	cities := frame.New(frame.Texts("city", "Lima", "Oslo"), frame.Floats("height", 161, math.NaN()))
	if err := cities.WriteParquet(path); err != nil {
		fmt.Println(err)
		return
	}
	again, err := frame.Parquet(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(again.Column("height"))
	// Output: height: 2 values of type float, 1 missing
}
