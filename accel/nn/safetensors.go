package nn

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/quernlab/quern/accel/tensor"
)

// entry describes a tensor in the header of a safetensors file:
// https://github.com/huggingface/safetensors#format.
type entry struct {
	DType   string   `json:"dtype"`
	Shape   []int    `json:"shape"`
	Offsets [2]int64 `json:"data_offsets"` // relative to the end of the header
}

// header is the header of a file, which comes before the data.
type header struct {
	tensors map[string]entry
	notes   map[string]string
	begin   int64             // offset of the data in the file
	sums    map[string]string // checksums of the tensors; nil if the file has none
}

const (
	metadataKey = "__metadata__"
	maxHeader   = 100 << 20 // the limit of the reference implementation
)

// elements are the supported element types of the format.
var elements = map[string]tensor.DType{
	"F64": tensor.Float64, "F32": tensor.Float32, "F16": tensor.Float16, "BF16": tensor.BFloat16,
	"I64": tensor.Int64, "I32": tensor.Int32, "U8": tensor.Uint8, "BOOL": tensor.Bool,
}

// sizes are the element sizes, in bytes, of the format's other types.
var sizes = map[string]int64{"U64": 8, "U32": 4, "I16": 2, "U16": 2, "I8": 1, "F8_E4M3": 1, "F8_E5M2": 1}

// readHeader reads and checks the header of a file of the given length. The tensors must cover
// the data without gaps or overlaps.
func readHeader(r io.ReaderAt, length int64) (*header, error) {
	var size [8]byte
	if length < int64(len(size)) {
		return nil, fmt.Errorf("the file has %d bytes, but a safetensors file has at least 8", length)
	}
	if _, err := r.ReadAt(size[:], 0); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint64(size[:])
	if n > maxHeader || n > uint64(length-8) {
		return nil, fmt.Errorf("the header should have %d bytes, but only %d bytes follow: the file is truncated or not in safetensors format", n, length-8)
	}
	text := make([]byte, n)
	if _, err := r.ReadAt(text, 8); err != nil && !(errors.Is(err, io.EOF) && 8+int64(n) == length) {
		return nil, err
	}
	h := &header{tensors: map[string]entry{}, begin: 8 + int64(n)}
	if err := h.parse(text); err != nil {
		return nil, err
	}
	if err := h.readSums(text); err != nil {
		return nil, err
	}
	return h, h.check(length - h.begin)
}

// parse reads the JSON object. No name may occur twice.
func (h *header) parse(text []byte) error {
	wrong := func(err error) error { return fmt.Errorf("the header is not JSON: %w", err) }
	d := json.NewDecoder(bytes.NewReader(text))
	open, err := d.Token()
	if err != nil {
		return wrong(err)
	}
	if open != json.Delim('{') {
		return fmt.Errorf("the header is not a JSON object, but starts with %v", open)
	}
	seen := map[string]bool{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return wrong(err)
		}
		name, _ := key.(string) // keys are strings
		if seen[name] {
			return fmt.Errorf("tensor %q occurs twice", name)
		}
		seen[name] = true
		if name == metadataKey {
			if err := d.Decode(&h.notes); err != nil {
				return fmt.Errorf("the metadata is not an object of strings: %w", err)
			}
			continue
		}
		var e entry
		if err := d.Decode(&e); err != nil {
			return fmt.Errorf("tensor %q: %w", name, err)
		}
		h.tensors[name] = e
	}
	if _, err := d.Token(); err != nil { // the closing brace
		return wrong(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("the header has more than one JSON object")
	}
	return nil
}

// check compares types, shapes and offsets with the length of the data.
func (h *header) check(length int64) error {
	names := slices.SortedFunc(maps.Keys(h.tensors), func(a, b string) int {
		x, y := h.tensors[a].Offsets, h.tensors[b].Offsets
		return slices.Compare(x[:], y[:])
	})
	end := int64(0)
	for _, name := range names {
		e := h.tensors[name]
		size, ok := sizes[e.DType]
		if d, known := elements[e.DType]; known {
			size, ok = int64(d.Size()), true
		}
		if !ok {
			return fmt.Errorf("tensor %q: unknown element type %q", name, e.DType)
		}
		if e.Shape == nil {
			return fmt.Errorf("tensor %q: the shape is missing", name)
		}
		for _, d := range e.Shape {
			if d < 0 || d > 0 && size > length/int64(d) && !slices.Contains(e.Shape, 0) {
				return fmt.Errorf("tensor %q: shape %v does not fit into %d bytes of data", name, e.Shape, length)
			}
			size *= int64(d)
		}
		switch from, to := e.Offsets[0], e.Offsets[1]; {
		case from < 0 || to < from || to > length || to-from != size:
			return fmt.Errorf("tensor %q: shape %v of type %s does not match the byte range %d to %d of %d", name, e.Shape, e.DType, from, to, length)
		case from < end:
			return fmt.Errorf("tensor %q: the byte range %d to %d overlaps with another tensor", name, from, to)
		case from > end:
			return fmt.Errorf("bytes %d to %d belong to no tensor", end, from)
		}
		end = e.Offsets[1]
	}
	if end != length {
		return fmt.Errorf("bytes %d to %d belong to no tensor", end, length)
	}
	return nil
}

// WriteTensors writes tensors to w in safetensors format, in the order of their names, each in
// its own element type, with notes as the metadata, and checksums of the header and of each tensor,
// which are verified when the file is read. Unlike [SaveTensors] it displays no progress.
func WriteTensors(w io.Writer, tensors map[string]*Tensor, notes map[string]string) (err error) {
	defer Catch(&err)
	types := map[tensor.DType]string{}
	for name, d := range elements {
		types[d] = name
	}
	metadata := map[string]string{"format": "pt"}
	maps.Copy(metadata, notes)
	sums := sumTensors(tensors)
	metadata[headerSumKey], metadata[tensorSumsKey] = noSum, sums.digits.String()
	entries := map[string]any{metadataKey: metadata}
	names, end := slices.Sorted(maps.Keys(tensors)), int64(0)
	for _, name := range names {
		if name == metadataKey {
			return fmt.Errorf("a tensor cannot be named %s", name)
		}
		t, begin := tensors[name], end
		end += int64(t.Numel() * t.DType().Size())
		entries[name] = entry{types[t.DType()], t.Shape(), [2]int64{begin, end}}
	}
	text, err := json.Marshal(entries)
	if err != nil {
		return err
	}
	// The data starts at a multiple of eight bytes, for readers that map files.
	text = append(text, strings.Repeat(" ", (8-len(text)%8)%8)...)
	if headerSumAt(text) < 0 {
		return fmt.Errorf("no tensor and no note may contain %q", headerSumKey)
	}
	sealHeader(text)
	if _, err := w.Write(append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...)); err != nil {
		return err
	}
	for _, name := range names {
		if _, err := w.Write(sums.raw(name, tensors[name])); err != nil {
			return err
		}
	}
	return nil
}
