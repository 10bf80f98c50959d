package frame

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

// read returns the values of a column. A dictionary of the column is among the dictionaries.
func (c *arrowColumn) read(dictionaries map[int64]cells) (cells, error) {
	if c.number == arrowNull && c.dictionary == nil {
		return c.nulls()
	}
	mask, err := c.buffer(0)
	if err != nil {
		return nil, err
	}
	missing := func(i int) bool { return len(mask) > 0 && mask[i/8]>>(i%8)&1 == 0 }
	data, err := c.buffer(1)
	if err != nil {
		return nil, err
	}
	if c.dictionary != nil {
		values := dictionaries[c.dictionary.id]
		if values == nil {
			values = newCells(c.kind(), 0)
		}
		rows := make([]int, c.checked(data, c.dictionary.index.bits))
		for i := range rows {
			if rows[i] = -1; missing(i) {
				continue
			}
			k, ok := c.dictionary.index.integer(data, i)
			if !ok || k < 0 || k >= values.len() {
				return nil, &FileError{Format: "Arrow", Column: c.name, Want: fmt.Sprintf("an index of one of %d values in the dictionary", values.len()), Got: fmt.Sprint(k)}
			}
			rows[i] = k
		}
		return values.take(rows), nil
	}
	switch c.kind() {
	case Int:
		return arrowCells(c, c.checked(data, c.bits), missing, "an integer in the range of int", func(i int) (int, bool) { return c.integer(data, i) })
	case Bool:
		return arrowCells(c, c.checked(data, 1), missing, "", func(i int) (bool, bool) { return data[i/8]>>(i%8)&1 != 0, true })
	case Time:
		at, bits := c.moment()
		return arrowCells(c, c.checked(data, bits), missing, "", func(i int) (time.Time, bool) { return at(data, i).UTC(), true })
	case Text:
		text, n, err := c.text(data)
		if err != nil {
			return nil, err
		}
		return arrowCells(c, n, missing, "text in UTF-8", func(i int) (string, bool) {
			s := text(i)
			return s, utf8.ValidString(s)
		})
	}
	if c.number == arrowDecimal {
		return arrowCells(c, c.checked(data, c.bits), missing, "a decimal in the range of float64", func(i int) (float64, bool) { return c.decimal(data, i) })
	}
	return arrowCells(c, c.checked(data, c.bits), missing, "", func(i int) (float64, bool) { return c.float(data, i), true })
}

// arrowCells makes the cells of n values. value returns a value, and whether it is what is wanted.
func arrowCells[T comparable](c *arrowColumn, n int, missing func(int) bool, want string, value func(int) (T, bool)) (cells, error) {
	l := &list[T]{values: make([]T, n)}
	for i := range l.values {
		if missing(i) {
			l.setMissing(i)
			continue
		}
		v, ok := value(i)
		if !ok {
			return nil, &FileError{Format: "Arrow", Column: c.name, Want: want, Got: fmt.Sprintf("another value in row %d of a batch", i)}
		}
		l.values[i] = v
	}
	return l, nil
}

// checked returns the number of rows, after checking that data has a value of so many bits for each.
func (c *arrowColumn) checked(data []byte, bits int) int {
	if c.rows > len(data)*8/bits {
		panic(fmt.Sprintf("%d bytes for %d values of %d bits", len(data), c.rows, bits))
	}
	return c.rows
}

// nulls returns a column without values.
func (c *arrowColumn) nulls() (cells, error) { return noValues("Arrow", c.name, int64(c.rows)) }

// noValues returns a column of so many missing values, which take no space in a file, so that their number may be anything in a damaged one.
func noValues(format, name string, rows int64) (cells, error) {
	if rows < 0 || rows > maxNulls {
		return nil, &FileError{Format: format, Column: name, Want: fmt.Sprintf("at most %d rows of type null", maxNulls), Got: fmt.Sprint(rows)}
	}
	return &list[float64]{values: slices.Repeat([]float64{math.NaN()}, int(rows))}, nil
}

// integer returns value i, and whether it is in the range of int.
func (f *arrowField) integer(data []byte, i int) (int, bool) {
	switch f.bits {
	case 8:
		if f.unsigned {
			return int(data[i]), true
		}
		return int(int8(data[i])), true
	case 16:
		v := binary.LittleEndian.Uint16(data[2*i:])
		if f.unsigned {
			return int(v), true
		}
		return int(int16(v)), true
	case 32:
		v := binary.LittleEndian.Uint32(data[4*i:])
		if f.unsigned {
			return int(v), true
		}
		return int(int32(v)), true
	}
	v := binary.LittleEndian.Uint64(data[8*i:])
	return int(v), !f.unsigned || v <= math.MaxInt64
}

func (f *arrowField) float(data []byte, i int) float64 {
	switch f.bits {
	case 16:
		return float64(tensortype.Float16Value(binary.LittleEndian.Uint16(data[2*i:])))
	case 32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
}

func (f *arrowField) decimal(data []byte, i int) (float64, bool) {
	size := f.bits / 8
	digits := slices.Clone(data[size*i : size*(i+1)])
	slices.Reverse(digits)
	return decimal(digits, f.scale)
}

// decimal returns the float64 that is nearest to a decimal, an integer in two's complement, big endian, divided by 10^scale.
func decimal(digits []byte, scale int) (float64, bool) {
	unscaled := new(big.Int).SetBytes(digits)
	if len(digits) > 0 && digits[0] >= 0x80 {
		unscaled.Sub(unscaled, new(big.Int).Lsh(big.NewInt(1), uint(8*len(digits))))
	}
	x, err := strconv.ParseFloat(fmt.Sprintf("%de%d", unscaled, -scale), 64)
	return x, err == nil
}

// moment returns what reads the time of value i, and the bits of a value.
func (f *arrowField) moment() (at func(data []byte, i int) time.Time, bits int) {
	if f.number == arrowDate && f.unit == 0 {
		return func(data []byte, i int) time.Time {
			return time.Unix(86400*int64(int32(binary.LittleEndian.Uint32(data[4*i:]))), 0)
		}, 32
	}
	convert := time.UnixMilli
	if f.number == arrowTimestamp {
		convert = []func(int64) time.Time{
			func(s int64) time.Time { return time.Unix(s, 0) }, time.UnixMilli, time.UnixMicro,
			func(ns int64) time.Time { return time.Unix(ns/1e9, ns%1e9) },
		}[f.unit]
	}
	return func(data []byte, i int) time.Time { return convert(int64(binary.LittleEndian.Uint64(data[8*i:]))) }, 64
}

// text returns what reads the string of value i, and the number of values. data is the second buffer: offsets in the third one, or
// views.
func (c *arrowColumn) text(data []byte) (text func(i int) string, n int, err error) {
	if c.rows == 0 { // the offsets may be missing
		return nil, 0, nil
	}
	if c.number == arrowUtf8View {
		text, err = c.views(data)
		return text, c.checked(data, 128), err
	}
	b, err := c.buffer(2)
	if err != nil {
		return nil, 0, err
	}
	all := string(b)
	if c.number == arrowLargeUtf8 {
		return func(i int) string {
			return all[int64(binary.LittleEndian.Uint64(data[8*i:])):int64(binary.LittleEndian.Uint64(data[8*i+8:]))]
		}, c.checked(data[8:], 64), nil
	}
	return func(i int) string {
		return all[int32(binary.LittleEndian.Uint32(data[4*i:])):int32(binary.LittleEndian.Uint32(data[4*i+4:]))]
	}, c.checked(data[4:], 32), nil
}

// views is text for views of 16 bytes: the length, and up to 12 bytes of text, or else the number of a buffer and the offset
// in it.
func (c *arrowColumn) views(data []byte) (func(i int) string, error) {
	var buffers []string
	for k := range c.variadic {
		b, err := c.buffer(2 + k)
		if err != nil {
			return nil, err
		}
		buffers = append(buffers, string(b))
	}
	return func(i int) string {
		v := data[16*i : 16*i+16]
		n := int(int32(binary.LittleEndian.Uint32(v)))
		if n <= 12 {
			return string(v[4 : 4+n])
		}
		from := int(int32(binary.LittleEndian.Uint32(v[12:])))
		return buffers[int32(binary.LittleEndian.Uint32(v[8:]))][from : from+n]
	}, nil
}
