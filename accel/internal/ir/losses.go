package ir

// Losses, before → after:
//
//	y = CrossEntropy(x, label); dx = CrossEntropyGradient(x, label, dy)    one step with the results dx and y
//
// So the logits, which are the largest value of a language model, are read once.

// LossFuser is implemented by a device whose kernel of a loss's gradient computes the loss, too.
type LossFuser interface{ FusesLosses() bool }

// fuseLoss lets the gradient of a loss join the loss.
func (f *fuser) fuseLoss(n *planned) {
	switch n.node.op.(type) {
	case CrossEntropy:
		f.loss = n
	case CrossEntropyGradient:
		if l := f.loss; l != nil && sameSources(l, n) && len(l.group.root().members) == 1 {
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
