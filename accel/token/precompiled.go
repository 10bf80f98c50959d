package token

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/rivo/uniseg"
)

// charsMap is the map of characters of a SentencePiece model, the normalizer "Precompiled" of T5 and
// XLM-RoBERTa: sequences of bytes and what replaces them. The file has
//
//	the number of bytes of the trie, uint32
//	the trie: a double array of uint32 units (Aoe, 1989) in the format of Darts-clone
//	the replacements: strings that end with a zero byte
//
// all little-endian. The value of a key in the trie is the offset of its replacement.
type charsMap struct {
	trie         []uint32
	replacements string
}

func newPrecompiled(p *part) (func(string) string, error) {
	var o struct {
		CharsMap string `json:"precompiled_charsmap"`
	}
	if err := p.into(&o); err != nil {
		return nil, err
	}
	raw, err := base64.StdEncoding.DecodeString(o.CharsMap)
	if err != nil {
		return nil, fmt.Errorf("normalizer Precompiled: %w", err)
	}
	m, err := readCharsMap(raw)
	if err != nil {
		return nil, fmt.Errorf("normalizer Precompiled: %w", err)
	}
	return m.normalize, nil
}

func readCharsMap(raw []byte) (*charsMap, error) {
	const word = 4
	if len(raw) < word {
		return nil, errors.New("the map of characters is empty")
	}
	size := int64(binary.LittleEndian.Uint32(raw))
	if raw = raw[word:]; size == 0 || size%word != 0 || size > int64(len(raw)) {
		return nil, fmt.Errorf("the map of characters is damaged: its trie has %d of %d bytes", size, len(raw))
	}
	m := &charsMap{replacements: string(raw[size:])}
	for at := int64(0); at < size; at += word {
		m.trie = append(m.trie, binary.LittleEndian.Uint32(raw[at:]))
	}
	return m, nil
}

// normalize replaces short grapheme clusters, and the characters of others.
func (m *charsMap) normalize(text string) string {
	const longest = 5 // bytes of a cluster that is looked up as a whole, as in Hugging Face's tokenizers
	var b strings.Builder
	for state := -1; text != ""; {
		var cluster string
		cluster, text, _, state = uniseg.FirstGraphemeClusterInString(text, state)
		if len(cluster) <= longest {
			if by, ok := m.replacement(cluster); ok {
				b.WriteString(by)
				continue
			}
		}
		for _, r := range cluster {
			if by, ok := m.replacement(string(r)); ok {
				b.WriteString(by)
			} else {
				b.WriteRune(r)
			}
		}
	}
	return b.String()
}

// replacement returns what replaces the shortest key that text begins with. That is what Hugging
// Face's tokenizers do, even if text has more bytes.
func (m *charsMap) replacement(text string) (by string, ok bool) {
	at := offset(m.trie[0])
	for i := range len(text) {
		c := uint32(text[i])
		if c == 0 {
			break
		}
		if at ^= c; int64(at) >= int64(len(m.trie)) {
			return "", false
		}
		unit := m.trie[at]
		if unit&(1<<31|0xff) != c { // the label
			return "", false
		}
		at ^= offset(unit)
		if unit>>8&1 == 0 { // no key ends here
			continue
		}
		if int64(at) >= int64(len(m.trie)) {
			return "", false
		}
		from := m.trie[at] & (1<<31 - 1)
		if int64(from) >= int64(len(m.replacements)) {
			return "", false
		}
		by, _, _ = strings.Cut(m.replacements[from:], "\x00")
		return by, true
	}
	return "", false
}

// offset returns the offset of a unit of the trie.
func offset(unit uint32) uint32 { return unit >> 10 << (unit & (1 << 9) >> 6) }
