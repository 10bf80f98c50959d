package nn

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// stored is a tensor as a file has it.
type stored struct {
	shape []int
	data  []float32
}

// entry is a tensor in the header of a safetensors file:
// https://github.com/huggingface/safetensors#format.
type entry struct {
	DType   string `json:"dtype"`
	Shape   []int  `json:"shape"`
	Offsets [2]int `json:"data_offsets"` // in the bytes behind the header
}

const (
	metadataKey = "__metadata__"
	maxHeader   = 100 << 20 // the limit of the format's own readers
)

// encodeSafetensors writes float32 tensors in the order of their names, and
// notes as the metadata.
func encodeSafetensors(tensors map[string]stored, notes map[string]string) ([]byte, error) {
	names := make([]string, 0, len(tensors))
	for name := range tensors {
		if name == metadataKey {
			return nil, fmt.Errorf("a tensor cannot be named %s", name)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	metadata := map[string]string{"format": "pt"}
	maps.Copy(metadata, notes)
	header := map[string]any{metadataKey: metadata}
	end := 0
	for _, name := range names {
		t := tensors[name]
		begin := end
		end += 4 * len(t.data)
		header[name] = entry{"F32", append([]int{}, t.shape...), [2]int{begin, end}}
	}
	text, err := json.Marshal(header)
	if err != nil {
		return nil, err
	}
	// The numbers begin at a multiple of eight bytes, for readers that map files.
	text = append(text, strings.Repeat(" ", (8-len(text)%8)%8)...)
	b := make([]byte, 0, 8+len(text)+end)
	b = append(binary.LittleEndian.AppendUint64(b, uint64(len(text))), text...)
	for _, name := range names {
		for _, v := range tensors[name].data {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		}
	}
	return b, nil
}

// decodeSafetensors reads tensors of floats, which become float32, and the
// metadata.
func decodeSafetensors(b []byte) (tensors map[string]stored, notes map[string]string, err error) {
	if len(b) < 8 {
		return nil, nil, fmt.Errorf("want a header of at least 8 bytes, got %d bytes", len(b))
	}
	size := binary.LittleEndian.Uint64(b)
	if size > maxHeader || size > uint64(len(b)-8) {
		return nil, nil, fmt.Errorf("want a header of %d bytes, got %d bytes", size, len(b)-8)
	}
	text, body := b[8:8+size], b[8+size:]
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		return nil, nil, fmt.Errorf("the header is not JSON: %w", err)
	}
	tensors = make(map[string]stored, len(raw))
	for name, value := range raw {
		if name == metadataKey {
			if err := json.Unmarshal(value, &notes); err != nil {
				return nil, nil, fmt.Errorf("the metadata is not text by name: %w", err)
			}
			continue
		}
		if strings.HasSuffix(name, ".num_batches_tracked") {
			continue // a count of PyTorch's BatchNorm, on which nothing here depends
		}
		var e entry
		if err := json.Unmarshal(value, &e); err != nil {
			return nil, nil, fmt.Errorf("tensor %q: %w", name, err)
		}
		t, err := e.read(body)
		if err != nil {
			return nil, nil, fmt.Errorf("tensor %q: %w", name, err)
		}
		tensors[name] = t
	}
	return tensors, notes, nil
}

// read converts one tensor's bytes.
func (e entry) read(body []byte) (stored, error) {
	number, ok := floats[e.DType]
	if !ok {
		return stored{}, fmt.Errorf("its elements are %s; only floats (F32, F16, BF16, F64) can be loaded", e.DType)
	}
	if e.Shape == nil {
		return stored{}, errors.New("it has no shape")
	}
	elements := 1
	for _, d := range e.Shape {
		if d < 0 || d > 0 && elements > len(body)/d {
			return stored{}, fmt.Errorf("its shape %v does not fit into %d bytes", e.Shape, len(body))
		}
		elements *= d
	}
	begin, end := e.Offsets[0], e.Offsets[1]
	if begin < 0 || end < begin || end > len(body) || end-begin != elements*number.size {
		return stored{}, fmt.Errorf("its shape %v does not fit its bytes %d to %d of %d", e.Shape, begin, end, len(body))
	}
	data := make([]float32, elements)
	for i := range data {
		data[i] = number.decode(body[begin+i*number.size:])
	}
	return stored{e.Shape, data}, nil
}

// floats are the element types that become float32.
var floats = map[string]struct {
	size   int
	decode func(b []byte) float32
}{
	"F32": {4, func(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }},
	"F64": {8, func(b []byte) float32 { return float32(math.Float64frombits(binary.LittleEndian.Uint64(b))) }},
	"F16": {2, func(b []byte) float32 { return half(binary.LittleEndian.Uint16(b)) }},
	"BF16": {2, func(b []byte) float32 {
		return math.Float32frombits(uint32(binary.LittleEndian.Uint16(b)) << 16)
	}},
}

// half is the value of an IEEE 754 binary16 number: a sign, five bits of
// exponent, ten of fraction.
func half(h uint16) float32 {
	sign, exponent, fraction := uint32(h>>15)<<31, uint32(h>>10)&31, uint32(h)&1023
	switch exponent {
	case 0: // zero and subnormal numbers are fractions of 2⁻²⁴
		v := float32(fraction) / (1 << 24)
		return math.Float32frombits(math.Float32bits(v) | sign)
	case 31: // infinity and NaN
		return math.Float32frombits(sign | 0xff<<23 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<13)
}
