package nn

import (
	"encoding/binary"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"
)

// file is a safetensors file with this header and body.
func file(header, body string) []byte {
	return append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header+body...)
}

func TestDecodeSafetensors(t *testing.T) {
	tests := []struct {
		name    string
		in      []byte
		wantErr string
	}{
		{"whole", file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"__metadata__":{"x":"y"}}`, "12345678"), ""},
		{"scalar", file(`{"a":{"dtype":"BF16","shape":[],"data_offsets":[0,2]}} `, "12"), ""},
		{"none", file(`{}`, ""), ""},
		{"short", []byte("1234567"), "at least 8 bytes"},
		{"header cut", file(`{}`, "")[:9], "want a header of 2 bytes, got 1 bytes"},
		{"huge header", binary.LittleEndian.AppendUint64(nil, math.MaxUint64), "want a header of"},
		{"no JSON", file(`hello`, ""), "the header is not JSON"},
		{"no entry", file(`{"a":3}`, ""), `tensor "a"`},
		{"integers", file(`{"a":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}}`, "12345678"), "its elements are I64"},
		{"no shape", file(`{"a":{"dtype":"F32","data_offsets":[0,4]}}`, "1234"), "it has no shape"},
		{"negative", file(`{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}`, "1234"), "shape [-1]"},
		{"overflow", file(`{"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}}`, "1234"), "does not fit"},
		{"other size", file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}`, "1234"), "does not fit its bytes 0 to 4 of 4"},
		{"past the end", file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`, "1234"), "does not fit its bytes"},
		{"backwards", file(`{"a":{"dtype":"F32","shape":[0],"data_offsets":[4,0]}}`, "1234"), "does not fit its bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := decodeSafetensors(tt.in)
			if tt.wantErr == "" && err != nil || tt.wantErr != "" && (err == nil || !strings.Contains(err.Error(), tt.wantErr)) {
				t.Errorf("want an error with %q\n got  %v", tt.wantErr, err)
			}
		})
	}
}

func TestHalf(t *testing.T) {
	for bits, want := range map[uint16]float32{
		0x0000: 0, 0x3c00: 1, 0xc000: -2, 0x7bff: 65504, 0x3555: 0.33325195,
		0x0001: 1.0 / (1 << 24), 0x03ff: 1023.0 / (1 << 24), 0x0400: 1.0 / (1 << 14),
		0x7c00: float32(math.Inf(1)), 0xfc00: float32(math.Inf(-1)),
	} {
		if got := half(bits); got != want {
			t.Errorf("half(%#04x): want %v, got %v", bits, want, got)
		}
	}
	if v := half(0x7e00); v == v {
		t.Errorf("NaN became %v", v)
	}
	if v := half(0x8000); v != 0 || !math.Signbit(float64(v)) {
		t.Errorf("-0 became %v", v)
	}
}

// FuzzDecodeSafetensors demands that what is read can be written and read
// again.
func FuzzDecodeSafetensors(f *testing.F) {
	f.Add(file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, "12345678"))
	f.Add(file(`{"a":{"dtype":"F16","shape":[2,1],"data_offsets":[0,4]}}`, "1234"))
	whole, err := os.ReadFile("../testdata/weights.safetensors")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Fuzz(func(t *testing.T, in []byte) {
		tensors, notes, err := decodeSafetensors(in)
		if err != nil {
			return
		}
		b, err := encodeSafetensors(tensors, notes)
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := decodeSafetensors(b)
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range tensors {
			got := again[name]
			if len(got.shape) != len(want.shape) || !reflect.DeepEqual(bits(got.data), bits(want.data)) {
				t.Fatalf("%q: want %v, got %v", name, want, got)
			}
		}
		if len(again) != len(tensors) {
			t.Fatalf("%d tensors became %d", len(tensors), len(again))
		}
	})
}

func bits(v []float32) []uint32 {
	b := make([]uint32, len(v))
	for i := range v {
		b[i] = math.Float32bits(v[i])
	}
	return b
}
