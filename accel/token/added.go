package token

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

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
