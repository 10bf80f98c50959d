package ir

// Losses, before → after:
//
//	y = CrossEntropy(x, label); dx = CrossEntropyGradient(x, label, dy)    one step with the results dx and y
//
// So the logits, which are the largest value of a language model, are read once. If dy is a constant, which is
// 1 for the loss of Backward, the step has no third input, and Word is that of the constant.

// LossFuser is implemented by a device whose kernel of a loss's gradient computes the loss, too.
type LossFuser interface{ FusesLosses() bool }

// constantLoss lets the gradient of a loss read a constant dy without a step that stores it.
func (p *planner) constantLoss(n *planned) {
	if _, ok := n.node.op.(CrossEntropyGradient); !ok || !p.losses || !p.fuse || n.inputs[2].node == nil {
		return
	}
	dy := n.inputs[2].node
	if _, ok := dy.node.op.(Fill); ok && !n.inputs[2].viewed {
		n.inputs, n.word = n.inputs[:2], dy.word
	}
}

// fuseLoss lets the gradient of a loss join the loss.
func (f *fuser) fuseLoss(n *planned) {
	switch op := n.node.op.(type) {
	case CrossEntropy:
		f.loss = n
	case CrossEntropyGradient:
		if l := f.loss; l != nil && l.node.op == op.CrossEntropy && sameSources(l, n) && len(l.group.root().members) == 1 {
			f.merge(l.group.root(), n.group)
		}
	}
}

// lossOf returns the two members of a group that computes a loss and its gradient; else nil.
func (g *group) lossOf() (loss, gradient *planned) {
	if _, ok := g.members[0].node.op.(CrossEntropy); ok && len(g.members) == 2 {
		return g.members[0], g.members[1]
	}
	return nil, nil
}

// withLoss reports whether a step is the gradient of a loss that computes the loss, too.
func (s *Step) withLoss() bool {
	_, ok := s.Op.(CrossEntropyGradient)
	return ok && len(s.Out) == 2
}
