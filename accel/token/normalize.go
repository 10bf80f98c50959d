package token

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
	"golang.org/x/text/unicode/norm"
)

func newNormalizer(p *part) (func(string) string, error) {
	if p == nil {
		return func(s string) string { return s }, nil
	}
	switch p.kind {
	case "NFC":
		return norm.NFC.String, nil
	case "NFD":
		return norm.NFD.String, nil
	case "NFKC":
		return norm.NFKC.String, nil
	case "NFKD":
		return norm.NFKD.String, nil
	case "Lowercase":
		return lower, nil
	case "StripAccents":
		return stripMarks, nil
	case "Prepend":
		var o struct{ Prepend string }
		err := p.into(&o)
		return func(s string) string {
			if s == "" {
				return s
			}
			return o.Prepend + s
		}, err
	case "Precompiled":
		return newPrecompiled(p)
	case "Strip":
		return newStrip(p)
	case "Replace":
		var o struct {
			Pattern struct{ String, Regex *string }
			Content string
		}
		if err := p.into(&o); err != nil {
			return nil, err
		}
		if r := o.Pattern.Regex; r != nil && *r == " {2,}" { // T5's
			return func(s string) string { return severalSpaces.ReplaceAllLiteralString(s, o.Content) }, nil
		}
		if o.Pattern.String == nil || *o.Pattern.String == "" {
			return nil, unsupported("normalizer %q with another pattern than a string", p.kind)
		}
		return func(s string) string { return strings.ReplaceAll(s, *o.Pattern.String, o.Content) }, nil
	case "BertNormalizer":
		return newBERTNormalizer(p)
	case "Sequence":
		var o struct{ Normalizers []*part }
		if err := p.into(&o); err != nil {
			return nil, err
		}
		all := make([]func(string) string, len(o.Normalizers))
		for i, part := range o.Normalizers {
			var err error
			if all[i], err = newNormalizer(part); err != nil {
				return nil, err
			}
		}
		return func(s string) string {
			for _, f := range all {
				s = f(s)
			}
			return s
		}, nil
	}
	return nil, unsupported("normalizer %q", p.kind)
}

var severalSpaces = regexp.MustCompile(" {2,}")

// newStrip returns the normalizer that removes white space at the ends of a text.
func newStrip(p *part) (func(string) string, error) {
	var o struct {
		Left  bool `json:"strip_left"`
		Right bool `json:"strip_right"`
	}
	err := p.into(&o)
	return func(s string) string {
		if o.Left {
			s = strings.TrimLeftFunc(s, unicode.IsSpace)
		}
		if o.Right {
			s = strings.TrimRightFunc(s, unicode.IsSpace)
		}
		return s
	}, err
}

// lower converts each character to lower case, without regard to its neighbors.
func lower(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r == 'İ' { // the only character whose lower case has two
			b.WriteString("i\u0307")
			continue
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

func stripMarks(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, s)
}

func newBERTNormalizer(p *part) (func(string) string, error) {
	var o struct {
		Clean        bool  `json:"clean_text"`
		Chinese      bool  `json:"handle_chinese_chars"`
		StripAccents *bool `json:"strip_accents"`
		Lowercase    bool
	}
	if err := p.into(&o); err != nil {
		return nil, err
	}
	strip := o.Lowercase
	if o.StripAccents != nil {
		strip = *o.StripAccents
	}
	return func(s string) string {
		if o.Clean {
			s = strings.Map(clean, s)
		}
		if o.Chinese {
			s = spaceChinese(s)
		}
		if strip {
			s = stripMarks(norm.NFD.String(s))
		}
		if o.Lowercase {
			s = lower(s)
		}
		return s
	}, nil
}

// clean removes control characters and makes all white space spaces.
func clean(r rune) rune {
	switch {
	case r == '\t' || r == '\n' || r == '\r':
		return ' '
	case r == 0 || r == unicode.ReplacementChar || !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z):
		return -1
	case unicode.IsSpace(r):
		return ' '
	}
	return r
}

// spaceChinese puts spaces around each ideograph.
func spaceChinese(s string) string {
	var b strings.Builder
	for _, r := range s {
		if isChinese(r) {
			b.WriteRune(' ')
			b.WriteRune(r)
			b.WriteRune(' ')
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// isChinese reports whether BERT treats a character as an ideograph.
func isChinese(r rune) bool {
	for _, block := range [][2]rune{{0x4E00, 0x9FFF}, {0x3400, 0x4DBF}, {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F}, {0x2B740, 0x2B81F}, {0x2B920, 0x2CEAF}, {0xF900, 0xFAFF}, {0x2F800, 0x2FA1F}} {
		if r >= block[0] && r <= block[1] {
			return true
		}
	}
	return false
}

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
