package token

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// newSplit returns a function that splits normalized text into words. first says that no text or
// token comes before.
func newSplit(p *part) (func(text string, first bool) []string, error) {
	if p == nil {
		return func(text string, _ bool) []string { return whole(text) }, nil
	}
	switch p.kind {
	case "ByteLevel":
		return newByteLevel(p)
	case "BertPreTokenizer":
		return func(text string, _ bool) []string { return splitBERT(text) }, nil
	case "Metaspace":
		return newMetaspace(p)
	case "Sequence":
		var o struct{ Pretokenizers []*part }
		if err := p.into(&o); err != nil {
			return nil, err
		}
		if len(o.Pretokenizers) == 1 {
			return newSplit(o.Pretokenizers[0])
		}
		if len(o.Pretokenizers) == 2 && o.Pretokenizers[0].kind == "Split" && o.Pretokenizers[1].kind == "ByteLevel" {
			return newSplitBytes(o.Pretokenizers[0], o.Pretokenizers[1])
		}
		if len(o.Pretokenizers) == 2 && o.Pretokenizers[0].kind == "WhitespaceSplit" {
			return newSplitSpaces(o.Pretokenizers[1])
		}
		return nil, unsupported("a pre_tokenizer of %d parts that are not Split and ByteLevel", len(o.Pretokenizers))
	}
	return nil, unsupported("pre_tokenizer %q", p.kind)
}

// newSplitSpaces returns the function of a pre_tokenizer for each word between white space.
func newSplitSpaces(p *part) (func(text string, first bool) []string, error) {
	split, err := newSplit(p)
	return func(text string, first bool) (words []string) {
		leading := strings.TrimLeftFunc(text, unicode.IsSpace) != text
		for i, word := range strings.Fields(text) {
			words = append(words, split(word, first && i == 0 && !leading)...)
		}
		return words
	}, err
}

func whole(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

func newByteLevel(p *part) (func(text string, first bool) []string, error) {
	o := struct {
		AddPrefixSpace bool `json:"add_prefix_space"`
		UseRegex       bool `json:"use_regex"`
	}{AddPrefixSpace: true, UseRegex: true}
	if err := p.into(&o); err != nil {
		return nil, err
	}
	return func(text string, _ bool) []string {
		if o.AddPrefixSpace && text != "" && !strings.HasPrefix(text, " ") {
			text = " " + text
		}
		words := whole(text)
		if o.UseRegex {
			words = splitGPT2(text)
		}
		for i, w := range words {
			words[i] = toByteLevel(w)
		}
		return words
	}, nil
}

// splitGPT2 splits a text as GPT-2's regular expression does:
//
//	'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
func splitGPT2(text string) (words []string) {
	for text != "" {
		n := gpt2Word(text)
		words, text = append(words, text[:n]), text[n:]
	}
	return words
}

// class is how GPT-2's regular expression distinguishes characters.
type class int

const (
	letter class = iota
	number
	space
	other
)

func classOf(r rune) class {
	switch {
	case unicode.IsLetter(r):
		return letter
	case unicode.IsNumber(r):
		return number
	case unicode.IsSpace(r):
		return space
	}
	return other
}

// gpt2Word returns the length of the first word of a text.
func gpt2Word(text string) int {
	for _, suffix := range []string{"'s", "'d", "'m", "'t", "'ll", "'ve", "'re"} {
		if strings.HasPrefix(text, suffix) {
			return len(suffix)
		}
	}
	begin := 0
	if len(text) > 1 && text[0] == ' ' {
		if r, _ := utf8.DecodeRuneInString(text[1:]); classOf(r) != space {
			begin = 1
		}
	}
	r, _ := utf8.DecodeRuneInString(text[begin:])
	kind, end, last := classOf(r), len(text), begin
	for i, r := range text[begin:] {
		if classOf(r) != kind {
			end = begin + i
			break
		}
		last = begin + i
	}
	if kind == space && end < len(text) && last > 0 {
		return last // the last white space belongs to the next word
	}
	return end
}

// byteLetters are the characters that stand for bytes in byte-level vocabularies.
var byteLetters, letterBytes = byteTables()

func byteTables() (letters [256]rune, bytes map[rune]byte) {
	bytes = map[rune]byte{}
	next := rune(256)
	for b := range 256 {
		r := rune(b)
		if !(r >= '!' && r <= '~' || r >= '¡' && r <= '¬' || r >= '®' && r <= 'ÿ') {
			r = next
			next++
		}
		letters[b], bytes[r] = r, byte(b)
	}
	return letters, bytes
}

func toByteLevel(word string) string {
	var b strings.Builder
	for i := range len(word) {
		b.WriteRune(byteLetters[word[i]])
	}
	return b.String()
}

// splitBERT splits at white space, and around each punctuation character.
func splitBERT(text string) (words []string) {
	begin := -1
	end := func(at int) {
		if begin >= 0 {
			words, begin = append(words, text[begin:at]), -1
		}
	}
	for i, r := range text {
		switch {
		case unicode.IsSpace(r):
			end(i)
		case isPunctuation(r):
			end(i)
			words = append(words, text[i:i+utf8.RuneLen(r)])
		case begin < 0:
			begin = i
		}
	}
	end(len(text))
	return words
}

func isPunctuation(r rune) bool {
	return r < utf8.RuneSelf && r > ' ' && r < 127 && !unicode.IsLetter(r) && !unicode.IsDigit(r) || unicode.IsPunct(r)
}

// metaspace are the settings of a Metaspace.
type metaspace struct {
	Replacement string
	Scheme      string `json:"prepend_scheme"`
	Split       *bool
}

func readMetaspace(p *part) (o metaspace, err error) {
	o = metaspace{Replacement: "▁", Scheme: "always"}
	if err := p.into(&o); err != nil {
		return o, err
	}
	if o.Replacement == "" || o.Scheme != "always" && o.Scheme != "first" && o.Scheme != "never" {
		return o, unsupported("Metaspace with prepend_scheme %q and replacement %q", o.Scheme, o.Replacement)
	}
	return o, nil
}

func newMetaspace(p *part) (func(text string, first bool) []string, error) {
	o, err := readMetaspace(p)
	if err != nil {
		return nil, err
	}
	return func(text string, first bool) (words []string) {
		text = strings.ReplaceAll(text, " ", o.Replacement)
		if (o.Scheme == "always" || o.Scheme == "first" && first) && !strings.HasPrefix(text, o.Replacement) {
			text = o.Replacement + text
		}
		if o.Split != nil && !*o.Split {
			return whole(text)
		}
		for text != "" {
			n := strings.Index(text[min(len(o.Replacement), len(text)):], o.Replacement)
			if !strings.HasPrefix(text, o.Replacement) {
				n = strings.Index(text, o.Replacement)
			} else if n >= 0 {
				n += len(o.Replacement)
			}
			if n < 0 {
				n = len(text)
			}
			words, text = append(words, text[:n]), text[n:]
		}
		return words
	}, nil
}
