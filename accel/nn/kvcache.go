package nn

import (
	"fmt"
	"math"

	"github.com/quernlab/quern/accel/tensor"
)

// KVCache holds the keys and values of the positions that a decoder has seen, so that each new token
// needs only its own computations. A model that generates passes each new part of its sequences to
// the method Decode or to [KVCache.Attend] of all its attention layers, and then calls
// [KVCache.Advance].
type KVCache struct {
	length   int // positions seen
	capacity int // positions for which the tensors have room
	layers   map[any]*keysValues
}

// keysValues are the keys and values of a layer. A single token is written to the few newest positions,
// so that the others need not be copied for it.
type keysValues struct {
	keys, values *Tensor // of the first stored positions, [N, heads, capacity, d]
	stored       int

	newKeys, newValues *Tensor // of the positions after them, [N, heads, newest, d]; nil for none
}

// newest is the number of positions that a layer collects before it stores them with the others.
const newest = 32

// NewKVCache returns an empty cache. It grows in powers of two, so that few shapes need plans.
func NewKVCache() *KVCache { return &KVCache{layers: map[any]*keysValues{}} }

// Len returns the number of positions seen.
func (c *KVCache) Len() int { return c.length }

// Positions returns the positions of the next t tokens, [t] of type int32.
func (c *KVCache) Positions(t int) *Tensor {
	at := make([]int, t)
	for i := range at {
		at[i] = c.length + i
	}
	return tensor.FromInts(at, t)
}

// Advance records that all layers have seen t more positions.
func (c *KVCache) Advance(t int) { c.length += t }

// Release frees the memory of the cache, which is empty then.
func (c *KVCache) Release() {
	for _, l := range c.layers {
		l.keys.Release()
		l.values.Release()
		l.releaseNewest()
	}
	c.length, c.capacity, c.layers = 0, 0, map[any]*keysValues{}
}

// String returns the number of positions.
func (c *KVCache) String() string { return fmt.Sprintf("KVCache of %d positions", c.length) }

// Attend adds keys and values [N, heads, T, d] of the next T positions for a layer, which identifies
// itself by any comparable value, and returns the attention of the queries q to all positions up to
// their own. q may have a multiple of the heads: neighboring heads then share keys and values, as in
// [GroupedQueryAttention].
func (c *KVCache) Attend(layer any, q, k, v *Tensor) *Tensor {
	known := c.layers[layer]
	if known != nil && k.Size(2) == 1 {
		return c.attendNext(known, q, k, v)
	}
	var s scratch
	defer s.release()
	t := k.Size(2)
	c.grow(c.length + t)
	next := &keysValues{stored: c.length + t}
	if known == nil {
		next.keys, next.values = c.first(k), c.first(v)
	} else {
		c.store(known)
		next.keys, next.values = c.write(&s, known.keys, k, c.length), c.write(&s, known.values, v, c.length)
		known.keys.Release()
		known.values.Release()
	}
	c.layers[layer] = next
	// Key j is visible to the query at position p if j <= p.
	keys := s.keep(tensor.Arange(0, float64(c.capacity), 1, tensor.Int32))
	hidden := s.keep(keys.Greater(s.keep(s.keep(c.Positions(t)).Reshape(t, 1))))
	see := tensor.AttentionMask{Mask: s.keep(s.keep(hidden.Not()).Reshape(1, 1, t, c.capacity))}
	return groupedAttention(&s, nil, q, next.keys, next.values, see)
}

// grow makes the capacity a power of two that is at least need.
func (c *KVCache) grow(need int) {
	c.capacity = max(c.capacity, newest)
	for c.capacity < need {
		c.capacity *= 2
	}
}

// attendNext is Attend for the next token of a layer. The softmax is over the scores of the stored
// and of the newest positions together.
func (c *KVCache) attendNext(l *keysValues, q, k, v *Tensor) *Tensor {
	var s scratch
	defer s.release()
	l.stored = min(l.stored, c.length) // after a pass that failed
	if c.length-l.stored == newest {
		c.store(l)
	}
	at := c.length - l.stored
	if at == 0 {
		l.releaseNewest()
		l.newKeys, l.newValues = k.Pad(2, 0, newest-1), v.Pad(2, 0, newest-1)
	} else {
		l.newKeys, l.newValues = put(&s, l.newKeys, k, at), put(&s, l.newValues, v, at)
	}
	n, heads, d, kvHeads, capacity := q.Size(0), q.Size(1), q.Size(3), k.Size(1), l.keys.Size(2)
	scaled := s.keep(s.keep(q.Reshape(n, kvHeads, heads/kvHeads, d)).MulScalar(1 / math.Sqrt(float64(d))))
	scores := s.keep(tensor.Concat(3, s.keep(scaled.MatMul(s.keep(l.keys.MT()))), s.keep(scaled.MatMul(s.keep(l.newKeys.MT())))))
	given := scores.DType()
	if given == tensor.Float16 || given == tensor.BFloat16 {
		scores = s.keep(scores.Cast(tensor.Float32))
	}
	hide := make([]float32, capacity+newest)
	for j := range hide {
		if j >= l.stored && j < capacity || j > capacity+at {
			hide[j] = float32(math.Inf(-1))
		}
	}
	hidden := s.keep(tensor.New(hide, len(hide)))
	if scores.DType() == tensor.Float64 {
		hidden = s.keep(hidden.Cast(tensor.Float64))
	}
	weights := s.keep(s.keep(scores.Add(hidden)).Softmax(3))
	if weights.DType() != given {
		weights = s.keep(weights.Cast(given))
	}
	stored := s.keep(s.keep(weights.Slice(3, 0, capacity)).MatMul(l.values))
	added := s.keep(s.keep(weights.Slice(3, capacity, capacity+newest)).MatMul(l.newValues))
	return s.keep(stored.Add(added)).Reshape(n, heads, 1, v.Size(3))
}

// put returns the newest keys or values with those of one more position. The position is data, so
// that one plan serves all tokens. It releases the ones before.
func put(s *scratch, before, added *Tensor, at int) *Tensor {
	s.keep(before)
	here := s.keep(s.keep(tensor.Arange(0, newest, 1, tensor.Int32)).Eq(s.keep(tensor.FromInts([]int{at}, 1))))
	return tensor.Where(s.keep(here.Reshape(1, 1, newest, 1)), added, before)
}

// store moves the newest positions of a layer to the stored ones.
func (c *KVCache) store(l *keysValues) {
	if l.newKeys == nil {
		return
	}
	var s scratch
	defer s.release()
	n := c.length - l.stored
	c.grow(c.length)
	s.keep(l.keys)
	s.keep(l.values)
	l.keys = c.write(&s, l.keys, s.keep(l.newKeys.Slice(2, 0, n)), l.stored)
	l.values = c.write(&s, l.values, s.keep(l.newValues.Slice(2, 0, n)), l.stored)
	l.releaseNewest()
	l.stored = c.length
}

// releaseNewest releases the newest keys and values.
func (l *keysValues) releaseNewest() {
	if l.newKeys != nil {
		l.newKeys.Release()
		l.newValues.Release()
		l.newKeys, l.newValues = nil, nil
	}
}

// first returns the first keys or values with room for more.
func (c *KVCache) first(x *Tensor) *Tensor {
	if x.Size(2) == c.capacity {
		return x.Clone()
	}
	return x.Pad(2, 0, c.capacity-x.Size(2))
}

// write returns cached with new keys or values from a position on.
func (c *KVCache) write(s *scratch, cached, added *Tensor, from int) *Tensor {
	if size := cached.Size(2); size < c.capacity {
		cached = s.keep(cached.Pad(2, 0, c.capacity-size))
	}
	parts := []*Tensor{s.keep(cached.Slice(2, 0, from)), added}
	if end := from + added.Size(2); end < c.capacity {
		parts = append(parts, s.keep(cached.Slice(2, end, c.capacity)))
	}
	return tensor.Concat(2, parts...)
}

// groupedAttention is the attention of q [N, heads, T, d] to k and v [N, fewer heads, S, d], where
// heads/fewer neighboring heads share keys and values.
func groupedAttention(s *scratch, drop *dropout, q, k, v *Tensor, see tensor.AttentionMask) *Tensor {
	n, heads, t, d := q.Size(0), q.Size(1), q.Size(2), q.Size(3)
	kvHeads, seen := k.Size(1), k.Size(2)
	group := heads / kvHeads
	if group == 1 {
		return droppedAttention(drop, q, k, v, see)
	}
	if t == 1 && seen > 1 && !see.Causal { // the heads of a group are queries of one head, and nothing is copied
		y := s.keep(droppedAttention(drop, s.keep(q.Reshape(n, kvHeads, group, d)), k, v, see))
		return y.Reshape(n, heads, 1, v.Size(3))
	}
	repeated := func(x *Tensor) *Tensor {
		width := x.Size(3)
		one := s.keep(x.Reshape(n, kvHeads, 1, seen, width))
		return s.keep(s.keep(one.Expand(n, kvHeads, group, seen, width)).Reshape(n, heads, seen, width))
	}
	return droppedAttention(drop, q, repeated(k), repeated(v), see)
}
