package ir

// Slopes behind matrix multiplications, before → after:
//
//	dy = matmul(a, b); dx = gradient of an activation (dy, x)      one step
//
// where dy has no other users. The product is rounded to its type before it is multiplied, so that
// no result changes.

// Sloper is implemented by a device whose matrix multiplications multiply their result with the
// slope of an activation. The step's last input is that of the gradient.
type Sloper interface {
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
