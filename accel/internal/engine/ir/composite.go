package ir

import "slices"

// Composite is an op that stands for several elementwise ops of float32, such as the update of a running mean, so that they are recorded
// as one: recording an op takes 0.2 µs, and an optimizer records the same ones for each parameter. All devices
// compute it by its composition, with which the planner replaces it.
type Composite struct {
	noGradient
	Of      *Composing
	Scalars Scalars // they may change from run to run of a plan
}

// Scalars are those of a composition, and zeros.
type Scalars [6]float64

// Composing is what a Composite stands for.
type Composing struct {
	Name    string // which no other op has
	Scalars int    // number of scalars
	// Record records the ops for inputs of some types, and returns their result. Each scalar is that of one op, in order, and
	// determines no other ops.
	Record func(r *Recorder, in []*Value, scalars []float64) *Value
}

// Name returns the name of the composition.
func (c Composite) Name() string { return c.Of.Name }

// Class returns the class of elementwise ops, of which it consists.
func (c Composite) Class(in []*Value) Class { return floatClass(in[0].dtype) }

// AppendKey appends nothing: the name says what it computes.
func (c Composite) AppendKey(key []byte) []byte { return key }

// AppendWords appends the scalars.
func (c Composite) AppendWords(w []uint64) []uint64 {
	for _, s := range c.Scalars[:c.Of.Scalars] {
		w = append(w, scalarWord(s))
	}
	return w
}

// Infer returns the broadcast shape of the inputs, which must have one element type.
func (c Composite) Infer(in []*Value) (Type, error) { return binaryOp{}.Infer(in) }

// Compose records the composition. It panics if the result is not that of the last op, or if the dynamic words are not the scalars.
func (c Composite) Compose(r *Recorder, in []*Value) *Value {
	from := len(r.nodes)
	y := c.Of.Record(r, in, c.Scalars[:c.Of.Scalars])
	var words []uint64
	for _, v := range r.nodes[from:] {
		if d, ok := v.op.(Dynamic); ok {
			words = d.AppendWords(words)
		}
	}
	if len(r.nodes) == from || y != r.nodes[len(r.nodes)-1] || !slices.Equal(words, c.AppendWords(nil)) {
		panic("ir: the last op of " + c.Name() + " does not compute the result, or its ops have other scalars than it, or in another order")
	}
	return y
}
