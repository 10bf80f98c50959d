package ir

// Fusion, before → after:
//
// y = f(x); z = g(y)        one fused kernel that computes y and z y = linear(x,w,b); relu   a
// matmul with the activation in its epilogue
//
// Its inputs are all live nodes that are not views, and their producers. It guarantees that
// the groups form an acyclic graph and that all members of a fused kernel have the same shape.

// group is a set of nodes that become one step.
type group struct {
	members []*planned // in record order
	preds   map[*group]bool
	hard    []*planned // producers that must be in memory before the group runs
	into    *group     // set after the group was merged into another
	visited int
}

func (g *group) root() *group {
	for g.into != nil {
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
	class    Class
	inputs   []operandSource
	dtypes   []DType // of the inputs, if they differ from those of the values, or nil
	users    []*planned
	group    *group
	slot     int      // -1 if the value is never in memory
	layout   Layout   // within the slot's value, for views
	base     *planned // for a view of a node: that node
	external int      // for a view of an external: its index, else -1
	absorbed *planned // for an activation fused into a matmul: the matmul
	packs    [2]packed
}

// operandSource is where an input of a node comes from.
type operandSource struct {
	node     *planned // producer, nil for an external
	external int
	layout   Layout
	viewed   bool // whether it is a view of the producer's result
}

type fuser struct {
	groups []*group
	stamp  int
	// maxLoop is the maximum number of instructions of a fused kernel; off makes every node its own
	// step.
	maxLoop int
}

func (f *fuser) run(nodes []*planned) []*group {
	for _, n := range nodes {
		f.assign(n)
	}
	return f.sorted()
}

func (f *fuser) assign(n *planned) {
	if n.absorbed != nil {
		n.group = n.absorbed.group
		n.group.members = append(n.group.members, n)
		return
	}
	g := &group{preds: map[*group]bool{}, members: []*planned{n}}
	n.group = g
	for _, in := range n.inputs {
		if in.node != nil {
			g.preds[in.node.group.root()] = true
			if in.viewed || !sameShape(in.node.node.shape, n.node.shape) {
				g.hard = append(g.hard, in.node)
			}
		}
	}
	f.groups = append(f.groups, g)
	if n.class != Elementwise || f.maxLoop <= 1 {
		return
	}
	for _, in := range n.inputs {
		if in.node == nil || in.viewed || in.node.class != Elementwise || in.node.absorbed != nil || !sameShape(in.node.node.shape, n.node.shape) {
			continue
		}
		p := in.node.group.root()
		if g = n.group.root(); p != g && len(p.members)+len(g.members) <= f.maxLoop && !f.detour(p, g) {
			f.merge(p, g)
		}
	}
}

// detour reports whether a path from a leads to b through a third group (or back from b to
// a), or through memory, so that a and b cannot run as one step.
func (f *fuser) detour(a, b *group) bool {
	for _, n := range b.hard {
		if n.group.root() == a {
			return true
		}
	}
	for _, n := range a.hard {
		if n.group.root() == b {
			return true
		}
	}
	return f.reaches(a, b) || f.reaches(b, a)
}

// reaches searches backwards from the predecessors of to, except from.
func (f *fuser) reaches(from, to *group) bool {
	f.stamp++
	var walk func(g *group) bool
	walk = func(g *group) bool {
		for p := range g.preds {
			p = p.root()
			if p == from && g != to {
				return true
			}
			if p == from || p == to || p.visited == f.stamp {
				continue
			}
			p.visited = f.stamp
			if walk(p) {
				return true
			}
		}
		return false
	}
	return walk(to)
}

func (f *fuser) merge(a, b *group) {
	a.members = append(a.members, b.members...)
	for p := range b.preds {
		a.preds[p] = true
	}
	a.hard = append(a.hard, b.hard...)
	b.into = a
}

// sorted returns the groups in an order in which they can run: always the ready group whose
// last member was recorded first.
func (f *fuser) sorted() []*group {
	waiting := map[*group]int{}
	succs := map[*group][]*group{}
	var alive, ready []*group
	for _, g := range f.groups {
		if g.into != nil {
			continue
		}
		alive = append(alive, g)
		sortMembers(g)
		seen := map[*group]bool{}
		for p := range g.preds {
			if p = p.root(); p != g && !seen[p] {
				seen[p] = true
				waiting[g]++
				succs[p] = append(succs[p], g)
			}
		}
		if waiting[g] == 0 {
			ready = append(ready, g)
		}
	}
	var out []*group
	for len(ready) > 0 {
		k := 0
		for i, g := range ready {
			if g.last() < ready[k].last() {
				k = i
			}
		}
		g := ready[k]
		ready = append(ready[:k], ready[k+1:]...)
		out = append(out, g)
		for _, s := range succs[g] {
			if waiting[s]--; waiting[s] == 0 {
				ready = append(ready, s)
			}
		}
	}
	if len(out) != len(alive) {
		panic("ir: fused groups form a cycle")
	}
	return out
}

func (g *group) last() int { return g.members[len(g.members)-1].node.index }

func sortMembers(g *group) {
	m := g.members
	for i := 1; i < len(m); i++ {
		for j := i; j > 0 && m[j].node.index < m[j-1].node.index; j-- {
			m[j], m[j-1] = m[j-1], m[j]
		}
	}
}
