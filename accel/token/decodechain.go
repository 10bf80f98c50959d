package token

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

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
