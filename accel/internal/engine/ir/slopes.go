package ir

// Activations and their slopes behind matrix multiplications, before → after:
//
//	x = linear(a, w, b); y = gelu(x); …; gradient of gelu (dy, x)    one step with the results y and x
//	dy = matmul(a, b); dx = gradient of an activation (dy, x)        one step
//
// where dy has no other users. The product is rounded to its type before an activation or a slope is
// computed, so that no result changes. ReLU needs no x, see absorb.

// Sloper is implemented by a device whose matrix multiplications apply activations to their result, or
// multiply it with the slope of one. Then the step's last input is that of the gradient.
type Sloper interface {
	// Activates reports whether an activation can be applied to a product of a type, which is stored, too,
	// if others read it.
	Activates(activation Op, product DType) bool
	// MultipliesSlope reports whether a product of a type can be multiplied with a slope, given the
	// gradient of the activation.
	MultipliesSlope(gradient Op, product DType) bool
}

// slopeOf returns the product that a node multiplies with a slope, nil for none. As long as users are
// unknown, it may have others.
func (p *planner) slopeOf(n *planned) *planned {
	if p.sloper == nil || !p.fuse || n.class != Elementwise || len(n.inputs) != 2 {
		return nil
	}
	in, x := n.inputs[0], n.inputs[1]
	if in.node == nil || in.viewed && !in.reshaped() || in.node.class != Whole || in.node.kept || in.node.dtype(0).IsFP8() {
		return nil
	}
	if _, ok := in.node.node.op.(MatMul); !ok || n.dtype(0) != in.node.store || n.dtype(1) != in.node.store || !p.sloper.MultipliesSlope(n.node.op, in.node.store) {
		return nil
	}
	// The group of x must be ready before that of the product.
	if !n.layout.Contiguous() || !x.layout.Contiguous() || Len(x.layout.Shape) != n.node.Len() || x.node != nil && x.node.node.index >= in.node.node.index {
		return nil
	}
	return in.node
}

// absorbSlope lets a product multiply its result with a slope.
func (p *planner) absorbSlope(n *planned) {
	product := p.slopeOf(n)
	if product == nil || len(product.users) != 1 || product.store != n.store || product.slope != nil {
		return
	}
	n.absorbed, product.slope = product, n
}

// activated returns the product to which a node applies an activation, nil for none.
func (p *planner) activated(n *planned) *planned {
	if p.sloper == nil || !p.fuse || n.class != Elementwise || len(n.inputs) != 1 {
		return nil
	}
	in := n.inputs[0]
	if in.node == nil || in.viewed && !in.reshaped() || in.node.class != Whole || in.node.dtype(0).IsFP8() {
		return nil
	}
	switch in.node.node.op.(type) {
	case Linear, MatMul:
		if n.dtype(0) == in.node.store && p.sloper.Activates(n.node.op, in.node.store) {
			return in.node
		}
	}
	return nil
}

// absorbActivation lets a product apply an activation to its result, the first one if there are several. It
// returns whether n is part of a product's step.
func (p *planner) absorbActivation(n *planned) bool {
	product := p.activated(n)
	if product == nil || product.store != n.store || product.ended {
		return false
	}
	n.absorbed, product.ended = product, true
	return true
}
