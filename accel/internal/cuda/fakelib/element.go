package fakelib

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/ptxsim"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

// decode returns an element of some type.
func decode(t tensortype.DType, b []byte) float64 {
	switch t {
	case tensortype.Float64:
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	case tensortype.Float16:
		return float64(tensortype.Float16Value(binary.LittleEndian.Uint16(b)))
	case tensortype.BFloat16:
		return float64(tensortype.BFloat16Value(binary.LittleEndian.Uint16(b)))
	case tensortype.Float8E4M3, tensortype.Float8E5M2:
		return float64(tensortype.Float8Value(t, b[0]))
	default:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
}

// encode writes an element of some type.
func encode(t tensortype.DType, values []float64) []byte {
	var b []byte
	for _, v := range values {
		switch t {
		case tensortype.Float64:
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		case tensortype.Float16:
			b = binary.LittleEndian.AppendUint16(b, tensortype.Float16Bits(float32(v)))
		case tensortype.BFloat16:
			b = binary.LittleEndian.AppendUint16(b, tensortype.BFloat16Bits(float32(v)))
		default:
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
		}
	}
	return b
}

// unwrittenError reports that a library reads memory that was never written.
type unwrittenError struct {
	at    driver.Pointer
	bytes int
}

func (e *unwrittenError) Error() string {
	return fmt.Sprintf("%d bytes at %#x are read, but not all of them were written", e.bytes, e.at)
}

// numbers reads contiguous elements.
func numbers(m *ptxsim.Memory, at driver.Pointer, t tensortype.DType, n int) ([]float64, error) {
	b := make([]byte, n*t.Size())
	if ok, err := m.Written(uint64(at), len(b)); err != nil {
		return nil, err
	} else if !ok {
		return nil, &unwrittenError{at, len(b)}
	}
	if err := m.Read(b, uint64(at)); err != nil {
		return nil, err
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = decode(t, b[i*t.Size():])
	}
	return out, nil
}

// roundTF32 rounds a float32 to the 10 bits of TF32's mantissa, ties away from zero.
func roundTF32(v float64) float64 {
	bits := math.Float32bits(float32(v))
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return v
	}
	return float64(math.Float32frombits((bits + 1<<12) &^ (1<<13 - 1)))
}
