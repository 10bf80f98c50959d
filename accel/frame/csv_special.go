package frame

import (
	"encoding/binary"
	"math/bits"
)

// specials finds the separators, quotation marks and line breaks in data, one after the other. It compares 64 bytes at
// once, since a loop over the bytes takes longer than parsing the values.
type specials struct {
	data      []byte
	separator uint64 // in all eight bytes
	block     int    // offset of the 64 bytes that found refers to
	found     uint64 // bit i is set if data[block+i] is special and was not returned
}

const everyByte = 0x0101010101010101

func newSpecials(data []byte, separator byte) specials {
	s := specials{data: data, separator: everyByte * uint64(separator)}
	s.load()
	return s
}

// seek continues the search at offset i. The offset is not before the last one found.
func (s *specials) seek(i int) {
	if i >= s.block+64 {
		s.block = i &^ 63
		s.load()
	}
	if i > s.block {
		s.found &= ^uint64(0) << (i - s.block)
	}
}

// find returns the offset of the next special byte, or the length of the data.
func (s *specials) find() int {
	for s.found == 0 {
		if s.block+64 >= len(s.data) {
			return len(s.data)
		}
		s.block += 64
		s.load()
	}
	i := s.block + bits.TrailingZeros64(s.found)
	s.found &= s.found - 1
	return i
}

// load compares the bytes of the block.
func (s *specials) load() {
	var block *[64]byte
	if s.block+64 <= len(s.data) {
		block = (*[64]byte)(s.data[s.block:])
	} else {
		block = new([64]byte) // zeros are not special
		copy(block[:], s.data[min(s.block, len(s.data)):])
	}
	s.found = 0
	for k := 56; k >= 0; k -= 8 {
		w := binary.LittleEndian.Uint64(block[k:])
		// The highest bit of each byte says whether it differs: from the separator, a quotation mark and a line break.
		differs := nonzeroBytes(w^s.separator) & nonzeroBytes(w^everyByte*'"') & nonzeroBytes(w^everyByte*'\n')
		// The product moves bit 8i+7 to bit 56+i.
		s.found = s.found<<8 | (^differs&(everyByte<<7)>>7*0x0102040810204080)>>56
	}
}

// nonzeroBytes sets the highest bit of each byte that is not zero; the other bits have no meaning.
func nonzeroBytes(w uint64) uint64 { return w&(everyByte*0x7f) + everyByte*0x7f | w }
