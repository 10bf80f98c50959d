package data_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/data"
)

func write(t *testing.T, path string, b []byte) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCSV(t *testing.T) {
	table := "length,width,kind\n1.5, 2,rose\n3,-4,\"lily, white\"\n5,6e1,rose\n"
	set, err := data.ReadCSV(strings.NewReader(table), "kind")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(set.Classes(), []string{"lily, white", "rose"}) || set.Len() != 3 || set.Label(0) != 1 || set.Label(1) != 0 {
		t.Errorf("classes %q, labels %d %d", set.Classes(), set.Label(0), set.Label(1))
	}
	if x := set.Example(2); !slices.Equal(x, []float32{5, 60}) {
		t.Errorf("example %v", x)
	}
	// Numbers in any notation, classes as they are written.
	notations, err := data.ReadCSV(strings.NewReader("a;b;kind\n007;+.5e1;01\n12345678901234567890;0x1p-2;1\n"), "kind")
	if err != nil || !slices.Equal(notations.Example(0), []float32{7, 5}) || !slices.Equal(notations.Example(1), []float32{12345678901234567890, 0.25}) || !slices.Equal(notations.Classes(), []string{"01", "1"}) {
		t.Errorf("notations: %v, %v", notations, err)
	}
	path := write(t, filepath.Join(t.TempDir(), "a.csv"), []byte("y,x,z\n1,2,3\n4,5,6\n"))
	regression, err := data.CSVTargets(path, "z", "y")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(regression.Target(1), []float32{6, 4}) || !slices.Equal(regression.Example(1), []float32{5}) || regression.Name() != path {
		t.Errorf("%v: target %v of %v", regression, regression.Target(1), regression.Example(1))
	}
	numbers, err := data.ReadCSV(strings.NewReader("x,c\n1,10\n2,2\n3,1\n"), "c")
	if err != nil || !slices.Equal(numbers.Classes(), []string{"1", "2", "10"}) || numbers.Label(0) != 2 {
		t.Errorf("numbers as classes: %v, %v", numbers, err)
	}
	for name, tt := range map[string]struct{ in, want string }{
		"empty":              {"", "a first line"},
		"no column":          {"a,b\n1,2\n", `a column "kind"`},
		"no number":          {"a,kind\n1,x\nq,x\n", `CSV data, line 3, column "a": want a value of type float, got "q"`},
		"fields":             {"a,kind\n1\n", "line 2: want 2 fields, as in the first line, got 1"},
		"missing":            {"a,b,kind\n1,2,x\n3,,y\n", `line 3, column "b": want a value; fill it in, or leave out the line, got ""`},
		"NaN":                {"a,kind\n1,x\nNaN,y\n", `line 3, column "a": want a value`},
		"question":           {"a,kind\n1,x\n ? ,y\n", `line 3, column "a": want a value`},
		"infinite":           {"a,kind\nInf,x\n", `line 2, column "a": want a finite number`},
		"too large":          {"a,kind\n1e99,x\n", `line 2, column "a": want a finite number`},
		"no class":           {"a,kind\n1,x\n2,\n", `line 3, column "kind": want a value`},
		"after a blank line": {"a,kind\n1,x\n\n\"2\n3\",y\nNA,z\n", `line 4, column "a": want a value of type float`},
		"quote":              {"a,kind\n\"1,x\n", "line 2: want a quotation mark at the end of the field"},
		"words":              {"a,kind\n1,x\n2,-\n", `line 3, column "kind": want a value`},
		"no features":        {"kind\nx\n", `want a column of features, got only ["kind"]`},
		"two names":          {"a,a,kind\n1,2,x\n", `line 1: want another name for each column`},
		"no example":         {"a,kind\n", "want lines with examples below the names of the columns, got none"},
		"gzip":               {"\x1f\x8b\x08\x00\x00\x00", "want a whole file"},
		"UTF-16":             {"\xff\xfea\x00,\x00", "text in UTF-16: save it as UTF-8"},
		"bytes":              {"a\x00,\x00", `want a column "kind", got "a\x00, \x00"`},
	} {
		_, err := data.ReadCSV(strings.NewReader(tt.in), "kind")
		var format *data.FormatError
		if !errors.As(err, &format) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: want %q, got %v", name, tt.want, err)
		}
	}
	for in, want := range map[string]string{
		"y,x\n1,2\nNA,3\n": `line 3, column "y": want a value;`, "y,x\n1,2\nz,3\n": `line 3, column "y": want a value of type float`,
	} {
		if _, err := data.ReadCSVTargets(strings.NewReader(in), "y"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	if _, err := data.CSV(filepath.Join(t.TempDir(), "none.csv"), "kind"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// npy returns a file in NPY format, version 1.
func npy(descr, shape string, values any) []byte {
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, shape)
	header += strings.Repeat(" ", 63-(10+len(header))%64) + "\n"
	b := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), byte(len(header)>>8))
	var body bytes.Buffer
	if err := binary.Write(&body, binary.LittleEndian, values); err != nil {
		panic(err)
	}
	return append(append(b, header...), body.Bytes()...)
}

func TestNPY(t *testing.T) {
	for name, tt := range map[string]struct {
		in    []byte
		shape []int
		want  []float64
	}{
		"float32": {npy("<f4", "2, 2", []float32{1, -2.5, 3, 4}), []int{2, 2}, []float64{1, -2.5, 3, 4}},
		"float64": {npy("<f8", "3,", []float64{1, 0.5, -1}), []int{3}, []float64{1, 0.5, -1}},
		"int64":   {npy("<i8", "2,", []int64{-5, 1 << 30}), []int{2}, []float64{-5, 1 << 30}},
		"int32":   {npy("<i4", "1, 2", []int32{7, -7}), []int{1, 2}, []float64{7, -7}},
		"uint8":   {npy("|u1", "2,", []uint8{0, 255}), []int{2}, []float64{0, 255}},
		"int8":    {npy("|i1", "1,", []int8{-1}), []int{1}, []float64{-1}},
		"bool":    {npy("|b1", "2,", []uint8{1, 0}), []int{2}, []float64{1, 0}},
		"scalar":  {npy("<f4", "", []float32{9}), []int{}, []float64{9}},
		"none":    {npy("<f4", "0, 3", []float32{}), []int{0, 3}, []float64{}},
	} {
		got, err := data.ReadNPY(bytes.NewReader(tt.in))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !slices.Equal(got.Shape(), tt.shape) || !slices.Equal(got.Float64s(), tt.want) {
			t.Errorf("%s: %v", name, got)
		}
	}
	good := npy("<f4", "2, 2", []float32{1, 2, 3, 4})
	for name, in := range map[string][]byte{
		"empty": nil, "magic": []byte("PK\x03\x04 and so on and on"), "short": good[:len(good)-1], "long": append(slices.Clone(good), 0),
		"fortran": bytes.Replace(good, []byte("False"), []byte("True "), 1), "complex": npy("<c8", "1,", []float32{1, 2}),
		"big-endian": npy(">f4", "1,", []float32{1}), "wide": npy("<i8", "1,", []int64{1 << 40}), "header": good[:30],
		"version": append([]byte("\x93NUMPY\x09"), good[7:]...), "shape": bytes.Replace(good, []byte("2, 2"), []byte("2,-2"), 1),
		"huge": npy("<f4", "999999999999, 999999999999", []float32{}),
	} {
		var format *data.FormatError
		if _, err := data.ReadNPY(bytes.NewReader(in)); !errors.As(err, &format) {
			t.Errorf("%s: want a FormatError, got %v", name, err)
		}
	}
	folder := t.TempDir()
	x := write(t, filepath.Join(folder, "x.npy"), good)
	set, err := data.NPY(x, write(t, filepath.Join(folder, "y.npy"), npy("<i8", "2,", []int64{1, 0})))
	if err != nil || set.Len() != 2 || set.Label(0) != 1 || set.Example(1)[0] != 3 {
		t.Errorf("%v, %v", set, err)
	}
	if _, err := data.NPY(x, x+".no"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no labels: %v", err)
	}
}

// TestOpenNPY compares mapped files of each element type with NPY.
func TestOpenNPY(t *testing.T) {
	folder := t.TempDir()
	long := make([]float32, 3*5000) // more than one block per example
	for i := range long {
		long[i] = float32(i) / 7
	}
	labels := write(t, filepath.Join(folder, "y.npy"), npy("|u1", "3,", []uint8{2, 0, 1}))
	targets := write(t, filepath.Join(folder, "targets.npy"), npy("<f8", "3, 1", []float64{0.5, 1, 2}))
	for name, in := range map[string][]byte{
		"float32": npy("<f4", "3, 2500, 2", long), "float64": npy("<f8", "3, 2", []float64{1, 0.1, 3, 4, 5, 6}),
		"int64": npy("<i8", "3, 1", []int64{-1, 1 << 20, 3}), "int32": npy("<i4", "3,", []int32{7, -7, 1}),
		"uint8": npy("|u1", "3, 2, 2", []uint8{0, 255, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}), "int8": npy("|i1", "3,", []int8{-1, 0, 1}),
	} {
		path := write(t, filepath.Join(folder, name), in)
		for _, y := range []string{labels, targets} {
			want, err := data.NPY(path, y)
			if err != nil {
				t.Fatal(err)
			}
			got, err := data.OpenNPY(path, y)
			if err != nil {
				t.Fatal(err)
			}
			if got.Len() != 3 || !slices.Equal(got.Shape(), want.Shape()) || got.Name() != path || got.Targets() != want.Targets() || got.InMemory() || !want.InMemory() {
				t.Errorf("%s: %v, want %v", name, got, want)
			}
			for i := range 3 {
				if !slices.Equal(got.Example(i), want.Example(i)) || got.Label(i) != want.Label(i) || !slices.Equal(got.Target(i), want.Target(i)) {
					t.Errorf("%s: example %d is another", name, i)
				}
			}
			b, err := got.Tensors()
			if err != nil || b.Len() != 3 {
				t.Errorf("%s: %v, %v", name, b, err)
			}
		}
	}
	bad := write(t, filepath.Join(folder, "bad"), npy("<f4", "3, 2", []float32{1, 2, 3}))
	var format *data.FormatError
	if _, err := data.OpenNPY(bad, labels); !errors.As(err, &format) || format.Path != bad {
		t.Errorf("a file that is too short: %v", err)
	}
	if _, err := data.OpenNPY(targets, write(t, filepath.Join(folder, "two"), npy("|u1", "2,", []uint8{0, 1}))); err == nil || !strings.Contains(err.Error(), "number of examples") {
		t.Errorf("two labels for three examples: %v", err)
	}
	if _, err := data.OpenNPY(bad+".no", labels); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func FuzzReadNPY(f *testing.F) {
	f.Add(npy("<f4", "2, 2", []float32{1, 2, 3, 4}))
	f.Add(npy("|u1", "3,", []uint8{1, 2, 3}))
	f.Add([]byte("\x93NUMPY\x02\x00\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, in []byte) {
		got, err := data.ReadNPY(bytes.NewReader(in))
		if err == nil && got.Numel() > len(in) {
			t.Errorf("%d elements of %d bytes", got.Numel(), len(in))
		}
	})
}

// idxFile returns a file in IDX format.
func idxFile(values []byte, shape ...int) []byte {
	b := []byte{0, 0, 8, byte(len(shape))}
	for _, d := range shape {
		b = binary.BigEndian.AppendUint32(b, uint32(d))
	}
	return append(b, values...)
}

func TestOpenIDX(t *testing.T) {
	folder := t.TempDir()
	pixels := make([]byte, 3*100*100)
	for i := range pixels {
		pixels[i] = byte(i * 7)
	}
	images := write(t, filepath.Join(folder, "images"), idxFile(pixels, 3, 100, 100))
	labels := write(t, filepath.Join(folder, "labels"), idxFile([]byte{2, 0, 1}, 3))
	set, err := data.OpenIDX(images, labels)
	if err != nil {
		t.Fatal(err)
	}
	if set.Len() != 3 || !slices.Equal(set.Shape(), []int{1, 100, 100}) || len(set.Classes()) != 3 || set.Label(0) != 2 {
		t.Errorf("%v", set)
	}
	b, err := set.Tensors()
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range b.X.Data() {
		if want := float32(pixels[i]) / 255; v != want {
			t.Fatalf("pixel %d: want %v, got %v", i, want, v)
		}
	}
	for name, bad := range map[string][2]string{
		"labels":   {images, images},
		"count":    {images, write(t, filepath.Join(folder, "two"), idxFile([]byte{0, 1}, 2))},
		"short":    {write(t, filepath.Join(folder, "short"), idxFile(pixels[1:], 3, 100, 100)), labels},
		"empty":    {write(t, filepath.Join(folder, "empty"), nil), labels},
		"text":     {write(t, filepath.Join(folder, "text"), []byte("hello world")), labels},
		"vectors":  {labels, labels},
		"floats":   {write(t, filepath.Join(folder, "floats"), append([]byte{0, 0, 13, 1}, 0, 0, 0, 0)), labels},
		"overflow": {write(t, filepath.Join(folder, "big"), idxFile(nil, math.MaxInt32, math.MaxInt32, math.MaxInt32)), labels},
	} {
		var format *data.FormatError
		if _, err := data.OpenIDX(bad[0], bad[1]); !errors.As(err, &format) {
			t.Errorf("%s: want a FormatError, got %v", name, err)
		}
	}
	if _, err := data.OpenIDX(filepath.Join(folder, "none"), labels); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// painted returns a PNG image of one color.
func painted(t *testing.T, c color.Color) []byte {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, 4, 4))
	for i := range 16 {
		m.Set(i%4, i/4, c)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestImages(t *testing.T) {
	folder := t.TempDir()
	write(t, filepath.Join(folder, "b", "1.png"), painted(t, color.RGBA{255, 0, 51, 255}))
	write(t, filepath.Join(folder, "a", "1.PNG"), painted(t, color.Gray{102}))
	write(t, filepath.Join(folder, "a", "notes.txt"), []byte("no picture"))
	write(t, filepath.Join(folder, ".hidden", "1.png"), painted(t, color.Black))
	set, err := data.Images(folder, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	if set.Len() != 2 || !slices.Equal(set.Classes(), []string{"a", "b"}) || !slices.Equal(set.Shape(), []int{3, 2, 3}) {
		t.Fatalf("%v", set)
	}
	if x := set.Example(1); x[0] != 1 || x[6] != 0 || x[12] != 0.2 {
		t.Errorf("the red picture is %v", x)
	}
	if err := os.RemoveAll(filepath.Join(folder, "b")); err != nil {
		t.Fatal(err)
	}
	gray, err := data.Images(folder, 4, 4)
	if err != nil || !slices.Equal(gray.Shape(), []int{1, 4, 4}) || gray.Example(0)[15] != 0.4 {
		t.Errorf("%v, %v", gray, err)
	}
	broken := write(t, filepath.Join(folder, "a", "2.png"), []byte("nonsense"))
	var format *data.FormatError
	if _, err := data.Images(folder, 4, 4); !errors.As(err, &format) || format.Path != broken {
		t.Errorf("a file that is no picture: %v", err)
	}
	if _, err := data.Images(t.TempDir(), 4, 4); err == nil {
		t.Error("an empty folder is taken")
	}
	if _, err := data.Images(folder, 0, 4); err == nil {
		t.Error("no height is taken")
	}
}
