package token

import (
	"fmt"
	"unicode/utf8"
)

// newWordPiece returns BERT's WordPiece (Wu et al., 2016): the longest token that begins a word, then
// the longest with a prefix that continues it, and so on.
func (t *Tokenizer) newWordPiece(p *part) (func(word string) []int, error) {
	o := struct {
		Unknown string `json:"unk_token"`
		Prefix  string `json:"continuing_subword_prefix"`
		Most    int    `json:"max_input_chars_per_word"`
		Vocab   map[string]int
	}{Unknown: "[UNK]", Prefix: "##", Most: 100}
	if err := p.into(&o); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	unknown, ok := o.Vocab[o.Unknown]
	if !ok {
		return nil, fmt.Errorf("model: the vocabulary has no unk_token %q", o.Unknown)
	}
	for token, id := range o.Vocab {
		t.ids[token] = id
	}
	return func(word string) []int {
		if utf8.RuneCountInString(word) > o.Most {
			return []int{unknown}
		}
		var ids []int
		for begin := 0; begin < len(word); {
			prefix := ""
			if begin > 0 {
				prefix = o.Prefix
			}
			end, id := len(word), 0
			for ; end > begin; end-- {
				if end < len(word) && !utf8.RuneStart(word[end]) {
					continue
				}
				var ok bool
				if id, ok = o.Vocab[prefix+word[begin:end]]; ok {
					break
				}
			}
			if end == begin {
				return []int{unknown}
			}
			ids, begin = append(ids, id), end
		}
		return ids
	}, nil
}
