package token

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
)

// Decode returns the text of tokens without special ones, such as [CLS]. A number that is no token is
// an error.
func (t *Tokenizer) Decode(ids []int) (string, error) {
	return t.text(ids, func(id int) bool { return !t.special[id] })
}

// DecodeAll is [Tokenizer.Decode] with special tokens.
func (t *Tokenizer) DecodeAll(ids []int) (string, error) {
	return t.text(ids, func(int) bool { return true })
}

func (t *Tokenizer) text(ids []int, show func(id int) bool) (string, error) {
	var tokens []string
	for i, id := range ids {
		token, ok := t.tokens[id]
		if !ok {
			return "", fmt.Errorf("token: element %d, %d, is not the number of a token", i, id)
		}
		if show(id) {
			tokens = append(tokens, token)
		}
	}
	return t.decode(tokens), nil
}

func newDecoder(p *part) (func(tokens []string) string, error) {
	if p == nil {
		return func(tokens []string) string { return strings.Join(tokens, " ") }, nil
	}
	switch p.kind {
	case "ByteLevel":
		return fromByteLevel, nil
	case "WordPiece":
		o := struct {
			Prefix  string
			Cleanup bool
		}{"##", true}
		err := p.into(&o)
		return func(tokens []string) string { return joinWordPieces(tokens, o.Prefix, o.Cleanup) }, err
	case "Sequence":
		return newDecoderChain(p)
	case "Metaspace":
		o, err := readMetaspace(p)
		return func(tokens []string) string {
			var b strings.Builder
			for i, token := range tokens {
				by := " "
				if i == 0 && o.Scheme != "never" {
					by = ""
				}
				b.WriteString(strings.ReplaceAll(token, o.Replacement, by))
			}
			return b.String()
		}, err
	}
	return nil, unsupported("decoder %q", p.kind)
}

// fromByteLevel converts the characters of byte-level tokens to bytes. Tokens with other characters
// stay as they are, and bytes that are not UTF-8 become U+FFFD.
func fromByteLevel(tokens []string) string {
	var all []byte
	for _, token := range tokens {
		start := len(all)
		for _, r := range token {
			b, ok := letterBytes[r]
			if !ok {
				all = append(all[:start], token...)
				break
			}
			all = append(all, b)
		}
	}
	text, err := unicode.UTF8.NewDecoder().Bytes(all)
	if err != nil {
		return strings.ToValidUTF8(string(all), "\ufffd")
	}
	return string(text)
}

// joinWordPieces joins tokens to words; cleanup removes the spaces that English has not.
func joinWordPieces(tokens []string, prefix string, cleanup bool) string {
	clean := strings.NewReplacer()
	if cleanup {
		clean = strings.NewReplacer(" .", ".", " ?", "?", " !", "!", " ,", ",", " ' ", "'", " n't", "n't", " 'm", "'m", " do not", " don't", " 's", "'s", " 've", "'ve", " 're", "'re")
	}
	var b strings.Builder
	for i, token := range tokens {
		if i > 0 {
			if rest, ok := strings.CutPrefix(token, prefix); ok {
				token = rest
			} else {
				token = " " + token
			}
		}
		b.WriteString(clean.Replace(token))
	}
	return b.String()
}

// newDecoderChain returns a decoder of several steps, of which each gets the tokens of the one before.
func newDecoderChain(p *part) (func(tokens []string) string, error) {
	var o struct{ Decoders []*part }
	if err := p.into(&o); err != nil {
		return nil, err
	}
	steps := make([]func([]string) []string, len(o.Decoders))
	for i, d := range o.Decoders {
		var err error
		if steps[i], err = newDecoderStep(d); err != nil {
			return nil, err
		}
	}
	return func(tokens []string) string {
		for _, step := range steps {
			tokens = step(tokens)
		}
		return strings.Join(tokens, "")
	}, nil
}

func newDecoderStep(p *part) (func([]string) []string, error) {
	switch p.kind {
	case "ByteLevel":
		return func(tokens []string) []string { return []string{fromByteLevel(tokens)} }, nil
	case "ByteFallback":
		return fromByteTokens, nil
	case "Fuse":
		return func(tokens []string) []string { return []string{strings.Join(tokens, "")} }, nil
	case "Replace":
		replace, err := newNormalizer(p)
		return eachToken(replace), err
	case "Strip":
		var o struct {
			Content     string
			Start, Stop int
		}
		if err := p.into(&o); err != nil {
			return nil, err
		}
		if o.Content == "" {
			return nil, unsupported("decoder \"Strip\" without content")
		}
		return eachToken(func(token string) string {
			for range o.Start {
				token = strings.TrimPrefix(token, o.Content)
			}
			for range o.Stop {
				token = strings.TrimSuffix(token, o.Content)
			}
			return token
		}), nil
	}
	return nil, unsupported("decoder %q in a sequence", p.kind)
}

func eachToken(f func(string) string) func([]string) []string {
	return func(tokens []string) []string {
		changed := make([]string, len(tokens))
		for i, token := range tokens {
			changed[i] = f(token)
		}
		return changed
	}
}

// fromByteTokens replaces tokens of bytes in a row, such as <0xE2> <0x82> <0xAC>, by their text, or by
// U+FFFD for each byte if they are not UTF-8 together.
func fromByteTokens(tokens []string) (texts []string) {
	var bytes []byte
	flush := func() {
		if len(bytes) == 0 {
			return
		}
		text := string(bytes)
		if !utf8.Valid(bytes) {
			text = strings.Repeat("\ufffd", len(bytes))
		}
		texts, bytes = append(texts, text), nil
	}
	for _, token := range tokens {
		if len(token) == 6 && strings.HasPrefix(token, "<0x") && token[5] == '>' {
			if b, err := strconv.ParseUint(token[3:5], 16, 8); err == nil {
				bytes = append(bytes, byte(b))
				continue
			}
		}
		flush()
		texts = append(texts, token)
	}
	flush()
	return texts
}
