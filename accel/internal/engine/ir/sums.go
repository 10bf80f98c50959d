package ir

// Gradients of biases beside those of weights, before → after:
//
//	dw = matmul(transpose(dy), x); db = sum of dy's rows    one step with the results dw and db
//	dw = matmul(transpose(x), dy); db = sum of dy's rows    likewise
//
// The kernel of the product reads dy anyway.

// FactorSummer is implemented by a device whose matrix multiplications also sum one of their factors.
type FactorSummer interface {
	// SumsFactors reports whether a product of factors of a type can sum one of them along the depth.
	SumsFactors(factor DType) bool
}

// summed is a sum of rows or a factor of a product: what it reads.
type summed struct {
	node     *planned
	external int
	offset   int
	dtype    DType
}

// fuseSum lets the sum of a matrix's rows join a product that has the matrix, or its transpose, as a
// factor, whichever comes first. A product sums one factor, once.
func (f *fuser) fuseSum(n *planned) {
	switch op := n.node.op.(type) {
	case Sum:
		if op.Mean || op.From != 0 || op.To != 1 || len(n.node.in[0].shape) != 2 || !n.inputs[0].layout.Contiguous() || n.store != n.node.dtype && n.store != n.dtype(0) {
			return
		}
		of := n.summed(0)
		for _, product := range f.products[of] {
			if f.sumBeside(product, n) {
				return
			}
		}
		f.sums[of] = append(f.sums[of], n)
	case MatMul:
		if len(n.node.shape) != 2 || n.node.Len() == 0 || n.dtype(0) != n.dtype(1) || !f.summer.SumsFactors(n.dtype(0)) {
			return
		}
		for k := range 2 {
			of := n.summed(k)
			for _, sum := range f.sums[of] {
				if f.sumBeside(n, sum) {
					return
				}
			}
			f.products[of] = append(f.products[of], n)
		}
	}
}

// summed describes an input.
func (n *planned) summed(input int) summed {
	in := n.inputs[input]
	return summed{in.node, in.external, in.layout.Offset, n.dtype(input)}
}

// sumBeside makes a sum part of the step of a product. It returns false if they do not belong together.
func (f *fuser) sumBeside(product, sum *planned) bool {
	if product.sum != nil {
		return false
	}
	x := sum.inputs[0].layout
	for k := range 2 {
		l := product.inputs[k].layout
		if len(l.Shape) != 2 || product.summed(k) != sum.summed(0) {
			continue
		}
		if k == 0 {
			l = l.permuted([]int{1, 0})
		}
		if !sameShape(l.Shape, x.Shape) || !l.Contiguous() {
			continue
		}
		a, b := product.group.root(), sum.group.root()
		if a.at > b.at {
			a, b = b, a
		}
		if f.merge(a, b); a.root() != b.root() {
			return false
		}
		product.sum, product.factor = sum, k+1
		return true
	}
	return false
}

// product returns the product of a group that computes one with more beside it, else nil.
func (g *group) product() *planned {
	for _, n := range g.members {
		if n.sum != nil {
			return n
		}
	}
	return nil
}
