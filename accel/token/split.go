package token

import (
	"fmt"
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
			words = splitBy(gpt2Word, text)
		}
		return toByteLevel(words)
	}, nil
}

// splitBy splits a text into words, given a function that returns the length of the first one.
func splitBy(word func(text string) int, text string) (words []string) {
	for text != "" {
		n := word(text)
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

// gpt2Word returns the length of the first word of a text by GPT-2's regular expression:
//
//	'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
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
	if kind := classOf(r); kind != space {
		return begin + run(text[begin:], kind)
	}
	return spaces(text)
}

// spaces returns the length of the white space at the beginning of a text, all but its last character
// before a word.
func spaces(text string) int {
	n := run(text, space)
	if _, last := utf8.DecodeLastRuneInString(text[:n]); n < len(text) && last < n {
		return n - last
	}
	return n
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

// toByteLevel replaces the bytes of words by the characters that stand for them.
func toByteLevel(words []string) []string {
	for i, word := range words {
		var b strings.Builder
		for i := range len(word) {
			b.WriteRune(byteLetters[word[i]])
		}
		words[i] = b.String()
	}
	return words
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
	return func(text string, first bool) []string {
		text = strings.ReplaceAll(text, " ", o.Replacement)
		if (o.Scheme == "always" || o.Scheme == "first" && first) && !strings.HasPrefix(text, o.Replacement) {
			text = o.Replacement + text
		}
		if o.Split != nil && !*o.Split {
			return whole(text)
		}
		return splitBy(func(text string) int {
			letters := strings.TrimPrefix(text, o.Replacement)
			if n := strings.Index(letters, o.Replacement); n >= 0 {
				return len(text) - len(letters) + n
			}
			return len(text)
		}, text)
	}, nil
}

// patterns are the regular expressions that models split texts by. They look ahead, which package
// regexp does not support, so a function finds the next word of each.
var patterns = map[string]func(text string) int{
	gpt2Pattern: gpt2Word,
	// Llama 3 and GPT-4
	contractions + `|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}` + rest: func(text string) int { return llama3Word(text, 3) },
	// Qwen 2 and 3
	contractions + `|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}` + rest: func(text string) int { return llama3Word(text, 1) },
}

const (
	gpt2Pattern  = `'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
	contractions = `(?i:'s|'t|'re|'ve|'m|'ll|'d)`
	rest         = `| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
)

// newSplitBytes splits by a regular expression and converts the words to the characters that stand
// for bytes.
func newSplitBytes(split, level *part) (func(text string, first bool) []string, error) {
	var o struct {
		Pattern  struct{ Regex *string }
		Behavior string
		Invert   bool
	}
	if err := split.into(&o); err != nil {
		return nil, err
	}
	l := struct {
		AddPrefixSpace bool `json:"add_prefix_space"`
		UseRegex       bool `json:"use_regex"`
	}{true, true}
	if err := level.into(&l); err != nil {
		return nil, err
	}
	switch {
	case o.Pattern.Regex == nil || o.Behavior != "Isolated" || o.Invert:
		return nil, unsupported("pre_tokenizer \"Split\" that is not by a regular expression with behavior Isolated")
	case l.AddPrefixSpace || l.UseRegex:
		return nil, unsupported("pre_tokenizer \"ByteLevel\" after \"Split\" with add_prefix_space or use_regex")
	}
	word, ok := patterns[*o.Pattern.Regex]
	if !ok {
		return nil, unsupported("pre_tokenizer \"Split\" with the regular expression %q", *o.Pattern.Regex)
	}
	return func(text string, _ bool) []string { return toByteLevel(splitBy(word, text)) }, nil
}

// llama3Word returns the length of the first word of a text by Llama 3's regular expression, with at
// most the given number of digits in a word:
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
func llama3Word(text string, digits int) int {
	if n := contraction(text); n > 0 {
		return n
	}
	first, size := utf8.DecodeRuneInString(text)
	kind := classOf(first)
	switch after := text[size:]; {
	case kind == letter:
		return size + run(after, letter)
	case kind == number:
		n := size
		for count := 1; count < digits; count++ {
			r, more := utf8.DecodeRuneInString(text[n:])
			if more == 0 || classOf(r) != number {
				break
			}
			n += more
		}
		return n
	case first != '\r' && first != '\n' && run(after, letter) > 0:
		return size + run(after, letter)
	case kind == other:
		return others(text)
	case first == ' ' && run(after, other) > 0:
		return 1 + others(after)
	}
	// White space: up to its last line break, or else all but the last character before a word.
	if last := strings.LastIndexAny(text[:run(text, space)], "\r\n"); last >= 0 {
		return last + 1
	}
	return spaces(text)
}

// contraction returns the length of 's, 't, 're, 've, 'm, 'll or 'd, in any case, at the beginning of
// a text; 0 if there is none.
func contraction(text string) int {
	if !strings.HasPrefix(text, "'") {
		return 0
	}
	r, size := utf8.DecodeRuneInString(text[1:])
	switch unicode.ToLower(r) {
	case 's', 't', 'm', 'd', '\u017f': // a long s is an s
		return 1 + size
	}
	for _, end := range []string{"re", "ve", "ll"} {
		if len(text) > 2 && strings.EqualFold(text[1:3], end) {
			return 3
		}
	}
	return 0
}

// run returns the length of the characters of a class at the beginning of a text.
func run(text string, kind class) int {
	for i, r := range text {
		if classOf(r) != kind {
			return i
		}
	}
	return len(text)
}

// others returns the length of other characters at the beginning of a text and the line breaks after
// them.
func others(text string) int {
	n := run(text, other)
	for n < len(text) && (text[n] == '\r' || text[n] == '\n') {
		n++
	}
	return n
}

// addedToken is a token that is found in the text before it is split into words.
type addedToken struct {
	ID         int
	Content    string
	SingleWord bool `json:"single_word"`
	LStrip     bool // it swallows white space before it
	RStrip     bool // and after it
	Normalized bool // it is found in normalized text
	Special    bool
}

func (t *Tokenizer) addTokens(added []addedToken) error {
	for _, a := range added {
		if a.SingleWord {
			return unsupported("the added token %q with single_word", a.Content)
		}
		if a.Content == "" {
			return fmt.Errorf("the added token %d is empty", a.ID)
		}
		t.ids[a.Content] = a.ID
		t.special[a.ID] = a.Special
		if a.Normalized {
			a.Content = t.normalize(a.Content)
		}
		t.added = append(t.added, a)
		if a.Content != "" {
			t.begins[a.Content[0]] = true
		}
	}
	return nil
}

// piece is an added token, or text between added tokens.
type piece struct {
	text  string
	added bool
	id    int
}

// splitAdded splits a text at added tokens, of which the leftmost and then the longest counts.
func (t *Tokenizer) splitAdded(text string, normalized bool) []piece {
	var pieces []piece
	begin := 0
	for at := 0; at < len(text); {
		if !t.begins[text[at]] {
			at++
			continue
		}
		var longest *addedToken
		for i := range t.added {
			a := &t.added[i]
			if a.Normalized == normalized && a.Content != "" && strings.HasPrefix(text[at:], a.Content) && (longest == nil || len(a.Content) > len(longest.Content)) {
				longest = a
			}
		}
		if longest == nil {
			_, size := utf8.DecodeRuneInString(text[at:])
			at += size
			continue
		}
		before, end := text[begin:at], at+len(longest.Content)
		if longest.LStrip {
			before = strings.TrimRightFunc(before, unicode.IsSpace)
		}
		if longest.RStrip {
			end = len(text) - len(strings.TrimLeftFunc(text[end:], unicode.IsSpace))
		}
		if before != "" {
			pieces = append(pieces, piece{text: before})
		}
		pieces = append(pieces, piece{added: true, id: longest.ID})
		begin, at = end, end
	}
	if begin < len(text) {
		pieces = append(pieces, piece{text: text[begin:]})
	}
	return pieces
}
