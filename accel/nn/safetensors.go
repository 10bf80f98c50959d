package nn

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/exp/mmap"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
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
	metadata[headerSumKey], metadata[tensorSumsKey] = noSum, sumTensors(tensors)
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
	at := headerSumAt(text)
	if at < 0 {
		return fmt.Errorf("no tensor and no note may contain %q", headerSumKey)
	}
	copy(text[at:], formatSum(headerSum(text)))
	if _, err := w.Write(append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...)); err != nil {
		return err
	}
	for _, name := range names {
		if _, err := w.Write(rawMemory(tensors[name])); err != nil {
			return err
		}
	}
	return nil
}

// File is an open safetensors file, of which only the header has been read. It is mapped into
// memory if the system supports that, so that a tensor needs no memory until [File.Tensor]
// reads it. The file must not change while it is open.
type File struct {
	path   string
	data   io.ReaderAt
	header *header
	close  func() error

	progress func(n int64) // called after each n bytes of tensors; nil for none
}

// Open opens a safetensors file, and reads and checks its header. Errors are a [*FormatError] for a
// file of another format, a [*CorruptFileError] for a damaged one, and those of the file system. The
// checksum of the header is verified if the file has one, as those that this package has written.
func Open(path string) (*File, error) {
	mapped, err := mmap.Open(path)
	if err != nil {
		return nil, fmt.Errorf("nn: load: %w", err)
	}
	h, err := readHeader(mapped, int64(mapped.Len()))
	if err != nil {
		return nil, errors.Join(explainFormat(path, mapped, err), mapped.Close())
	}
	return &File{path: path, data: mapped, header: h, close: mapped.Close}, nil
}

// Close closes the file. Tensors that were read from it remain valid.
func (f *File) Close() error { return f.close() }

// Names returns the names of the tensors, sorted.
func (f *File) Names() []string { return slices.Sorted(maps.Keys(f.header.tensors)) }

// Metadata returns the metadata of the file, without its checksums.
func (f *File) Metadata() map[string]string { return maps.Clone(f.header.notes) }

// Shape returns the shape of a tensor; nil if the file contains no tensor of this name.
func (f *File) Shape(name string) []int { return slices.Clone(f.header.tensors[name].Shape) }

// Tensor reads a tensor, in the element type of the file. It is a [*CorruptFileError] if the tensor has
// not the checksum that this package has written; other programs write none.
func (f *File) Tensor(name string) (t *Tensor, err error) {
	defer Catch(&err)
	e, ok := f.header.tensors[name]
	if !ok {
		return nil, fmt.Errorf("nn: load %s: there is no tensor %q", f.path, name)
	}
	d, ok := elements[e.DType]
	if !ok {
		return nil, fmt.Errorf("nn: load %s: tensor %q: element type %s is not supported", f.path, name, e.DType)
	}
	b := make([]byte, e.Offsets[1]-e.Offsets[0])
	const most = 8 << 20 // bytes that are read at once, so that the bar of a large tensor moves
	for from := 0; from < len(b); from += most {
		part := b[from:min(from+most, len(b))]
		if n, err := f.data.ReadAt(part, f.header.begin+e.Offsets[0]+int64(from)); err != nil && n < len(part) {
			return nil, fmt.Errorf("nn: load %s: tensor %q: %w", f.path, name, err)
		}
		if f.progress != nil {
			f.progress(int64(len(part)))
		}
	}
	if err := f.header.checkSum(name, b); err != nil {
		return nil, &CorruptFileError{f.path, err}
	}
	return tensor.FromRaw(d, b, e.Shape...), nil
}

// size returns the number of bytes of the tensors that [Load] reads.
func (f *File) size() (bytes int64) {
	for name, e := range f.header.tensors {
		if !isBatchCount(name) {
			bytes += e.Offsets[1] - e.Offsets[0]
		}
	}
	return bytes
}

// String returns the path and the number of tensors.
func (f *File) String() string { return fmt.Sprintf("%s: %d tensors", f.path, len(f.header.tensors)) }

// isBatchCount reports whether a name is that of the batch counter of PyTorch's BatchNorm,
// which is not used here.
func isBatchCount(name string) bool { return strings.HasSuffix(name, ".num_batches_tracked") }

// CorruptFileError reports a file of weights that is truncated or otherwise damaged, or an index
// that does not fit its files.
type CorruptFileError struct {
	Path string // of the file
	Err  error  // what is wrong with it
}

// Error names the file and what is wrong with it.
func (e *CorruptFileError) Error() string { return fmt.Sprintf("nn: load %s: %v", e.Path, e.Err) }

// Unwrap returns what is wrong.
func (e *CorruptFileError) Unwrap() error { return e.Err }

// weightFiles are the tensors of one or several files.
type weightFiles struct {
	files map[string]*File // by path
	in    map[string]*File // by name of a tensor
}

func (w *weightFiles) close() error {
	var errs []error
	for _, f := range w.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

const (
	weightsName = "model.safetensors"
	indexName   = "model.safetensors.index.json"
)

// openWeights opens a file, all files of an index, or those of a folder.
func openWeights(path string) (*weightFiles, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		folder := path
		path = filepath.Join(folder, weightsName)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			path = filepath.Join(folder, indexName)
			if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
				return nil, fmt.Errorf("nn: load %s: the folder has neither %s nor %s: %w", folder, weightsName, indexName, fs.ErrNotExist)
			}
		}
	}
	if strings.HasSuffix(path, ".index.json") {
		return openShards(path)
	}
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	w := &weightFiles{map[string]*File{path: f}, map[string]*File{}}
	for _, name := range f.Names() {
		w.in[name] = f
	}
	return w, nil
}

// openShards opens the files of an index, as Hugging Face writes it.
func openShards(path string) (w *weightFiles, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("nn: load: %w", err)
	}
	var index struct {
		Map map[string]string `json:"weight_map"`
	}
	if err := json.Unmarshal(text, &index); err != nil {
		return nil, &CorruptFileError{path, fmt.Errorf("the index is not JSON: %w", err)}
	}
	if len(index.Map) == 0 {
		return nil, &CorruptFileError{path, errors.New("the index has no weight_map with the file of each tensor")}
	}
	w = &weightFiles{map[string]*File{}, map[string]*File{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	for _, name := range slices.Sorted(maps.Keys(index.Map)) {
		shard := index.Map[name]
		if shard != filepath.Base(shard) || shard == ".." || shard == "." {
			return w, &CorruptFileError{path, fmt.Errorf("tensor %q is in %q, which is not a file beside the index", name, shard)}
		}
		at := filepath.Join(filepath.Dir(path), shard)
		f := w.files[at]
		if f == nil {
			if f, err = Open(at); err != nil {
				return w, err
			}
			w.files[at] = f
		}
		if _, ok := f.header.tensors[name]; !ok {
			return w, &CorruptFileError{at, fmt.Errorf("tensor %q is missing, but %s says that it is here", name, path)}
		}
		w.in[name] = f
	}
	return w, nil
}

// The files that this package writes have checksums in their metadata, CRC-32C in hexadecimal: one of
// the header, whose own digits count as zeros, and one of each tensor in the order of their names. A
// file has both entries, so that a damaged name of one of them does not make it a file without
// checksums, as other programs write.
//
// A model of 100 MB took 125 ms of CPU time to save, of which the checksums are 25 ms, and 104 ms to load,
// instead of 79 ms without them: medians of eight interleaved rounds, with the file in the page cache of a
// shared AMD EPYC.
const (
	headerSumKey  = "quern.checksum"
	tensorSumsKey = "quern.checksums"
	sumDigits     = 8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func formatSum(sum uint32) string { return fmt.Sprintf("%0*x", sumDigits, sum) }

// noSum has the place of the header's checksum while that is computed.
var noSum = strings.Repeat("0", sumDigits)

// headerSumAt returns where the digits of the header's checksum begin, or -1.
func headerSumAt(text []byte) int {
	key := []byte(`"` + headerSumKey + `":"`)
	at := bytes.Index(text, key)
	if at < 0 || bytes.Count(text, key) > 1 || len(text) < at+len(key)+sumDigits {
		return -1
	}
	return at + len(key)
}

// headerSum returns the checksum of a header, with the length before it, with zeros for its own digits.
func headerSum(text []byte) uint32 {
	at := headerSumAt(text)
	sum := crc32.Checksum(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), castagnoli)
	sum = crc32.Update(sum, castagnoli, text[:at])
	sum = crc32.Update(sum, castagnoli, []byte(noSum))
	return crc32.Update(sum, castagnoli, text[at+sumDigits:])
}

// errDamaged is what all errors of a checksum end with.
var errDamaged = errors.New("the file was damaged after it was written, or changed by a program that kept the old checksums (quern.checksum and quern.checksums in its metadata): use another copy")

// readSums compares the header with its checksum, and keeps those of the tensors. It does nothing for a
// file without checksums.
func (h *header) readSums(text []byte) error {
	own, hasOwn := h.notes[headerSumKey]
	all, hasAll := h.notes[tensorSumsKey]
	if !hasOwn && !hasAll {
		return nil
	}
	if at := headerSumAt(text); !hasOwn || !hasAll || at < 0 || string(text[at:at+sumDigits]) != own {
		return fmt.Errorf("one of the two checksums is missing: %w", errDamaged)
	}
	if want := formatSum(headerSum(text)); own != want {
		return fmt.Errorf("the checksum of the header is %s, but the file says %s: %w", want, own, errDamaged)
	}
	if len(all) != sumDigits*len(h.tensors) {
		return fmt.Errorf("there are %d digits of checksums for %d tensors: %w", len(all), len(h.tensors), errDamaged)
	}
	h.sums = map[string]string{}
	for i, name := range slices.Sorted(maps.Keys(h.tensors)) {
		h.sums[name] = all[i*sumDigits : (i+1)*sumDigits]
	}
	delete(h.notes, headerSumKey)
	delete(h.notes, tensorSumsKey)
	return nil
}

// checkSum compares the bytes of a tensor with their checksum, if the file has one.
func (h *header) checkSum(name string, data []byte) error {
	want, ok := h.sums[name]
	if !ok {
		return nil
	}
	if got := formatSum(crc32.Checksum(data, castagnoli)); got != want {
		return fmt.Errorf("the checksum of tensor %q is %s, but the file says %s: %w", name, got, want, errDamaged)
	}
	return nil
}

// sumTensors returns the checksums of tensors in the order of their names.
func sumTensors(tensors map[string]*Tensor) string {
	var digits strings.Builder
	for _, name := range slices.Sorted(maps.Keys(tensors)) {
		digits.WriteString(formatSum(crc32.Checksum(rawMemory(tensors[name]), castagnoli)))
	}
	return digits.String()
}

// rawMemory returns the bytes of a tensor, without a copy unless they are on a device, shared, or in another byte order than those of a
// file.
func rawMemory(t *Tensor) []byte {
	if t.DType().Size() == 1 || binary.NativeEndian.Uint16([]byte{1, 0}) == 1 {
		if data := tensors.Memory(t); data != nil {
			return data
		}
	}
	return t.Raw()
}
