package data

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/quernlab/quern/accel/tensor"
)

// NPY reads two files in NumPy's NPY format: examples [N, …] and labels, either class indices
// [N] of an integer type or targets [N, targets] of floats.
func NPY(examples, labels string) (*Dataset, error) {
	x, err := readNPYFile(examples)
	if err != nil {
		return nil, err
	}
	y, err := readNPYFile(labels)
	if err != nil {
		return nil, err
	}
	set, err := FromTensors(x, y)
	if err != nil {
		return nil, err
	}
	return set.Named(examples), nil
}

func readNPYFile(path string) (t *tensor.Tensor, err error) {
	_, err = fromFile(path, func(r io.Reader) (_ *Dataset, err error) {
		t, err = ReadNPY(r)
		return &Dataset{}, err
	})
	return t, err
}

const npyMagic = "\x93NUMPY"

var (
	npyType  = regexp.MustCompile(`'descr':\s*'([^']*)'`)
	npyOrder = regexp.MustCompile(`'fortran_order':\s*(True|False)`)
	npyShape = regexp.MustCompile(`'shape':\s*\(([0-9, ]*)\)`)
)

// npyElement is an element type: its size in bytes, and how a value is read as one of these.
type npyElement struct {
	size    int
	float   func(b []byte) float32
	integer func(b []byte) int
}

// npyTypes are the supported element types. Floats become float32 and integers int32.
var npyTypes = map[string]npyElement{
	"<f4": {size: 4, float: func(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }},
	"<f8": {size: 8, float: func(b []byte) float32 { return float32(math.Float64frombits(binary.LittleEndian.Uint64(b))) }},
	"|u1": {size: 1, integer: func(b []byte) int { return int(b[0]) }},
	"|i1": {size: 1, integer: func(b []byte) int { return int(int8(b[0])) }},
	"|b1": {size: 1, integer: func(b []byte) int { return int(b[0]) }},
	"<i4": {size: 4, integer: func(b []byte) int { return int(int32(binary.LittleEndian.Uint32(b))) }},
	"<i8": {size: 8, integer: func(b []byte) int { return int(int64(binary.LittleEndian.Uint64(b))) }},
}

// npyHeader is the header of an NPY file.
type npyHeader struct {
	name  string // of the element type
	shape []int
	begin int   // offset of the elements in bytes
	bytes int64 // size of the elements
}

// maxNPYHeader is larger than any header that NumPy writes.
const maxNPYHeader = 1 << 20

func npyError(want, format string, got ...any) error {
	return &FormatError{Format: "NPY", Want: want, Got: fmt.Sprintf(format, got...)}
}

// readNPYHeader reads the header of a file and checks it against the size of the file.
func readNPYHeader(r io.ReaderAt, length int64) (*npyHeader, error) {
	h, err := readNPYStart(io.NewSectionReader(r, 0, length), length)
	if err != nil {
		return nil, err
	}
	if left := length - int64(h.begin); left != h.bytes {
		return nil, npyError(fmt.Sprintf("%d bytes for shape %v", h.bytes, h.shape), "%d", left)
	}
	return h, nil
}

// readNPYStart reads the header of an array with at most this many bytes.
func readNPYStart(r io.Reader, most int64) (*npyHeader, error) {
	start := make([]byte, 12)
	n, err := io.ReadFull(r, start[:10])
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("data: reading NPY: %w", err)
	}
	if n < 10 || !bytes.HasPrefix(start, []byte(npyMagic)) {
		return nil, npyError("a file that begins with \\x93NUMPY and a version", "%q", start[:min(n, 8)])
	}
	begin, size := int64(10), int64(binary.LittleEndian.Uint16(start[8:]))
	switch start[6] {
	case 1:
	case 2, 3:
		if _, err := io.ReadFull(r, start[10:]); err != nil {
			return nil, npyError("a header of 12 bytes", "%v", err)
		}
		begin, size = 12, int64(binary.LittleEndian.Uint32(start[8:]))
	default:
		return nil, npyError("version 1 to 3", "%d", start[6])
	}
	if size > maxNPYHeader {
		return nil, npyError(fmt.Sprintf("a header of at most %d bytes", maxNPYHeader), "%d", size)
	}
	text := make([]byte, size)
	if n, err := io.ReadFull(r, text); err != nil {
		return nil, npyError(fmt.Sprintf("a header of %d bytes", size), "%d", n)
	}
	return parseNPYHeader(string(text), begin+size, most-begin-size)
}

// parseNPYHeader parses the text of a header. left is the maximum number of bytes after it.
func parseNPYHeader(header string, begin, left int64) (*npyHeader, error) {
	name, order, dimensions := npyType.FindStringSubmatch(header), npyOrder.FindStringSubmatch(header), npyShape.FindStringSubmatch(header)
	if name == nil || order == nil || dimensions == nil {
		return nil, npyError("a header with descr, fortran_order and shape", "%q", header)
	}
	if order[1] == "True" {
		return nil, npyError("row-major order", "Fortran's; numpy.ascontiguousarray changes it")
	}
	element, ok := npyTypes[name[1]]
	if !ok {
		return nil, npyError("elements of type f4, f8, i1, i4, i8, u1 or b1, little-endian", "%q", name[1])
	}
	h := &npyHeader{name: name[1], shape: []int{}, begin: int(begin)}
	n := int64(1)
	for field := range strings.SplitSeq(dimensions[1], ",") {
		if field = strings.TrimSpace(field); field == "" {
			continue
		}
		d, err := strconv.Atoi(field)
		if err != nil || d > 0 && max(n, 1) > left/int64(d) {
			return nil, npyError(fmt.Sprintf("the elements of shape (%s)", dimensions[1]), "%d bytes", left)
		}
		h.shape, n = append(h.shape, d), n*int64(d)
	}
	h.bytes = n * int64(element.size)
	return h, nil
}

// maxNPY is larger than the memory of any machine.
const maxNPY = 1 << 48

// readNPYBody reads a whole array. Memory grows with the data read, not with the size in the
// header, and nothing beyond the array is read.
func readNPYBody(r io.Reader) (*npyHeader, []byte, error) {
	h, err := readNPYStart(r, maxNPY)
	if err != nil {
		return nil, nil, err
	}
	r, meter := withProgress(r, "reading NPY data", h.bytes)
	defer meter.End()
	var body bytes.Buffer
	n, err := body.ReadFrom(io.LimitReader(r, h.bytes+1))
	if err != nil {
		return nil, nil, fmt.Errorf("data: reading NPY: %w", err)
	}
	switch {
	case n > h.bytes:
		return nil, nil, npyError(fmt.Sprintf("%d bytes for shape %v", h.bytes, h.shape), "more")
	case n < h.bytes:
		return nil, nil, npyError(fmt.Sprintf("%d bytes for shape %v", h.bytes, h.shape), "%d", n)
	}
	return h, body.Bytes(), nil
}

// ReadNPY reads an array in NumPy's NPY format, versions 1 to 3, in row-major order: float32
// and float64 as float32, and integers of 8, 32 and 64 bits as int32. Anything else is a
// [*FormatError].
//
// The format is described at
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html.
func ReadNPY(r io.Reader) (*tensor.Tensor, error) {
	h, body, err := readNPYBody(r)
	if err != nil {
		return nil, err
	}
	element := npyTypes[h.name]
	n := len(body) / element.size
	if element.float != nil {
		data := make([]float32, n)
		for i := range data {
			data[i] = element.float(body[i*element.size:])
		}
		return tensor.New(data, h.shape...), nil
	}
	data := make([]int, n)
	for i := range data {
		v := element.integer(body[i*element.size:])
		if v < math.MinInt32 || v > math.MaxInt32 {
			return nil, &FormatError{Format: "NPY", Want: "integers of at most 32 bits", Got: strconv.Itoa(v)}
		}
		data[i] = v
	}
	return tensor.FromInts(data, h.shape...), nil
}
