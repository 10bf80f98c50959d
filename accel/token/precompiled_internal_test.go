package token

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// TestDamagedCharsMap reads damaged maps of characters: each is an error or normalizes any text.
func TestDamagedCharsMap(t *testing.T) {
	for name, raw := range map[string][]byte{
		"empty":     nil,
		"no trie":   {0, 0, 0, 0, 'a'},
		"truncated": {8, 0, 0, 0, 1, 2, 3, 4},
		"odd":       {3, 0, 0, 0, 1, 2, 3, 4},
	} {
		if _, err := readCharsMap(raw); err == nil {
			t.Errorf("%s is no error", name)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		const units = 64
		raw := binary.LittleEndian.AppendUint32(nil, 4*units)
		for range units {
			unit := random.Uint32() & 0xff
			unit |= random.Uint32N(units) << 10 // offsets that often stay inside
			if random.IntN(4) == 0 {
				unit = random.Uint32()
			}
			raw = binary.LittleEndian.AppendUint32(raw, unit|random.Uint32N(2)<<8)
		}
		m, err := readCharsMap(append(raw, "a\x00bc"...))
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			m.normalize(string([]byte{byte(random.IntN(units)), byte(random.IntN(128)), 0xc3, 0xa9}))
		}
	}
}
