package token

import (
	"regexp"
	"strings"
	"unicode"

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
