package examine

import (
	"fmt"
	"strings"
)

// Rectified is a layer whose outputs ReLU takes. Its fields are indices in the tensors that were given to the
// tape.
type Rectified struct {
	Parameters []int // of the layer: each has an index for its units first
	Next       []int // parameters of the layers that take the results of ReLU
}

// rectified finds the layers before ReLU.
func (t tape) rectified() (all []Rectified) {
	for i, n := range t {
		if n.Op != "ReLU" {
			continue
		}
		before := t.behindViews(n.In[0])
		for op := t[before].Op; strings.HasSuffix(op, "Norm") || op == "AddScalar" || op == "MulScalar"; op = t[before].Op {
			before = t.behindViews(t[before].In[0])
		}
		if r := (Rectified{Parameters: t.parameters(before), Next: t.takers(i)}); len(r.Parameters) > 0 {
			all = append(all, r)
		}
	}
	return all
}

// parameters returns the given tensors that are the parameters of a linear layer or a convolution.
func (t tape) parameters(i int) (all []int) {
	if n := t[i]; n.Op == "Linear" || n.Op == "Conv2D" {
		for _, in := range n.In[1:] {
			if of := t[t.behindViews(in)].Of; of > 0 {
				all = append(all, of)
			}
		}
	}
	return all
}

// takers returns the parameters of the layers that take a value, also when other ops have changed it before.
func (t tape) takers(from int) (all []int) {
	reached := map[int]bool{from: true}
	for i, n := range t[from:] {
		for at, in := range n.In {
			if !reached[in] {
				continue
			}
			if layer(n.Op) {
				if at == 0 {
					all = append(all, t.parameters(from+i)...)
				}
			} else {
				reached[from+i] = true
			}
		}
	}
	return all
}

// A DeadLayer has units that no gradient reaches.
type DeadLayer struct {
	Name     string      // of the layer
	Examples int         // in the batch
	Largest  []float64   // gradient of each of its units, by size
	Next     float64     // largest gradient of the layers that take its results
	Zero     func() bool // reports whether its weights are 0, which must be read for that
}

// Find finds a layer almost all of whose units get no gradient, though the layers that take their results do:
// ReLU makes them 0 for all examples.
func (d DeadLayer) Find() []string {
	units, dead := len(d.Largest), 0
	for _, g := range d.Largest {
		if g == 0 {
			dead++
		}
	}
	if units < 4 || d.Examples < 4 || d.Examples*units < 64 || d.Next == 0 || float64(dead) < 0.95*float64(units) {
		return nil
	}
	if d.Zero() {
		return []string{fmt.Sprintf("the weights of layer %s are 0, and behind ReLU they get no gradient: initialize them with random values", d.Name)}
	}
	return []string{fmt.Sprintf("%d of the %d units of layer %s are 0 behind ReLU for all of the last %d examples, so that they and the layers before get no gradient: "+
		"use a lower learning rate, standardized inputs, or nn.LeakyReLU", dead, units, d.Name, d.Examples)}
}
