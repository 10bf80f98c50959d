package ptxsim

import (
	"encoding/binary"
	"fmt"
)

// TensorMap describes a tensor in global memory to cp.async.bulk.tensor, with the innermost
// dimension first. A GPU's map is opaque; this is the simulator's own encoding.
type TensorMap struct {
	Element int // bytes
	Address uint64
	Shape   []uint64 // elements
	Strides []uint64 // bytes, for all dimensions except the innermost
	Box     []uint32 // elements of one copy
	Steps   []uint32 // distance between copied elements; nil for 1
	Swizzle int      // bytes of a swizzled row: 0, 32, 64 or 128
	NaNFill bool     // elements out of bounds are NaN instead of zero
}

const (
	tensorMapBytes = 128
	tensorMapMark  = 0x7e5507
)

// Encode checks the map by CUDA's rules and encodes it as a kernel parameter.
func (t *TensorMap) Encode() (m [tensorMapBytes]byte, err error) {
	rank := len(t.Shape)
	if rank < 1 || rank > 5 || len(t.Strides) != rank-1 || len(t.Box) != rank || t.Steps != nil && len(t.Steps) != rank {
		return m, fmt.Errorf("tensor map: shape %v, strides %v, box %v, steps %v", t.Shape, t.Strides, t.Box, t.Steps)
	}
	if t.Address%16 != 0 || t.Address == 0 {
		return m, fmt.Errorf("tensor map: the address %#x is not a multiple of 16", t.Address)
	}
	b := binary.LittleEndian.AppendUint32(m[:0], tensorMapMark)
	b = append(b, byte(rank), byte(t.Element), byte(t.Swizzle), 0)
	if t.NaNFill {
		b[7] = 1
	}
	b = binary.LittleEndian.AppendUint64(b, t.Address)
	for i, n := range t.Shape {
		step := uint32(1)
		if t.Steps != nil {
			step = t.Steps[i]
		}
		if n == 0 || n > 1<<32-1 || t.Box[i] == 0 || t.Box[i] > 256 || step == 0 || step > 8 {
			return m, fmt.Errorf("tensor map: dimension %d has %d elements, box %d, step %d", i, n, t.Box[i], step)
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
		b = binary.LittleEndian.AppendUint16(b, uint16(t.Box[i]))
		b = append(b, byte(step))
	}
	for i, s := range t.Strides {
		if s%16 != 0 || s == 0 || s >= 1<<40 {
			return m, fmt.Errorf("tensor map: the stride %d of dimension %d is not a multiple of 16 below 2^40", s, i+1)
		}
		b = binary.LittleEndian.AppendUint64(b, s)
	}
	switch inner := int(t.Box[0]) * t.Element; {
	case inner%16 != 0:
		return m, fmt.Errorf("tensor map: the innermost dimension of the box has %d bytes, which is not a multiple of 16", inner)
	case t.Swizzle != 0 && inner > t.Swizzle:
		return m, fmt.Errorf("tensor map: the innermost dimension of the box has %d bytes, which is more than the swizzle of %d", inner, t.Swizzle)
	}
	return m, nil
}

// decodeTensorMap decodes the result of Encode; ok is false for anything else.
func decodeTensorMap(b []byte) (t TensorMap, ok bool) {
	if len(b) < tensorMapBytes || binary.LittleEndian.Uint32(b) != tensorMapMark {
		return t, false
	}
	rank := int(b[4])
	t.Element, t.Swizzle, t.NaNFill = int(b[5]), int(b[6]), b[7] == 1
	t.Address = binary.LittleEndian.Uint64(b[8:])
	b = b[16:]
	for range rank {
		t.Shape = append(t.Shape, uint64(binary.LittleEndian.Uint32(b)))
		t.Box = append(t.Box, uint32(binary.LittleEndian.Uint16(b[4:])))
		t.Steps = append(t.Steps, uint32(b[6]))
		b = b[7:]
	}
	for range rank - 1 {
		t.Strides = append(t.Strides, binary.LittleEndian.Uint64(b))
		b = b[8:]
	}
	return t, true
}

// bytes returns the size of one copy.
func (t *TensorMap) bytes() int {
	n := t.Element
	for _, b := range t.Box {
		n *= int(b)
	}
	return n
}

// swizzled returns the address of a byte of shared memory if rows are swizzled: the 16-byte
// chunks of a row are permuted depending on its index.
func swizzled(address uint64, row int) uint64 {
	switch row {
	case 128:
		return address ^ address>>7&7<<4
	case 64:
		return address ^ address>>7&3<<4
	case 32:
		return address ^ address>>7&1<<4
	}
	return address
}
