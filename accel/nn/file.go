package nn

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"golang.org/x/exp/mmap"

	"github.com/quernlab/quern/accel/tensor"
)

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

// Shape returns the shape of a tensor; nil if the file has no tensor of this name.
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
