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

// File is an open safetensors file, of which only the header was read. It is
// mapped into memory where the system can, so that a tensor costs nothing until
// [File.Tensor] asks for it. It must not change while it is open.
type File struct {
	path   string
	data   io.ReaderAt
	header *header
	close  func() error
}

// Open reads the header of a safetensors file and checks it against the file.
func Open(path string) (*File, error) {
	mapped, err := mmap.Open(path)
	if err != nil {
		return nil, fmt.Errorf("nn: load: %w", err)
	}
	h, err := readHeader(mapped, int64(mapped.Len()))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("nn: load %s: %w", path, err), mapped.Close())
	}
	return &File{path: path, data: mapped, header: h, close: mapped.Close}, nil
}

// Close lets go of the file. Tensors that were made of it stay.
func (f *File) Close() error { return f.close() }

// Names returns the names of the tensors, sorted.
func (f *File) Names() []string { return slices.Sorted(maps.Keys(f.header.tensors)) }

// Metadata returns the metadata.
func (f *File) Metadata() map[string]string { return maps.Clone(f.header.notes) }

// Shape returns the shape of a tensor; nil if there is none of this name.
func (f *File) Shape(name string) []int { return slices.Clone(f.header.tensors[name].Shape) }

// Tensor reads one tensor, in the element type that the file has it in.
func (f *File) Tensor(name string) (t *Tensor, err error) {
	defer Catch(&err)
	e, ok := f.header.tensors[name]
	if !ok {
		return nil, fmt.Errorf("nn: load %s: there is no tensor %q", f.path, name)
	}
	d, ok := elements[e.DType]
	if !ok {
		return nil, fmt.Errorf("nn: load %s: tensor %q: its elements are %s, which there are none of here", f.path, name, e.DType)
	}
	b := make([]byte, e.Offsets[1]-e.Offsets[0])
	if n, err := f.data.ReadAt(b, f.header.begin+e.Offsets[0]); err != nil && n < len(b) {
		return nil, fmt.Errorf("nn: load %s: tensor %q: %w", f.path, name, err)
	}
	return tensor.FromRaw(d, b, e.Shape...), nil
}

// String says how many tensors there are.
func (f *File) String() string { return fmt.Sprintf("%s: %d tensors", f.path, len(f.header.tensors)) }

// counted reports whether a name is that of a count of PyTorch's BatchNorm, on which
// nothing here depends.
func counted(name string) bool { return strings.HasSuffix(name, ".num_batches_tracked") }
