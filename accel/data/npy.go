package data

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/quernlab/quern/accel/tensor"
)

// NPY makes a set of two files in NumPy's NPY format: examples [N, …] and
// labels, class indices [N] of an integer type or targets [N, targets] of
// floats.
func NPY(examples, labels string) (*Set, error) {
	var tensors []*tensor.Tensor
	for _, path := range []string{examples, labels} {
		var t *tensor.Tensor
		if _, err := fromFile(path, func(r io.Reader) (_ *Set, err error) {
			t, err = ReadNPY(r)
			return &Set{}, err
		}); err != nil {
			return nil, err
		}
		tensors = append(tensors, t)
	}
	set, err := FromTensors(tensors[0], tensors[1])
	if err != nil {
		return nil, err
	}
	return set.Named(examples), nil
}

const npyMagic = "\x93NUMPY"

var (
	npyType  = regexp.MustCompile(`'descr':\s*'([^']*)'`)
	npyOrder = regexp.MustCompile(`'fortran_order':\s*(True|False)`)
	npyShape = regexp.MustCompile(`'shape':\s*\(([0-9, ]*)\)`)
)

// npyTypes are the element types that can be read. Floats become float32 and
// integers int32.
var npyTypes = map[string]struct {
	size    int
	float   func(b []byte) float32
	integer func(b []byte) int
}{
	"<f4": {size: 4, float: func(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }},
	"<f8": {size: 8, float: func(b []byte) float32 { return float32(math.Float64frombits(binary.LittleEndian.Uint64(b))) }},
	"|u1": {size: 1, integer: func(b []byte) int { return int(b[0]) }},
	"|i1": {size: 1, integer: func(b []byte) int { return int(int8(b[0])) }},
	"|b1": {size: 1, integer: func(b []byte) int { return int(b[0]) }},
	"<i4": {size: 4, integer: func(b []byte) int { return int(int32(binary.LittleEndian.Uint32(b))) }},
	"<i8": {size: 8, integer: func(b []byte) int { return int(int64(binary.LittleEndian.Uint64(b))) }},
}

// ReadNPY reads an array in NumPy's NPY format, versions 1 to 3, in row-major
// order: float32 and float64 as float32, and integers of 8, 32 and 64 bits as
// int32. Anything else is a [*FormatError].
//
// The format is described at
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html.
func ReadNPY(r io.Reader) (*tensor.Tensor, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("data: reading NPY: %w", err)
	}
	wrong := func(want, format string, got ...any) error {
		return &FormatError{Format: "NPY", Want: want, Got: fmt.Sprintf(format, got...)}
	}
	if len(b) < 12 || !bytes.HasPrefix(b, []byte(npyMagic)) {
		return nil, wrong("a file that begins with \\x93NUMPY and a version", "%q", b[:min(len(b), 8)])
	}
	begin, size := 10, int(binary.LittleEndian.Uint16(b[8:]))
	switch b[6] {
	case 1:
	case 2, 3:
		begin, size = 12, int(binary.LittleEndian.Uint32(b[8:]))
	default:
		return nil, wrong("version 1 to 3", "%d", b[6])
	}
	if size > len(b)-begin {
		return nil, wrong(fmt.Sprintf("a header of %d bytes", size), "%d", len(b)-begin)
	}
	header, body := string(b[begin:begin+size]), b[begin+size:]
	name, order, dimensions := npyType.FindStringSubmatch(header), npyOrder.FindStringSubmatch(header), npyShape.FindStringSubmatch(header)
	if name == nil || order == nil || dimensions == nil {
		return nil, wrong("a header with descr, fortran_order and shape", "%q", header)
	}
	if order[1] == "True" {
		return nil, wrong("row-major order", "Fortran's; numpy.ascontiguousarray changes it")
	}
	element, ok := npyTypes[name[1]]
	if !ok {
		return nil, wrong("elements of type f4, f8, i1, i4, i8, u1 or b1, little-endian", "%q", name[1])
	}
	shape := []int{}
	n := 1
	for field := range strings.SplitSeq(dimensions[1], ",") {
		if field = strings.TrimSpace(field); field == "" {
			continue
		}
		d, err := strconv.Atoi(field)
		if err != nil || d > 0 && n > len(body)/d {
			return nil, wrong(fmt.Sprintf("the elements of shape (%s)", dimensions[1]), "%d bytes", len(body))
		}
		shape, n = append(shape, d), n*d
	}
	if len(body) != n*element.size {
		return nil, wrong(fmt.Sprintf("%d bytes for shape (%s)", n*element.size, dimensions[1]), "%d", len(body))
	}
	if element.float != nil {
		data := make([]float32, n)
		for i := range data {
			data[i] = element.float(body[i*element.size:])
		}
		return tensor.New(data, shape...), nil
	}
	data := make([]int, n)
	for i := range data {
		v := element.integer(body[i*element.size:])
		if v < math.MinInt32 || v > math.MaxInt32 {
			return nil, wrong("integers of at most 32 bits", "%d", v)
		}
		data[i] = v
	}
	return tensor.FromInts(data, shape...), nil
}
