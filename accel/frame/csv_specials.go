package frame

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// specials finds the separators, quotation marks and line breaks in data, one after the other. It compares 64 bytes at
// once, since a loop over the bytes takes longer than parsing the values.
type specials struct {
	separator byte
	masks     []uint64 // bit i%64 of element i/64 is set if byte i is special, or if i is the length of the data
	word      int
	found     uint64 // the bits of masks[word] that were not returned
}

// search begins with other data.
func (s *specials) search(data []byte, separator byte) {
	whole := len(data) / 64
	s.masks = slices.Grow(s.masks[:0], whole+1)[:whole+1]
	findSpecials(s.masks, data, separator)
	var last [64]byte // zeros are not special
	copy(last[:], data[64*whole:])
	findSpecials(s.masks[whole:], last[:], separator)
	s.masks[whole] |= 1 << (len(data) % 64)
	s.separator, s.word, s.found = separator, 0, s.masks[0]
}

// seek continues the search at an offset.
func (s *specials) seek(i int) {
	s.word = i / 64
	s.found = s.masks[s.word] &^ (1<<(i%64) - 1)
}

// find returns the offset of the next special byte, or the length of the data. Then it may not be called again.
func (s *specials) find() int {
	if s.found == 0 {
		s.load()
	}
	i := s.word*64 + bits.TrailingZeros64(s.found)
	s.found &= s.found - 1
	return i
}

// load goes on to the next bit that is set.
func (s *specials) load() {
	for s.found == 0 {
		s.word++
		s.found = s.masks[s.word]
	}
}

// all appends the offsets of all special bytes, and the length of the data.
func (s *specials) all(offsets []uint32) []uint32 {
	n := len(offsets)
	end := n
	for _, mask := range s.masks {
		end += bits.OnesCount64(mask)
	}
	offsets = slices.Grow(offsets, end-n+8)[:end+8]
	findOffsets(offsets[n:], s.masks)
	return offsets[:end]
}

const everyByte = 0x0101010101010101

// specialsGeneric sets the masks of the blocks of 64 bytes of data.
func specialsGeneric(masks []uint64, data []byte, separator byte) {
	for ; len(data) >= 64; data, masks = data[64:], masks[1:] {
		found := uint64(0)
		for k := 56; k >= 0; k -= 8 {
			w := binary.LittleEndian.Uint64(data[k:])
			// The highest bit of each byte says whether it differs: from the separator, a quotation mark and a line break.
			differs := nonzeroBytes(w^everyByte*uint64(separator)) & nonzeroBytes(w^everyByte*'"') & nonzeroBytes(w^everyByte*'\n')
			// The product moves bit 8i+7 to bit 56+i.
			found = found<<8 | (^differs&(everyByte<<7)>>7*0x0102040810204080)>>56
		}
		masks[0] = found
	}
}

// nonzeroBytes sets the highest bit of each byte that is not zero; the other bits have no meaning.
func nonzeroBytes(w uint64) uint64 { return w&(everyByte*0x7f) + everyByte*0x7f | w }

// offsetsGeneric sets the offsets of the bits that are set in masks.
func offsetsGeneric(offsets []uint32, masks []uint64) {
	n := 0
	for word, mask := range masks {
		for ; mask != 0; mask &= mask - 1 {
			offsets[n] = uint32(64*word + bits.TrailingZeros64(mask))
			n++
		}
	}
}
