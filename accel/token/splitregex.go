package token

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

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
	return func(text string, _ bool) (words []string) {
		for text != "" {
			n := word(text)
			words, text = append(words, toByteLevel(text[:n])), text[n:]
		}
		return words
	}, nil
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
	spaces := run(text, space)
	if last := strings.LastIndexAny(text[:spaces], "\r\n"); last >= 0 {
		return last + 1
	}
	if _, last := utf8.DecodeLastRuneInString(text[:spaces]); spaces < len(text) && last < spaces {
		return spaces - last
	}
	return spaces
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
