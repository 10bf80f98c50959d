package ir

import "math/bits"

// Bernoulli is a float32 tensor whose elements are Scale with probability Keep
// and else 0. Element i is decided by word i%4 of block i/4 of the Philox
// stream (Key, Counter onwards), so the mask does not depend on how the work
// is divided. It has no composition: no other op multiplies integers of 32 bits, as Philox does.
type Bernoulli struct {
	wholeOp
	noGradient
	Keep    float64
	Scale   float64
	Key     uint64
	Counter uint64
	Shape   []int
}

func (Bernoulli) Name() string { return "Bernoulli" }

// AppendWords appends Keep, Scale, Key and Counter.
func (o Bernoulli) AppendWords(w []uint64) []uint64 {
	return append(w, scalarWord(o.Keep), scalarWord(o.Scale), o.Key, o.Counter)
}

// Infer returns the shape given.
func (o Bernoulli) Infer([]*Value) (Type, error) { return Type{o.Shape, Float32}, nil }

// Philox computes one block of the Philox4x32-10 counter-based generator (Salmon, Moraes,
// Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC'11): four random words
// that depend on the key and the counter only.
func Philox(key, counter uint64) [4]uint32 {
	c := [4]uint32{uint32(counter), uint32(counter >> 32), 0, 0}
	k0, k1 := uint32(key), uint32(key>>32)
	for range 10 {
		h0, l0 := bits.Mul32(0xD2511F53, c[0])
		h1, l1 := bits.Mul32(0xCD9E8D57, c[2])
		c = [4]uint32{h1 ^ c[1] ^ k0, l1, h0 ^ c[3] ^ k1, l0}
		k0 += 0x9E3779B9
		k1 += 0xBB67AE85
	}
	return c
}
