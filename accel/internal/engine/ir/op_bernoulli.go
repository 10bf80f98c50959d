package ir

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
