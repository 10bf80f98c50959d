package ptxsim

import "slices"

// joins finds, for every branch, the instruction where its lanes reconverge: the immediate
// post-dominator. It uses the algorithm of Cooper, Harvey and Kennedy, "A simple, fast
// dominance algorithm", on the reversed control-flow graph of basic blocks.
//
// Lanes that exit before the end of the code wait for nobody, so the others reconverge as if there were no such exit: where
// a branch leads to one, at the other successor.
func joins(code []instruction) {
	starts := blockStarts(code)
	blockAt := func(pc int) int {
		i, found := slices.BinarySearch(starts, pc)
		if !found {
			i--
		}
		return i
	}
	n := len(starts)
	end := n // the virtual block that the last exit leads to
	successors := make([][]int, n+1)
	var exits []int
	for i, start := range starts {
		stop := len(code)
		if i+1 < n {
			stop = starts[i+1]
		}
		last := &code[stop-1]
		switch last.control {
		case branch, branchIndexed:
			for _, t := range last.targets {
				successors[i] = append(successors[i], blockAt(t))
			}
		case exit, trap:
			if last.guard < 0 {
				exits = append(exits, i)
			}
		}
		falls := last.guard >= 0 || last.control != branch && last.control != branchIndexed && last.control != exit && last.control != trap
		if falls && i+1 < n {
			successors[i] = append(successors[i], i+1)
		}
		if last.guard >= 0 && i+1 == n && (last.control == exit || last.control == trap) {
			exits = append(exits, i)
		}
		_ = start
	}
	_, reached := postorder(0, successors)
	for i, block := range slices.Backward(exits) {
		if reached[block] >= 0 || i == 0 {
			successors[block] = append(successors[block], end)
			break
		}
	}
	predecessors := make([][]int, n+1)
	for i, list := range successors {
		for _, s := range list {
			predecessors[s] = append(predecessors[s], i)
		}
	}
	order, number := postorder(end, predecessors)
	join := make([]int, n+1)
	for i := range join {
		join[i] = -1
	}
	join[end] = end
	for changed := true; changed; {
		changed = false
		for k := len(order) - 1; k >= 0; k-- { // reverse postorder
			i := order[k]
			if i == end {
				continue
			}
			meet := -1
			for _, s := range successors[i] {
				if join[s] < 0 {
					continue
				}
				if meet < 0 {
					meet = s
					continue
				}
				for a, c := meet, s; ; {
					if a == c {
						meet = a
						break
					}
					if number[a] < number[c] {
						a = join[a]
					} else {
						c = join[c]
					}
				}
			}
			if meet != join[i] {
				join[i], changed = meet, true
			}
		}
	}
	for pc := range code {
		code[pc].join = -1
		if c := code[pc].control; c == branch || c == branchIndexed {
			if j := join[blockAt(pc)]; j >= 0 && j != end {
				code[pc].join = starts[j]
			}
		}
	}
}

// blockStarts returns the addresses where basic blocks begin.
func blockStarts(code []instruction) []int {
	leader := make([]bool, len(code)+1)
	leader[0] = true
	for pc := range code {
		switch code[pc].control {
		case branch, branchIndexed, exit, trap:
			leader[pc+1] = true
			for _, t := range code[pc].targets {
				leader[t] = true
			}
		}
	}
	var starts []int
	for pc := range code {
		if leader[pc] {
			starts = append(starts, pc)
		}
	}
	return starts
}

// postorder walks depth-first from a node, without recursion. number is each node's index
// in the result, -1 for unreachable nodes.
func postorder(root int, edges [][]int) (order, number []int) {
	number = make([]int, len(edges))
	for i := range number {
		number[i] = -1
	}
	seen := make([]bool, len(edges))
	seen[root] = true
	type frame struct{ node, next int }
	stack := []frame{{root, 0}}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if top.next < len(edges[top.node]) {
			next := edges[top.node][top.next]
			top.next++
			if !seen[next] {
				seen[next] = true
				stack = append(stack, frame{next, 0})
			}
			continue
		}
		number[top.node] = len(order)
		order = append(order, top.node)
		stack = stack[:len(stack)-1]
	}
	return order, number
}
