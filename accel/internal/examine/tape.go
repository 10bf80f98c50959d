package examine

import (
	"fmt"
	"slices"

	"github.com/quernlab/quern/accel/tensor"
)

// Model is what the tape of a prediction says of the model.
type Model struct {
	Findings []string
	Raw      bool   // a layer with weights takes the examples as they are
	Image    bool   // it is a convolution
	Ends     string // "Softmax" or "Sigmoid" if that is the last op, otherwise ""
}

// Prediction examines the tape of a prediction, to which the examples were the first given tensor.
func Prediction(nodes []tensor.TapeNode) (m Model) {
	t := tape(nodes)
	for i, n := range nodes {
		if layer(n.Op) && len(n.In) > 1 {
			from := t.behindViews(n.In[0])
			m.Findings = append(m.Findings, t.inRow(i, from)...)
			if nodes[from].Of == 0 {
				m.Raw, m.Image = true, m.Image || n.Op == "Conv2D"
			}
		}
	}
	if n := len(nodes); n > 0 {
		if op := nodes[t.behindViews(n-1)].Op; lower[op] != "" {
			m.Ends = op
		}
	}
	return m
}

// layer reports whether an op has weights.
func layer(op string) bool {
	return op == "Linear" || op == "Conv2D" || op == "Recurrent"
}

// tape is a list of values, each after its operands.
type tape []tensor.TapeNode

// behindViews returns the value that another one shows in another shape or type.
func (t tape) behindViews(i int) int {
	for {
		switch t[i].Op {
		case "Reshape", "Cast", "Alias", "Rounded", "Copy":
			i = t[i].In[0]
		default:
			return i
		}
	}
}

// inRow finds a linear layer whose input is the output of another one. The product of both is one
// linear map; only a narrow layer between wide ones restricts what it can be.
func (t tape) inRow(second, first int) []string {
	if t[second].Op != "Linear" || t[first].Op != "Linear" {
		return nil
	}
	weight, before := t[t[second].In[1]].Shape, t[t[first].In[1]].Shape
	if len(weight) != 2 || len(before) != 2 || before[0] < min(before[1], weight[0]) || before[0] == 1 {
		return nil
	}
	return []string{fmt.Sprintf("two linear layers, from %d to %d and to %d values, follow each other without an activation: together they are one linear layer; put nn.ReLU() or another one between them",
		before[1], before[0], weight[0])}
}

// Loss finds a loss of N predictions [N, 1] and N targets [N], or the reverse, which broadcasts to all
// N² pairs. given are the tensors of the tape: the prediction, then the target.
func Loss(nodes []tensor.TapeNode) []string {
	t := tape(nodes)
	for _, n := range nodes {
		if len(n.In) != 2 || len(n.Shape) != 2 || n.Shape[0] != n.Shape[1] || n.Shape[0] < 2 || layer(n.Op) || n.Op == "MatMul" {
			continue
		}
		a, b := nodes[n.In[0]], nodes[n.In[1]]
		one, line := []int{n.Shape[0], 1}, n.Shape[:1]
		pair := slices.Equal(a.Shape, one) && slices.Equal(b.Shape, line) || slices.Equal(a.Shape, line) && slices.Equal(b.Shape, one)
		if pair && (t.from(n.In[0], 0) && t.from(n.In[1], 1) && !t.from(n.In[1], 0) || t.from(n.In[1], 0) && t.from(n.In[0], 1) && !t.from(n.In[0], 0)) {
			return []string{fmt.Sprintf("the loss compares predictions and targets of the shapes %v and %v, which broadcasts to all pairs, %v: "+
				"reshape one of them, so that each prediction is compared with its own target", a.Shape, b.Shape, n.Shape)}
		}
	}
	return nil
}

// from reports whether a value depends on a given tensor.
func (t tape) from(i, given int) bool {
	if t[i].Of == given {
		return true
	}
	return slices.ContainsFunc(t[i].In, func(x int) bool { return t.from(x, given) })
}
