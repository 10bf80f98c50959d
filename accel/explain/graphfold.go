package explain

import (
	"fmt"
	"slices"
)

// graphRow is a node as it is drawn: nodes of repeated blocks only once.
type graphRow struct {
	node GraphNode
	in   []int // rows
	fold int   // index in folds of the block to which the row belongs; -1 for none
}

// graphFold is a block that is repeated.
type graphFold struct {
	first, last int // rows
	times       int
}

// rows returns the nodes in order, with repeated blocks folded: the longest ones first found, each block at least twice in
// a row with the same layers, shapes, numbers of parameters and connections.
func (g *ModelGraph) rows() (rows []graphRow, folds []graphFold) {
	keys := make([]string, len(g.Nodes))
	for i, n := range g.Nodes {
		offsets := make([]int, len(n.In))
		for k, in := range n.In {
			offsets[k] = i - in
		}
		keys[i] = fmt.Sprint(n.Layer, n.Shape, n.DType, n.Parameters, n.Frozen, offsets)
	}
	row := make([]int, len(g.Nodes)) // of each node
	for i := 0; i < len(g.Nodes); {
		length, times := g.repeats(keys, i)
		fold := -1
		if times > 1 {
			fold = len(folds)
			folds = append(folds, graphFold{len(rows), len(rows) + length - 1, times})
		}
		for k := range length {
			n := g.Nodes[i+k]
			r := graphRow{node: n, fold: fold}
			for _, in := range n.In {
				r.in = append(r.in, row[in])
			}
			row[i+k] = len(rows)
			rows = append(rows, r)
		}
		for k := length; k < length*times; k++ {
			row[i+k] = row[i+k%length]
		}
		i += length * times
	}
	return rows, folds
}

// repeats returns the block at node i that, with its repetitions, saves the most rows, and how often it is there; a block
// of one node if there is none.
func (g *ModelGraph) repeats(keys []string, i int) (length, times int) {
	length, times, saved := 1, 1, 0
	for l := 1; i+2*l <= len(keys); l++ {
		n := 1
		for at := i + l; at+l <= len(keys) && slices.Equal(keys[i:i+l], keys[at:at+l]); at += l {
			n++
		}
		for ; n > 1 && !g.closed(i, l, n); n-- {
		}
		if s := (n - 1) * l; s > saved {
			length, times, saved = l, n, s
		}
	}
	return length, times
}

// closed reports whether each repetition of a block uses only the one before it, the nodes after them use only the last one,
// and the model's output is in no other one.
func (g *ModelGraph) closed(i, length, times int) bool {
	last, end := i+length*(times-1), i+length*times
	inner := func(v int) bool { return i <= v && v < last }
	for _, n := range g.Nodes[i+length : i+2*length] { // the others are like this one
		if slices.ContainsFunc(n.In, func(v int) bool { return v < i }) {
			return false
		}
	}
	for _, n := range g.Nodes[end:] {
		if slices.ContainsFunc(n.In, inner) {
			return false
		}
	}
	return !inner(g.Output)
}
