package ir

import "slices"

// Source is a parameter that a value depends on.
type Source struct {
	Leaf  *Leaf
	Shape []int
}

// Sources returns the parameters where gradients of y end, except those in without, each
// once.
func (r *Recorder) Sources(y *Value, without []*Leaf) []Source {
	if !y.requires {
		return nil
	}
	var found []Source
	add := func(s Source) {
		if !slices.Contains(without, s.Leaf) && !slices.ContainsFunc(found, func(f Source) bool { return f.Leaf == s.Leaf }) {
			found = append(found, s)
		}
	}
	r.marks++
	for _, v := range r.ancestors(y, nil) {
		if v.leaf != nil {
			add(Source{v.leaf, v.shape})
			continue
		}
		if c, ok := v.op.(Recompute); ok {
			for _, s := range c.Sources {
				add(s)
			}
		}
	}
	return found
}
