package played

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/ptxsim"
	"github.com/quernlab/quern/accel/internal/tensor"
)

// element is a type of numbers.
type element uint8

const (
	single element = iota // float32
	half                  // float16
	brain                 // bfloat16
)

func (e element) bytes() int {
	if e == single {
		return 4
	}
	return 2
}

func (e element) decode(b []byte) float64 {
	switch e {
	case half:
		return float64(tensor.Float16Value(binary.LittleEndian.Uint16(b)))
	case brain:
		return float64(tensor.BFloat16Value(binary.LittleEndian.Uint16(b)))
	}
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
}

func (e element) encode(values []float64) []byte {
	var b []byte
	for _, v := range values {
		switch e {
		case half:
			b = binary.LittleEndian.AppendUint16(b, tensor.Float16Bits(float32(v)))
		case brain:
			b = binary.LittleEndian.AppendUint16(b, tensor.BFloat16Bits(float32(v)))
		case single:
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
		}
	}
	return b
}

// unwrittenError says that a library reads what nobody has written.
type unwrittenError struct {
	at    driver.Pointer
	bytes int
}

func (e *unwrittenError) Error() string {
	return fmt.Sprintf("%d bytes at %#x are read, and nobody has written all of them", e.bytes, e.at)
}

// numbers reads numbers that lie one behind the other.
func numbers(m *ptxsim.Memory, at driver.Pointer, e element, n int) ([]float64, error) {
	b := make([]byte, n*e.bytes())
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
		out[i] = e.decode(b[i*e.bytes():])
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
