package token

import (
	"container/heap"
	"encoding/json"
	"fmt"
	"strings"
)

// bpe merges neighboring tokens (Sennrich et al., 2016), in the order in which the merges were
// learned.
type bpe struct {
	ids          map[string]int
	merges       map[[2]int]merge
	ignoreMerges bool
	unknown      int // -1 for none
	fuseUnknown  bool
}

type merge struct{ rank, id int }

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
	case o.ByteFallback:
		return nil, unsupported("BPE with byte_fallback")
	}
	b := &bpe{ids: o.Vocab, merges: make(map[[2]int]merge, len(o.Merges)), ignoreMerges: o.IgnoreMerges, unknown: -1, fuseUnknown: o.FuseUnknown}
	if o.Unknown != nil {
		id, ok := o.Vocab[*o.Unknown]
		if !ok {
			return nil, fmt.Errorf("model: the vocabulary has no unk_token %q", *o.Unknown)
		}
		b.unknown = id
	}
	for rank, text := range o.Merges {
		var pair [2]string
		var line string
		if err := json.Unmarshal(text, &line); err == nil {
			left, right, ok := strings.Cut(line, " ")
			if !ok {
				return nil, fmt.Errorf("model: merge %d, %q, is not a pair", rank, line)
			}
			pair = [2]string{left, right}
		} else if err := json.Unmarshal(text, &pair); err != nil {
			return nil, fmt.Errorf("model: merge %d: %w", rank, err)
		}
		left, a := o.Vocab[pair[0]]
		right, b2 := o.Vocab[pair[1]]
		id, c := o.Vocab[pair[0]+pair[1]]
		if !a || !b2 || !c {
			return nil, fmt.Errorf("model: merge %d, %q, is not in the vocabulary", rank, pair)
		}
		b.merges[[2]int{left, right}] = merge{rank, id}
	}
	for token, id := range o.Vocab {
		t.ids[token] = id
	}
	return b.encode, nil
}

// symbol is a token of a word while it is merged; its neighbors are indices.
type symbol struct {
	id, before, after int // id is -1 for a symbol that was merged into another one
}

// candidate is a pair of neighbors that may be merged.
type candidate struct {
	merge
	at          int
	left, right int // the ids of the pair
}

// candidates is a heap of candidates: the lowest rank first, then the leftmost.
type candidates []candidate

func (c candidates) Len() int      { return len(c) }
func (c candidates) Swap(i, j int) { c[i], c[j] = c[j], c[i] }
func (c candidates) Less(i, j int) bool {
	return c[i].rank < c[j].rank || c[i].rank == c[j].rank && c[i].at < c[j].at
}
func (c *candidates) Push(x any) { *c = append(*c, x.(candidate)) }
func (c *candidates) Pop() any {
	old := *c
	last := old[len(old)-1]
	*c = old[:len(old)-1]
	return last
}

func (b *bpe) encode(word string) []int {
	if b.ignoreMerges {
		if id, ok := b.ids[word]; ok {
			return []int{id}
		}
	}
	symbols := b.letters(word)
	var queue candidates
	push := func(at int) {
		if at < 0 || symbols[at].after < 0 {
			return
		}
		pair := [2]int{symbols[at].id, symbols[symbols[at].after].id}
		if m, ok := b.merges[pair]; ok {
			heap.Push(&queue, candidate{m, at, pair[0], pair[1]})
		}
	}
	for i := range symbols {
		push(i)
	}
	for len(queue) > 0 {
		c := heap.Pop(&queue).(candidate)
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
	var ids []int
	for _, s := range symbols {
		if s.id >= 0 {
			ids = append(ids, s.id)
		}
	}
	return ids
}

// letters returns the tokens of single characters. One that is not in the vocabulary is the unknown
// token or, without such a token, left out.
func (b *bpe) letters(word string) []symbol {
	var symbols []symbol
	fused := false
	for _, r := range word {
		id, ok := b.ids[string(r)]
		if !ok {
			if id = b.unknown; id < 0 || fused {
				continue
			}
		}
		fused = !ok && b.fuseUnknown
		symbols = append(symbols, symbol{id, len(symbols) - 1, len(symbols) + 1})
	}
	if n := len(symbols); n > 0 {
		symbols[n-1].after = -1
	}
	return symbols
}
