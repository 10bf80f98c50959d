package ir

import "slices"

// Norms, before → after:
//
//	s = a + b; y = norm(s); z = bfloat16(y)                          one step
//	s = a + b; dx = gradient of x(x, s); dw = gradient of w(x, s)    one step
//	d = dx + c; z = bfloat16(d)                                      … the same step
//	g = gradient of relu(dy, y); sums of batch norm(x, g)            one step
//
// So a row is read once and written once. What no other step reads is not stored. A sum has up to
// maxTerms terms, and may be rounded to 16 bits.

// NormFuser is implemented by a device whose kernels of norms compute what is around them, too.
type NormFuser interface{ FusesNorms() bool }

// Around says what the step of a norm, or of a norm's gradients, computes beside its op.
type Around struct {
	// Terms is the number of inputs behind those of the op that are added to its first one; for a
	// gradient to dy, the second one.
	Terms int
	// SumType is the type to which their sum is rounded.
	SumType DType
	// Masked says that instead of a sum, dy of BatchNormSums is 0 where one more input, y, is not positive.
	Masked bool
	// Adds says that one more input, the last, is added to the result.
	Adds bool
	// Weights is the gradient of the parameters, computed beside that of x, or nil.
	Weights Op
	// Sum, Rounded and Weight are the results in Out of the sum, of the rounding of Out[0], and of
	// Weights; -1 for none. Out[0] is the op's result.
	Sum, Rounded, Weight int
}

// maxTerms is the maximum number of terms of a sum.
const maxTerms = 4

// aroundNorm is a group that becomes the step of a norm.
type aroundNorm struct {
	op      *planned
	sum     *planned // the last member before op, or nil
	terms   []term   // of sum, or dy and y of a gradient of ReLU
	add     *planned // what adds to the result, or nil
	addend  term
	rounded *planned // what rounds the result, or nil
	weights *planned // the gradient of the parameters, or nil
}

// term is an operand as it is read.
type term struct {
	operandSource
	dtype DType
}

// normalized returns which input of a norm or of a gradient of its x may be a sum, -1 for other
// ops. A gradient of the parameters reads the sum of the gradient of x.
func normalized(op Op) int {
	switch op.(type) {
	case LayerNorm, RMSNorm:
		return 0
	case LayerNormInputGradient, RMSNormInputGradient:
		return 1
	}
	return -1
}

// weightsOf reports whether an op is the gradient of the parameters of the norm of which x is the
// gradient of its input.
func weightsOf(op, x Op) bool {
	switch w := op.(type) {
	case LayerNormWeightGradient:
		o, ok := x.(LayerNormInputGradient)
		return ok && o.LayerNorm == w.LayerNorm
	case RMSNormWeightGradient:
		o, ok := x.(RMSNormInputGradient)
		return ok && o.RMSNorm == w.RMSNorm
	}
	return false
}

// fuseNorm lets a node become part of the step of a norm. It returns whether n is part of one, so
// that no other fusion applies.
func (f *fuser) fuseNorm(n *planned) bool {
	switch {
	case n.class == Elementwise:
		return slices.ContainsFunc(n.inputs, func(in operandSource) bool { return f.followNorm(n, in) })
	case n.class != Whole:
		return false
	}
	switch op := n.node.op.(type) {
	case LayerNormWeightGradient, RMSNormWeightGradient:
		x := f.gradients[[2]*Value{n.node.in[0], n.node.in[1]}]
		if x == nil || !weightsOf(op, x.node.op) || x.group.root().norm.weights != nil || !sameSources(n, x) || !f.join(x.group.root(), n) {
			n.group.norm = &aroundNorm{op: n}
			return true
		}
		n.group.root().norm.weights = n
		return true
	}
	if _, ok := n.node.op.(BatchNormSums); ok {
		return f.fuseMask(n)
	}
	at := normalized(n.node.op)
	if at < 0 {
		return false
	}
	if at == 1 {
		f.gradients[[2]*Value{n.node.in[0], n.node.in[1]}] = n
	}
	if s := n.inputs[at].node; s != nil && n.inputs[at].whole() && s.group.root().norm == nil && s.store == n.dtype(at) {
		g := s.group.root()
		if terms := g.terms(s); terms != nil && f.join(g, n) {
			g.norm = &aroundNorm{op: n, sum: s, terms: terms}
			return true
		}
	}
	n.group.norm = &aroundNorm{op: n}
	return true
}

// fuseMask lets the sums of a batch norm compute the gradient of the ReLU behind it, if both are in
// memory in the same order.
func (f *fuser) fuseMask(n *planned) bool {
	s, x := n.inputs[1].node, n.inputs[0].layout
	if s == nil || n.inputs[1].viewed || !x.Contiguous() && !n.last || !x.liesAs(s.layout) || s.store != n.dtype(1) {
		return false
	}
	g := s.group.root()
	terms := g.mask(s)
	if g.norm != nil || terms == nil || !f.join(g, n) {
		return false
	}
	g.norm = &aroundNorm{op: n, sum: s, terms: terms}
	return true
}

// mask returns dy and y, if a group only computes a gradient of ReLU, maybe rounded, and s is its result;
// else nil.
func (g *group) mask(s *planned) []term {
	n := s
	switch {
	case len(g.members) == 2 && g.members[1] == s:
		n = g.members[0]
		c, ok := s.node.op.(Cast)
		if !ok || !c.To.Is16Bit() || s.inputs[0].node != n || s.inputs[0].viewed || g.storedOf(n) || n.store != Float32 {
			return nil
		}
	case len(g.members) != 1:
		return nil
	}
	if _, ok := n.node.op.(ReLUGradient); !ok || n.class != Elementwise {
		return nil
	}
	terms := []term{{n.inputs[0], n.dtype(0)}, {n.inputs[1], n.dtype(1)}}
	for _, t := range terms {
		if s.layout.ChannelsLast() {
			if !t.layout.ChannelsLast() || !sameShape(t.layout.Shape, s.layout.Shape) {
				return nil
			}
			t.layout = t.layout.inOrderOf(s.layout)
		}
		if !t.addable(s.node.Len()) {
			return nil
		}
	}
	if terms[0].dtype != s.store {
		return nil
	}
	return terms
}

// sameSources reports whether two nodes read the same first two operands.
func sameSources(a, b *planned) bool {
	for k := range 2 {
		x, y := a.inputs[k], b.inputs[k]
		if x.node != y.node || x.external != y.external || a.dtype(k) != b.dtype(k) ||
			x.layout.Offset != y.layout.Offset || !sameShape(x.layout.Shape, y.layout.Shape) || !sameShape(x.layout.Stride, y.layout.Stride) {
			return false
		}
	}
	return true
}

// followNorm lets n compute with the result of a norm in the step of the norm.
func (f *fuser) followNorm(n *planned, in operandSource) bool {
	if in.node == nil || !in.whole() || !n.layout.Contiguous() {
		return false
	}
	g := in.node.group.root()
	a := g.norm
	if a == nil || in.node != a.result() || a.rounded != nil || in.node.store != Float32 {
		return false
	}
	if c, ok := n.node.op.(Cast); ok && c.To.Is16Bit() && f.join(g, n) {
		a.rounded = n
		return true
	}
	if _, ok := n.node.op.(Add); !ok || a.add != nil || normalized(a.op.node.op) != 1 || in.node.kept || in.node.outlives || len(in.node.users) != 1 {
		return false
	}
	k := 0
	if n.inputs[0].node == in.node {
		k = 1
	}
	other := term{n.inputs[k], n.dtype(k)}
	if !other.addable(n.node.Len()) || !f.join(g, n) {
		return false
	}
	a.add, a.addend = n, other
	return true
}

// result returns what computes the result, before it is rounded.
func (a *aroundNorm) result() *planned {
	switch {
	case a.add != nil:
		return a.add
	case normalized(a.op.node.op) < 0:
		return nil // a gradient of parameters
	}
	return a.op
}

// whole reports whether an operand is all elements of its producer's result, in row-major order.
func (s operandSource) whole() bool { return s.layout.Contiguous() && (!s.viewed || s.reshaped()) }

// addable reports whether an operand is n elements in row-major order that kernels of norms can add.
func (t term) addable(n int) bool {
	return t.layout.Contiguous() && Len(t.layout.Shape) == n && (t.dtype == Float32 || t.dtype.Is16Bit())
}

// terms returns what is added up, if a group only computes a sum, maybe rounded, whose last member
// is s; else nil.
func (g *group) terms(s *planned) (terms []term) {
	members := slices.Clone(g.members)
	slices.SortFunc(members, func(x, y *planned) int { return x.node.index - y.node.index })
	if members[len(members)-1] != s {
		return nil
	}
	for i, n := range members {
		if n.class != Elementwise || n != s && (n.kept || n.outlives || n.store != Float32 || slices.ContainsFunc(n.users, func(u *planned) bool { return u != members[i+1] })) {
			return nil
		}
		switch op := n.node.op.(type) {
		case Add:
			own := 0
			for k, in := range n.inputs {
				if in.node != nil && in.node.group.root() == g {
					if i == 0 || in.node != members[i-1] || in.viewed {
						return nil
					}
					own++
					continue
				}
				t := term{in, n.dtype(k)}
				if !t.addable(s.node.Len()) {
					return nil
				}
				terms = append(terms, t)
			}
			if own != min(i, 1) {
				return nil
			}
		case Cast:
			if i == 0 || n != s || !op.To.Is16Bit() || n.inputs[0].node != members[i-1] || n.inputs[0].viewed {
				return nil
			}
		default:
			return nil
		}
	}
	if len(terms) < 2 || len(terms) > maxTerms {
		return nil
	}
	return terms
}

// join makes n, which is alone in its group, a member of an earlier group, unless it must wait
// for a group that waits for that one.
func (f *fuser) join(g *group, n *planned) bool {
	if !f.norms {
		return false
	}
	hard := n.group.hard
	n.group.hard = slices.DeleteFunc(slices.Clone(hard), func(x *planned) bool { return x.group.root() == g })
	f.merge(g, n.group)
	if n.group.root() != g {
		n.group.hard = hard
		return false
	}
	return true
}

// storedOf reports whether another step reads a member's result, or it outlives the list.
func (g *group) storedOf(n *planned) bool {
	return n.kept || n.outlives || slices.ContainsFunc(n.users, func(u *planned) bool { return u.class == View || u.group.root() != g })
}

// emitNorm emits the step of a norm.
func (b *builder) emitNorm(g *group) {
	a := g.norm
	n := a.op
	step := Step{Op: n.node.op, Word: n.word}
	for _, m := range g.members {
		step.Nodes = append(step.Nodes, m.node.index)
	}
	all := make([]term, 0, len(n.inputs)+maxTerms)
	for k, s := range n.inputs {
		all = append(all, term{s, n.dtype(k)})
	}
	around := Around{SumType: Float32, Sum: -1, Rounded: -1, Weight: -1}
	_, around.Masked = n.node.op.(BatchNormSums)
	if around.Masked {
		all[1] = a.terms[0]
		all = append(all, a.terms[1])
		around.SumType = a.sum.store
	} else if a.sum != nil {
		all[normalized(n.node.op)] = a.terms[0]
		all = append(all, a.terms[1:]...)
		around.Terms, around.SumType = len(a.terms)-1, a.sum.store
	}
	if around.Adds = a.add != nil; around.Adds {
		all = append(all, a.addend)
	}
	for k, t := range all {
		o := b.operand(t.operandSource, t.dtype)
		if around.Masked && o.ChannelsLast() {
			step.In = append(step.In, o)
			continue
		}
		if !o.Contiguous() {
			o = b.copied(o, RowMajor(o.Shape), n.node.index)
		}
		if k < len(n.inputs) {
			shape := n.node.in[k].shape
			o.Layout = Layout{Shape: shape, Stride: Strides(shape), Offset: o.Offset} // a term may have another shape
		}
		step.In = append(step.In, o)
	}
	for _, o := range step.In { // a copy above may have incremented the step's index
		b.last[o.Slot] = len(b.program.Steps)
	}
	out := func(m *planned) int {
		step.Out = append(step.Out, b.result(m))
		return len(step.Out) - 1
	}
	result, rounded := a.result(), a.rounded
	switch {
	case result == nil:
		result = n
	case rounded != nil && !g.storedOf(result):
		result, rounded = rounded, nil
	}
	out(result)
	step.Out[0].Layout = RowMajor(n.node.shape) // an addition may have another shape
	if a.sum != nil && g.storedOf(a.sum) {
		around.Sum = out(a.sum)
	}
	if rounded != nil {
		around.Rounded = out(rounded)
	}
	if a.weights != nil {
		around.Weights, around.Weight = a.weights.node.op, out(a.weights)
	}
	if len(g.members) > 1 {
		step.Around = &around
	}
	b.program.Steps = append(b.program.Steps, step)
}

// names returns the names of the ops of a step, that of the norm first.
func (a *Around) names(op Op) []string {
	names := []string{op.Name()}
	if a.Weights != nil {
		names = append(names, a.Weights.Name())
	}
	if a.Masked {
		names = append(names, ReLUGradient{}.Name())
	}
	for range a.Terms {
		names = append(names, Add{}.Name())
	}
	if a.Adds {
		names = append(names, Add{}.Name())
	}
	if a.Rounded >= 0 {
		names = append(names, Cast{}.Name())
	}
	return names
}
