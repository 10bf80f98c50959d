package nn

import (
	"fmt"

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

// keysValues are the keys and values of a layer, [N, heads, capacity, d].
type keysValues struct{ keys, values *Tensor }

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
	var s scratch
	defer s.release()
	t := k.Size(2)
	if need := c.length + t; need > c.capacity {
		const smallest = 32
		c.capacity = max(c.capacity, smallest)
		for c.capacity < need {
			c.capacity *= 2
		}
	}
	positions := s.keep(c.Positions(t))
	known := c.layers[layer]
	next := &keysValues{}
	if known == nil {
		next.keys, next.values = c.first(k), c.first(v)
	} else {
		next.keys, next.values = c.write(&s, known.keys, k, positions), c.write(&s, known.values, v, positions)
		known.keys.Release()
		known.values.Release()
	}
	c.layers[layer] = next
	// Key j is visible to the query at position p if j <= p.
	keys := s.keep(tensor.Arange(0, float64(c.capacity), 1, tensor.Int32))
	hidden := s.keep(keys.Greater(s.keep(positions.Reshape(t, 1))))
	see := tensor.AttentionMask{Mask: s.keep(s.keep(hidden.Not()).Reshape(1, 1, t, c.capacity))}
	return groupedAttention(&s, nil, q, next.keys, next.values, see)
}

// first returns the first keys or values with room for more.
func (c *KVCache) first(x *Tensor) *Tensor {
	if x.Size(2) == c.capacity {
		return x.Clone()
	}
	return x.Pad(2, 0, c.capacity-x.Size(2))
}

// write returns cached with new keys or values at the positions.
func (c *KVCache) write(s *scratch, cached, added, positions *Tensor) *Tensor {
	size, t := cached.Size(2), added.Size(2)
	if size < c.capacity {
		cached = s.keep(cached.Pad(2, 0, c.capacity-size))
	}
	if t > 1 {
		parts := []*Tensor{s.keep(cached.Slice(2, 0, c.length)), added}
		if end := c.length + t; end < c.capacity {
			parts = append(parts, s.keep(cached.Slice(2, end, c.capacity)))
		}
		return tensor.Concat(2, parts...)
	}
	// The position is data, so that one plan serves all steps.
	here := s.keep(s.keep(tensor.Arange(0, float64(c.capacity), 1, tensor.Int32)).Eq(positions))
	return tensor.Where(s.keep(here.Reshape(1, 1, c.capacity, 1)), added, cached)
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
