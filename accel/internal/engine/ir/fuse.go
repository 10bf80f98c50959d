package ir

import (
	"container/heap"
	"slices"
)

// Fusion, before → after:
//
// y = f(x); z = g(y)        one fused kernel that computes y and z y = linear(x,w,b); relu   a
// matmul with the activation in its epilogue
//
// Its inputs are all live nodes that are not views, and their producers. It guarantees that
// the groups form an acyclic graph and that all members of a fused kernel have the same shape.

// group is a set of nodes that become one step.
type group struct {
	members []*planned  // in record order
	preds   []*group    // producers; one may be listed twice, or be merged by now
	hard    []*planned  // producers that must be in memory before the group runs
	into    *group      // set after the group was merged into another
	norm    *aroundNorm // set if it is the step of a norm
	at      int         // position in the fuser's order
	visited int
}

func (g *group) root() *group {
	for g.into != nil {
		if g.into.into != nil {
			g.into = g.into.into // path compression
		}
		g = g.into
	}
	return g
}

// planned is the planner's state of a node.
type planned struct {
	node     *Value
	word     int
	live     bool
	kept     bool
	outlives bool // a view of it is kept
	class    Class
	inputs   []operandSource
	dtypes   []DType // of the inputs, if they differ from those of the values, or nil
	users    []*planned
	group    *group
	slot     int      // -1 if the value is never in memory
	layout   Layout   // within the slot's value
	last     bool     // whether an op on whole images reads them with the channels last
	pixels   bool     // whether a sum is that of all pixels
	base     *planned // for a view of a node: that node
	external int      // for a view of an external: its index, else -1
	aliased  bool     // for a view that is the whole result of its base, as it lies in memory
	absorbed *planned // for an activation fused into a matmul, or the gradient of one: the matmul
	slope    *planned // for a matmul: the gradient of an activation that it absorbed
	ended    bool     // for a matmul: whether it absorbed an activation that is not ReLU
	sum      *planned // for a matmul: the sum of a factor, computed beside it
	factor   int      // the number, from 1, of that factor
	packs    [2]packed
	store    DType          // the type in memory, 16 bits for a float32 that is only read rounded
	narrow   *operandSource // the 16-bit floats that the value was cast from, or nil
	before   []*planned     // casts of the inputs that the op cannot read in 16 bits
}

// operandSource is where an input of a node comes from.
type operandSource struct {
	node     *planned // producer, nil for an external
	external int
	layout   Layout
	viewed   bool // whether it is a view of the producer's result
}

type fuser struct {
	// order holds the groups so that each comes after its producers; nil for a merged one.
	order []*group
	stamp int
	// maxLoop is the maximum number of instructions of a fused kernel; 1 makes every node its
	// own step.
	maxLoop int
	// norms says that the device computes what is around norms; gradients are the gradients of their
	// inputs, by x and dy.
	norms     bool
	gradients map[[2]*Value]*planned
	// losses says that the device computes losses with their gradients; loss is the last loss.
	losses bool
	loss   *planned
	// roundsApart says that updates of parameters do not round them.
	roundsApart bool
	// summer is nil if products do not sum their factors; products and sums are those before, by what
	// they read.
	summer         FactorSummer
	products, sums map[summed][]*planned
}

// maxReach is the maximum distance, in the fuser's order, of groups that are merged although a third
// one reads the first. It bounds the time for each node of a list. Groups farther apart are hardly
// ever mergeable: those between them, such as the rest of the forward pass, depend on one and the
// other depends on them.
const maxReach = 1024

// run returns the steps, in an order in which they can run: always the one that is ready whose last
// member was recorded first. A step of several groups is a batch, see inBatches.
func (f *fuser) run(nodes []*planned, kind func(*group) string) [][]*group {
	for _, n := range nodes {
		f.assign(n)
	}
	steps, groups := f.inBatches(kind), 0
	for _, s := range steps {
		groups += len(s)
	}
	for _, g := range f.order {
		if g != nil {
			groups--
		}
	}
	if groups != 0 {
		panic("ir: fused groups form a cycle")
	}
	return steps
}

func (f *fuser) assign(n *planned) {
	if n.absorbed != nil {
		n.group = n.absorbed.group.root()
		n.group.members = append(n.group.members, n)
		return
	}
	g := &group{members: []*planned{n}, at: len(f.order)}
	n.group = g
	inputs := n.inputs
	if n.slope != nil {
		inputs = append(slices.Clone(inputs), n.slope.inputs[1])
	}
	for _, in := range inputs {
		if in.node != nil {
			g.preds = append(g.preds, in.node.group.root())
			if in.viewed || !sameShape(in.node.node.shape, n.node.shape) || !in.layout.liesAs(n.layout) {
				g.hard = append(g.hard, in.node)
			}
		}
	}
	f.order = append(f.order, g)
	if f.losses {
		f.fuseLoss(n)
	}
	if f.summer != nil {
		f.fuseSum(n)
	}
	if f.norms && f.fuseNorm(n) || n.class != Elementwise || f.maxLoop <= 1 || f.roundsApart && n.roundsUpdate() {
		return
	}
	for _, in := range n.inputs {
		if in.node == nil || in.viewed || in.node.class != Elementwise || in.node.absorbed != nil || !sameShape(in.node.node.shape, n.node.shape) || !in.layout.liesAs(n.layout) {
			continue
		}
		p := in.node.group.root()
		if g = n.group.root(); p != g && p.norm == nil && len(p.members)+len(g.members) <= f.maxLoop {
			if p.at > g.at {
				p, g = g, p
			}
			f.merge(p, g)
		}
	}
}

// merge makes one group of a and b, which comes after a in the order, unless a path from a
// leads to b through a third group or through memory.
func (f *fuser) merge(a, b *group) {
	if b.needs(a) || a.needs(b) {
		return
	}
	if a.readBy(b) {
		f.order[a.at], f.order[b.at] = nil, a
		a.at = b.at
		a.join(b)
		return
	}
	if b.at-a.at > maxReach {
		return
	}
	before, ok := f.between(a, b)
	if !ok {
		return
	}
	// The producers of b go before the merged group, everything else stays after a.
	region := f.order[a.at : b.at+1]
	after := make([]*group, 0, len(region))
	for _, g := range region {
		if g != nil && g != a && g != b && g.visited != f.stamp {
			after = append(after, g)
		}
	}
	slices.SortFunc(before, func(x, y *group) int { return x.at - y.at })
	at := a.at
	clear(region)
	for _, list := range [][]*group{before, {a}, after} {
		for _, g := range list {
			f.order[at], g.at = g, at
			at++
		}
	}
	a.join(b)
}

// join adds the members of b to those of a.
func (a *group) join(b *group) {
	a.members = append(a.members, b.members...)
	a.preds = append(a.preds, b.preds...)
	a.hard = append(a.hard, b.hard...)
	b.into = a
}

// readBy reports whether no group but b reads the results of a so far. Then a may run as late as b.
func (a *group) readBy(b *group) bool {
	for _, n := range a.members {
		for _, u := range n.users {
			if u.group != nil && u.group.root() != a && u.group.root() != b {
				return false
			}
		}
	}
	return true
}

// needs reports whether a result of p must be in memory before g runs.
func (g *group) needs(p *group) bool {
	return slices.ContainsFunc(g.hard, func(n *planned) bool { return n.group.root() == p })
}

// between marks and returns the groups after a, in the order, on which b depends. ok is false if
// one of them depends on a.
func (f *fuser) between(a, b *group) (found []*group, ok bool) {
	f.stamp++
	for todo := []*group{b}; len(todo) > 0; {
		g := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, p := range g.preds {
			p = p.root()
			switch {
			case p == a && g != b:
				return nil, false
			case p.at > a.at && p != b && p.visited != f.stamp:
				p.visited = f.stamp
				found, todo = append(found, p), append(todo, p)
			}
		}
	}
	return found, true
}

// dependencies returns how many groups each group waits for, which groups wait for it, and the
// groups that wait for none.
func (f *fuser) dependencies() (waiting map[*group]int, succs map[*group][]*group, ready readyGroups) {
	waiting, succs = map[*group]int{}, map[*group][]*group{}
	for _, g := range f.order {
		if g == nil {
			continue
		}
		sortMembers(g)
		f.stamp++
		for _, p := range g.preds {
			if p = p.root(); p != g && p.visited != f.stamp {
				p.visited = f.stamp
				waiting[g]++
				succs[p] = append(succs[p], g)
			}
		}
		if waiting[g] == 0 {
			ready.add(g)
		}
	}
	return waiting, succs, ready
}

// readyGroups is a heap of groups by their last members.
type readyGroups []*group

func (r readyGroups) Len() int           { return len(r) }
func (r readyGroups) Less(i, j int) bool { return r[i].last() < r[j].last() }
func (r readyGroups) Swap(i, j int)      { r[i], r[j] = r[j], r[i] }
func (r *readyGroups) Push(g any)        { *r = append(*r, g.(*group)) }
func (r *readyGroups) Pop() any {
	old := *r
	g := old[len(old)-1]
	*r = old[:len(old)-1]
	return g
}

func (r *readyGroups) add(g *group) { heap.Push(r, g) }
func (r *readyGroups) next() *group { return heap.Pop(r).(*group) }

func (g *group) last() int { return g.members[len(g.members)-1].node.index }

func sortMembers(g *group) {
	slices.SortFunc(g.members, func(x, y *planned) int { return x.node.index - y.node.index })
}

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
	if in.node == nil || in.viewed && !in.reshaped() || in.node.class != Whole || in.node.kept {
		return nil
	}
	if _, ok := in.node.node.op.(MatMul); !ok || in.node.dtype(0).IsFP8() || n.dtype(0) != in.node.store || n.dtype(1) != in.node.store || !p.sloper.MultipliesSlope(n.node.op, in.node.store) {
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
	if in.node == nil || in.viewed && !in.reshaped() || in.node.class != Whole {
		return nil
	}
	switch in.node.node.op.(type) { // others may have no inputs
	case Linear, MatMul:
		if !in.node.dtype(0).IsFP8() && n.dtype(0) == in.node.store && p.sloper.Activates(n.node.op, in.node.store) {
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
