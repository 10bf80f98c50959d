package nn

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/tensor"
)

// file returns a safetensors file with this header and body.
func file(header, body string) []byte {
	return append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header+body...)
}

// decode reads a complete file from memory.
func decode(b []byte) (map[string]*Tensor, map[string]string, error) {
	h, err := readHeader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, nil, err
	}
	f := &File{path: "memory", data: bytes.NewReader(b), header: h}
	tensors := map[string]*Tensor{}
	for _, name := range f.Names() {
		if tensors[name], err = f.Tensor(name); err != nil {
			return nil, nil, err
		}
	}
	return tensors, f.Metadata(), nil
}

func TestDecodeSafetensors(t *testing.T) {
	two := func(dtype, first, second string) []byte {
		return file(fmt.Sprintf(`{"a":{"dtype":%q,"shape":[2],"data_offsets":%s},"b":{"dtype":"F32","shape":[1],"data_offsets":%s}}`, dtype, first, second), "123456789012")
	}
	tests := []struct {
		name    string
		in      []byte
		wantErr string
	}{
		{"whole", file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"__metadata__":{"x":"y"}}`, "12345678"), ""},
		{"scalar", file(`{"a":{"dtype":"BF16","shape":[],"data_offsets":[0,2]}} `, "12"), ""},
		{"integers", file(`{"a":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}}`, "12345678"), ""},
		{"empty tensor", file(`{"a":{"dtype":"F32","shape":[0,7],"data_offsets":[0,0]}}`, ""), ""},
		{"empty and huge", file(`{"a":{"dtype":"F32","shape":[4611686018427387904,4,0],"data_offsets":[0,0]}}`, ""), ""},
		{"two", two("F32", "[0,8]", "[8,12]"), ""},
		{"two the other way round", two("F32", "[4,12]", "[0,4]"), ""},
		{"none", file(`{}`, ""), ""},
		{"short", []byte("1234567"), "has at least 8"},
		{"nothing", nil, "has 0 bytes"},
		{"header cut", file(`{}`, "")[:9], "should have 2 bytes, but only 1 bytes follow"},
		{"huge header", binary.LittleEndian.AppendUint64(nil, math.MaxUint64), "the header should have"},
		{"header of 2⁶³ bytes", append(binary.LittleEndian.AppendUint64(nil, 1<<63), "{}"...), "the header should have"},
		{"no JSON", file(`hello`, ""), "the header is not JSON"},
		{"empty header", file(``, ""), "the header is not JSON"},
		{"a list", file(`[1]`, ""), "the header is not a JSON object, but starts with ["},
		{"cut JSON", file(`{"a":{"dtype":"F32"`, ""), `tensor "a"`},
		{"two objects", file(`{}{}`, ""), "more than one JSON object"},
		{"no entry", file(`{"a":3}`, ""), `tensor "a"`},
		{"twice", file(`{"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}`, ""), `tensor "a" occurs twice`},
		{"metadata of numbers", file(`{"__metadata__":{"x":1}}`, ""), "the metadata is not an object of strings"},
		{"unknown type", file(`{"a":{"dtype":"F31","shape":[1],"data_offsets":[0,4]}}`, "1234"), `unknown element type "F31"`},
		{"type that is not here", file(`{"a":{"dtype":"U16","shape":[1],"data_offsets":[0,2]}}`, "12"), "element type U16 is not supported"},
		{"wrong type", two("F16", "[0,8]", "[8,12]"), "shape [2] of type F16 does not match the byte range 0 to 8 of 12"},
		{"no shape", file(`{"a":{"dtype":"F32","data_offsets":[0,4]}}`, "1234"), "the shape is missing"},
		{"negative", file(`{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}`, "1234"), "shape [-1]"},
		{"overflow", file(`{"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}}`, "1234"), "does not fit"},
		{"other size", file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}`, "1234"), "does not fit"},
		{"past the end", file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`, "1234"), "does not match the byte range"},
		{"backwards", file(`{"a":{"dtype":"F32","shape":[0],"data_offsets":[4,0]}}`, "1234"), "does not match the byte range"},
		{"negative offset", file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[-4,0]}}`, "1234"), "does not match the byte range"},
		{"overlap", two("F32", "[0,8]", "[4,8]"), `tensor "b": the byte range 4 to 8 overlaps with another tensor`},
		{"the same bytes", two("F16", "[0,4]", "[0,4]"), "overlaps with another tensor"},
		{"hole", two("F16", "[0,4]", "[8,12]"), "bytes 4 to 8 belong to no tensor"},
		{"hole at the end", file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, "12345"), "bytes 4 to 5 belong to no tensor"},
		{"truncated", file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, "1234567"), "does not fit"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := decode(tt.in)
			if tt.wantErr == "" && err != nil || tt.wantErr != "" && (err == nil || !strings.Contains(err.Error(), tt.wantErr)) {
				t.Errorf("want an error with %q\n got  %v", tt.wantErr, err)
			}
		})
	}
}

// TestEveryTypeInAFile writes each element type and reads it back bit for bit, one tensor at a
// time.
func TestEveryTypeInAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "all.safetensors")
	tensors := map[string]*Tensor{"empty": tensor.Zeros(0, 3), "scalar": tensor.Full(2.5)}
	values := tensor.FromFloat64s([]float64{0, 1, 3, 200, 1.0 / 3, 1e-5}, 2, 3)
	for name, d := range elements {
		tensors[name] = values.Cast(d)
	}
	tensors["NaN"] = tensor.New([]float32{float32(math.NaN()), float32(math.Inf(-1)), float32(math.Copysign(0, -1))}, 3)
	if err := SaveTensors(path, tensors, map[string]string{"note": "ü"}); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(f.Names(), slices.Sorted(maps.Keys(tensors))) || f.Metadata()["note"] != "ü" {
		t.Errorf("names %v, notes %v", f.Names(), f.Metadata())
	}
	for name, want := range tensors {
		got, err := f.Tensor(name)
		if err != nil {
			t.Fatal(err)
		}
		if got.DType() != want.DType() || !slices.Equal(got.Shape(), want.Shape()) || !slices.Equal(f.Shape(name), want.Shape()) || !bytes.Equal(got.Raw(), want.Raw()) {
			t.Errorf("%s: want %v\n got %v", name, want, got)
		}
	}
	if _, err := f.Tensor("none"); err == nil || !strings.Contains(err.Error(), `there is no tensor "none"`) {
		t.Errorf("%v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 200); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a file that was cut: %v", err)
	}
}

// FuzzDecodeSafetensors requires that everything that can be read can be written and read
// again.
func FuzzDecodeSafetensors(f *testing.F) {
	f.Add(file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, "12345678"))
	f.Add(file(`{"a":{"dtype":"F16","shape":[2,1],"data_offsets":[0,4]}}`, "1234"))
	f.Add(file(`{"a":{"dtype":"BOOL","shape":[2],"data_offsets":[4,6]},"b":{"dtype":"I32","shape":[],"data_offsets":[0,4]}}`, "1234\x00\x01"))
	f.Add(file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}}`, "123456"))
	f.Add(binary.LittleEndian.AppendUint64(nil, math.MaxUint64))
	whole, err := os.ReadFile("../testdata/weights.safetensors")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:len(whole)-1])
	f.Fuzz(func(t *testing.T, in []byte) {
		tensors, notes, err := decode(in)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := WriteTensors(&b, tensors, notes); err != nil {
			t.Fatal(err)
		}
		again, _, err := decode(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range tensors {
			got := again[name]
			if got == nil || got.DType() != want.DType() || !slices.Equal(got.Shape(), want.Shape()) || !bytes.Equal(got.Raw(), want.Raw()) {
				t.Fatalf("%q: want %v, got %v", name, want, got)
			}
		}
		if len(again) != len(tensors) {
			t.Fatalf("%d tensors became %d", len(tensors), len(again))
		}
	})
}
