package token

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// bpe merges neighboring tokens (Sennrich et al., 2016), in the order in which the merges were
// learned.
type bpe struct {
	ids   map[string]int
	ascii [utf8.RuneSelf]struct { // ids of ASCII characters, which are faster to find here
		id int
		ok bool
	}
	merges       map[pair]merge
	ignoreMerges bool
	unknown      int // -1 for none
	fuseUnknown  bool
	bytes        *[256]int // tokens of bytes, for characters that are not in the vocabulary; nil for none
}

// pair is the tokens of two neighbors.
type pair struct{ left, right int32 }

type merge struct{ rank, id int32 }

func (t *Tokenizer) newBPE(p *part) (func(word string) []int, error) {
	var o struct {
		Dropout      *float64
		Unknown      *string `json:"unk_token"`
		Prefix       *string `json:"continuing_subword_prefix"`
		Suffix       *string `json:"end_of_word_suffix"`
		FuseUnknown  bool    `json:"fuse_unk"`
		ByteFallback bool    `json:"byte_fallback"`
		IgnoreMerges bool    `json:"ignore_merges"`
		Vocab        map[string]int
		Merges       []json.RawMessage
	}
	if err := p.into(&o); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	some := func(s *string) bool { return s != nil && *s != "" }
	switch {
	case o.Dropout != nil && *o.Dropout > 0:
		return nil, unsupported("BPE with dropout")
	case some(o.Prefix) || some(o.Suffix):
		return nil, unsupported("BPE with a prefix or suffix of subwords")
	}
	b := &bpe{ids: o.Vocab, merges: make(map[pair]merge, len(o.Merges)), ignoreMerges: o.IgnoreMerges, unknown: -1, fuseUnknown: o.FuseUnknown}
	for r := range b.ascii {
		b.ascii[r].id, b.ascii[r].ok = b.ids[string(rune(r))]
	}
	if o.Unknown != nil {
		id, ok := o.Vocab[*o.Unknown]
		if !ok {
			return nil, fmt.Errorf("model: the vocabulary has no unk_token %q", *o.Unknown)
		}
		b.unknown = id
	}
	if o.ByteFallback {
		b.bytes = new([256]int)
		for v := range b.bytes {
			id, ok := o.Vocab[fmt.Sprintf("<0x%02X>", v)]
			if !ok {
				return nil, unsupported("BPE with byte_fallback without a token for each byte")
			}
			b.bytes[v] = id
		}
	}
	for rank, text := range o.Merges {
		var two [2]string
		var line string
		if err := json.Unmarshal(text, &line); err == nil {
			left, right, ok := strings.Cut(line, " ")
			if !ok {
				return nil, fmt.Errorf("model: merge %d, %q, is not a pair", rank, line)
			}
			two = [2]string{left, right}
		} else if err := json.Unmarshal(text, &two); err != nil {
			return nil, fmt.Errorf("model: merge %d: %w", rank, err)
		}
		left, a := o.Vocab[two[0]]
		right, b2 := o.Vocab[two[1]]
		id, c := o.Vocab[two[0]+two[1]]
		if !a || !b2 || !c {
			return nil, fmt.Errorf("model: merge %d, %q, is not in the vocabulary", rank, two)
		}
		b.merges[pair{int32(left), int32(right)}] = merge{int32(rank), int32(id)}
	}
	for token, id := range o.Vocab {
		t.ids[token] = id
	}
	return b.encode, nil
}

// symbol is a token of a word while it is merged; its neighbors are indices.
type symbol struct {
	id, before, after int32 // id is -1 for a symbol that was merged into another one
}

// candidate is a pair of neighbors that may be merged.
type candidate struct {
	merge
	pair
	at int32
}

func (c candidate) before(d candidate) bool {
	return c.rank < d.rank || c.rank == d.rank && c.at < d.at
}

// candidates is a binary heap: the lowest rank first, then the leftmost. That of container/heap takes
// three times as long, since it allocates each element.
type candidates []candidate

func (c *candidates) push(one candidate) {
	h := append(*c, one)
	for i := len(h) - 1; i > 0 && h[i].before(h[(i-1)/2]); i = (i - 1) / 2 {
		h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
	}
	*c = h
}

func (c *candidates) pop() candidate {
	h := *c
	first, last := h[0], len(h)-1
	h[0] = h[last]
	h = h[:last]
	for i := 0; 2*i+1 < last; {
		least := 2*i + 1
		if least+1 < last && h[least+1].before(h[least]) {
			least++
		}
		if !h[least].before(h[i]) {
			break
		}
		h[i], h[least], i = h[least], h[i], least
	}
	*c = h
	return first
}

func (b *bpe) encode(word string) []int {
	if b.ignoreMerges {
		if id, ok := b.ids[word]; ok {
			return []int{id}
		}
	}
	symbols := b.letters(word)
	var queue candidates
	push := func(at int32) {
		if at < 0 || symbols[at].after < 0 {
			return
		}
		two := pair{symbols[at].id, symbols[symbols[at].after].id}
		if m, ok := b.merges[two]; ok {
			queue.push(candidate{m, two, at})
		}
	}
	for i := range symbols {
		push(int32(i))
	}
	for len(queue) > 0 {
		c := queue.pop()
		s := &symbols[c.at]
		if s.id != c.left || s.after < 0 || symbols[s.after].id != c.right {
			continue // one of the two was merged meanwhile
		}
		next := s.after
		s.id, s.after = c.id, symbols[next].after
		symbols[next].id = -1
		if s.after >= 0 {
			symbols[s.after].before = c.at
		}
		push(s.before)
		push(c.at)
	}
	ids := make([]int, 0, len(symbols))
	for _, s := range symbols {
		if s.id >= 0 {
			ids = append(ids, int(s.id))
		}
	}
	return ids
}

// letters returns the tokens of single characters. One that is not in the vocabulary has a token for
// each byte, or is the unknown token or, without such a token, left out.
func (b *bpe) letters(word string) []symbol {
	symbols := make([]symbol, 0, len(word))
	add := func(id int) {
		symbols = append(symbols, symbol{int32(id), int32(len(symbols) - 1), int32(len(symbols) + 1)})
	}
	fused := false
	for at, r := range word {
		letter := word[at : at+utf8.RuneLen(r)]
		id, ok := 0, false
		if r < utf8.RuneSelf {
			id, ok = b.ascii[r].id, b.ascii[r].ok
		} else {
			id, ok = b.ids[letter]
		}
		switch {
		case ok:
			add(id)
		case b.bytes != nil:
			for i := range len(letter) {
				add(b.bytes[letter[i]])
			}
		case b.unknown >= 0 && !fused:
			add(b.unknown)
		}
		if b.unknown >= 0 {
			fused = !ok && b.fuseUnknown
		}
	}
	if n := len(symbols); n > 0 {
		symbols[n-1].after = -1
	}
	return symbols
}

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

// unigram splits a word into the tokens with the highest product of probabilities (Kudo, 2018).
type unigram struct {
	ids     map[string]int
	scores  []float64 // logarithms of probabilities
	unknown int       // -1 for none
	least   float64   // score of an unknown character
	longest int       // bytes of a token
}

func (t *Tokenizer) newUnigram(p *part) (func(word string) []int, error) {
	var o struct {
		Unknown      *int `json:"unk_id"`
		ByteFallback bool `json:"byte_fallback"`
		Vocab        [][2]json.RawMessage
	}
	if err := p.into(&o); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	if o.ByteFallback {
		return nil, unsupported("Unigram with byte_fallback")
	}
	u := &unigram{ids: map[string]int{}, unknown: -1, least: math.Inf(1)}
	for id, entry := range o.Vocab {
		var token string
		var score float64
		if err := errors.Join(json.Unmarshal(entry[0], &token), json.Unmarshal(entry[1], &score)); err != nil {
			return nil, fmt.Errorf("model: token %d: %w", id, err)
		}
		u.ids[token], t.ids[token] = id, id
		u.scores = append(u.scores, score)
		u.least, u.longest = min(u.least, score), max(u.longest, len(token))
	}
	u.least -= 10
	if o.Unknown == nil || *o.Unknown < 0 || *o.Unknown >= len(u.scores) {
		return nil, unsupported("Unigram without a token for unknown characters")
	}
	u.unknown = *o.Unknown
	return u.encode, nil
}

func (u *unigram) encode(word string) []int {
	// ends[i] is the best split of the first i bytes.
	type end struct {
		id, begin int // begin is -1 if nothing ends here
		score     float64
	}
	ends := make([]end, len(word)+1)
	for i := range ends {
		ends[i].begin = -1
	}
	better := func(to, id, begin int, score float64) {
		if ends[to].begin < 0 || score > ends[to].score {
			ends[to] = end{id, begin, score}
		}
	}
	for begin, r := range word {
		size := utf8.RuneLen(r)
		single := false
		for to := begin + 1; to <= min(begin+u.longest, len(word)); to++ {
			if id, ok := u.ids[word[begin:to]]; ok {
				better(to, id, begin, ends[begin].score+u.scores[id])
				single = single || to-begin == size
			}
		}
		if !single {
			better(begin+size, u.unknown, begin, ends[begin].score+u.least)
		}
	}
	var ids []int
	for at := len(word); at > 0; at = ends[at].begin {
		if id := ends[at].id; id != u.unknown || len(ids) == 0 || ids[len(ids)-1] != id { // unknown characters in a row are one token
			ids = append(ids, id)
		}
	}
	slices.Reverse(ids)
	return ids
}
