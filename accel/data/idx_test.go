package data

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"
)

// idxBytes returns an IDX file with the given header and data.
func idxBytes(kind byte, shape []uint32, data []byte) []byte {
	b := []byte{0, 0, kind, byte(len(shape))}
	for _, d := range shape {
		b = binary.BigEndian.AppendUint32(b, d)
	}
	return append(b, data...)
}

func TestReadIDX(t *testing.T) {
	six := []byte{1, 2, 3, 4, 5, 6}
	tests := []struct {
		name    string
		in      []byte
		shape   []int
		wantErr string // part of the error; empty for success
	}{
		{"matrix", idxBytes(8, []uint32{2, 3}, six), []int{2, 3}, ""},
		{"vector", idxBytes(8, []uint32{6}, six), []int{6}, ""},
		{"no elements", idxBytes(8, []uint32{0, 28}, nil), []int{0, 28}, ""},
		{"empty", nil, nil, "want a header of 4 bytes, got 0 bytes"},
		{"short header", []byte{0, 0, 8}, nil, "got 3 bytes"},
		{"not IDX", []byte("\x89PNG and more"), nil, "two zero bytes, got 89 50"},
		{"floats", idxBytes(13, []uint32{6}, six), nil, "type 0x0d"},
		{"no dimension", idxBytes(8, nil, six), nil, "1 to 8 dimensions, got 0"},
		{"dimensions cut", idxBytes(8, []uint32{2, 3}, nil)[:9], nil, "2 dimensions of 4 bytes, got 5 bytes"},
		{"truncated", idxBytes(8, []uint32{2, 3}, six[:5]), nil, "want 6 elements for shape [2 3], got 5"},
		{"too long", idxBytes(8, []uint32{2, 2}, six), nil, "the end after 4 elements, got more bytes"},
		{"overflow", idxBytes(8, []uint32{1 << 20, 1 << 20}, nil), nil, "fewer than 2 GiB"},
		{"huge claim", idxBytes(8, []uint32{1 << 30}, six), nil, "got 6"},
		{"negative as unsigned", idxBytes(8, []uint32{0xffffffff}, six), nil, "fewer than 2 GiB"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, err := ReadIDX(bytes.NewReader(tt.in))
			if tt.wantErr == "" {
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(a.Shape, tt.shape) {
					t.Errorf("shape\n want %v\n got  %v", tt.shape, a.Shape)
				}
				if !bytes.Equal(a.Data, tt.in[4+4*len(tt.shape):]) {
					t.Errorf("data %v", a.Data)
				}
				return
			}
			var format *FormatError
			if !errors.As(err, &format) || !strings.Contains(err.Error(), tt.wantErr) {
				t.Errorf("error\n want a FormatError with %q\n got  %v", tt.wantErr, err)
			}
		})
	}
}

// FuzzReadIDX checks that an array has as many elements as its header says, and that writing it
// gives the same bytes.
func FuzzReadIDX(f *testing.F) {
	f.Add(idxBytes(8, []uint32{2, 3}, []byte{1, 2, 3, 4, 5, 6}))
	f.Add(idxBytes(8, []uint32{1 << 30, 1 << 30}, nil))
	f.Add(idxBytes(8, []uint32{0, 5}, nil))
	f.Add([]byte{0, 0, 8, 255, 1})
	f.Fuzz(func(t *testing.T, in []byte) {
		a, err := ReadIDX(bytes.NewReader(in))
		if err != nil {
			return
		}
		shape := make([]uint32, len(a.Shape))
		elements := 1
		for i, d := range a.Shape {
			shape[i] = uint32(d)
			elements *= d
		}
		if len(a.Data) != elements {
			t.Fatalf("shape %v with %d elements", a.Shape, len(a.Data))
		}
		if !bytes.Equal(idxBytes(8, shape, a.Data), in) {
			t.Fatal("writing what was read gives another file")
		}
	})
}
