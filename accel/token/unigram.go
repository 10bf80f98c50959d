package token

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
)

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
