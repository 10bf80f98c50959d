package examine

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
)

// Model is what the tape of a prediction says of the model.
type Model struct {
	Findings  []string
	Raw       bool   // a layer with weights takes the examples as they are
	Image     bool   // it is a convolution
	Ends      string // name of the last op
	Rectified []Rectified
}

// Prediction examines the tape of a prediction. given are the examples, then the parameters of the model.
func Prediction(nodes []tensors.TapeNode) (m Model) {
	t := tape(nodes)
	users, projections := t.users(), t.projections()
	for i, n := range nodes {
		if !layer(n.Op) || len(n.In) < 2 {
			continue
		}
		from := t.behindViews(n.In[0])
		if first, alone := t.behindLinear(from, users); alone && !projections[i] {
			add(&m.Findings, t.inRow(i, first))
		}
		if nodes[from].Of == 0 && !t.normalized(i) {
			m.Raw, m.Image = true, m.Image || n.Op == "Conv2D"
		}
	}
	if n := len(nodes); n > 0 {
		m.Ends = t.end(t.behindDropout(t.behindViews(n - 1)))
		add(&m.Findings, t.acrossBatch(nodes))
	}
	m.Rectified = t.rectified()
	return m
}

// add adds a finding, "" for none, unless the findings have it.
func add(findings *[]string, finding string) {
	if finding != "" && !slices.Contains(*findings, finding) {
		*findings = append(*findings, finding)
	}
}

// layer reports whether an op has weights.
func layer(op string) bool {
	return op == "Linear" || op == "Conv2D" || op == "Recurrent"
}

// tape is a list of values, each after its operands.
type tape []tensors.TapeNode

// view reports whether an op only shows its operand in another shape or type.
func view(op string) bool {
	return slices.Contains([]string{"Reshape", "Cast", "Alias", "Rounded", "Copy"}, op)
}

// behindViews returns the value that another one shows in another shape or type.
func (t tape) behindViews(i int) int {
	for view(t[i].Op) {
		i = t[i].In[0]
	}
	return i
}

// behindLimits returns the value that another one shows, or limits to a range.
func (t tape) behindLimits(i int) int {
	for view(t[i].Op) || t[i].Op == "AtLeast" || t[i].Op == "AtMost" {
		i = t[i].In[0]
	}
	return i
}

// behindDropout returns the value that a product with a constant of the same shape scales, as nn.Dropout does.
func (t tape) behindDropout(i int) int {
	n := t[i]
	if n.Op != "Mul" {
		return i
	}
	for at, in := range n.In {
		if factor := t[in]; factor.Op == "" && factor.Of < 0 && !factor.Gradient && slices.Equal(factor.Shape, n.Shape) {
			return t.behindViews(n.In[1-at])
		}
	}
	return i
}

// behindLinear returns the value that dropout, sums and products with a number, and average pooling change, as far
// as these are linear. alone says that nothing else uses the values between.
func (t tape) behindLinear(i int, users []int) (before int, alone bool) {
	for alone = users[i] == 1; alone; alone = users[i] == 1 {
		before = t.behindDropout(i)
		if n := t[i]; before == i && (n.Op == "MulScalar" || n.Op == "AddScalar" || n.Op == "AvgPool2D") {
			before = t.behindViews(n.In[0])
		}
		if before == i {
			break
		}
		i = before
	}
	return i, alone
}

// end returns the name of the op that computes the values of a result, "Clamp" for limits at most 2 apart.
func (t tape) end(i int) string {
	low, high := math.Inf(-1), math.Inf(1)
	for view(t[i].Op) || t[i].Op == "AtLeast" || t[i].Op == "AtMost" {
		switch t[i].Op {
		case "AtLeast":
			low = max(low, t[i].Bound)
		case "AtMost":
			high = min(high, t[i].Bound)
		}
		i = t[i].In[0]
	}
	if op := t.op(i); op == "Softmax" || op == "Sigmoid" || high-low > 2 {
		return op
	}
	return "Clamp"
}

// acrossBatch finds a softmax over the first axis of the examples, of which the first given tensor has a batch.
func (t tape) acrossBatch(nodes []tensors.TapeNode) string {
	batch := 0
	for _, n := range nodes {
		if n.Of == 0 && len(n.Shape) > 0 {
			batch = n.Shape[0]
		}
	}
	for _, n := range nodes {
		if batch < 2 || n.Op != "Softmax" && n.Op != "LogSoftmax" {
			continue
		}
		moved := t[n.In[0]]
		for view(moved.Op) && len(moved.Shape) == len(n.Shape) {
			moved = t[moved.In[0]]
		}
		last := len(n.Shape) - 1
		if moved.Op != "Permute" || last < 1 || moved.Axes[last] != 0 || n.Shape[last] != batch || t[t.behindViews(moved.In[0])].Op == "Permute" {
			continue
		}
		return fmt.Sprintf("a %s is computed over axis 0, which is that of the %d examples of the batch, so that the examples depend on each other: use axis -1, such as nn.%s(-1)", n.Op, batch, n.Op)
	}
	return ""
}

// op returns the name of an op, and that of the function which a few of them compute together.
func (t tape) op(i int) string {
	n := t[i]
	if n.Op != "Div" || t[n.In[0]].Gradient {
		return n.Op
	}
	if sum := t[n.In[1]]; sum.Op == "AddScalar" && t[sum.In[0]].Op == "Exp" { // 1/(1+e^-x)
		return "Sigmoid"
	}
	return n.Op
}

// users returns how many ops use each value, directly or through views.
func (t tape) users() []int {
	count := make([]int, len(t))
	for _, n := range t {
		if view(n.Op) {
			continue
		}
		for _, in := range n.In {
			count[t.behindViews(in)]++
		}
	}
	return count
}

// projections returns the layers whose results go to an attention.
func (t tape) projections() map[int]bool {
	found := map[int]bool{}
	var mark func(i int)
	mark = func(i int) {
		switch {
		case found[i]:
		case layer(t[i].Op):
			found[i] = true
		default:
			for _, in := range t[i].In {
				mark(in)
			}
		}
	}
	for i, n := range t {
		if n.Op == "Attention" {
			mark(i)
		}
	}
	return found
}

// normalized reports whether a normalization follows a layer, which makes up for the scale of its input.
func (t tape) normalized(i int) bool {
	for _, n := range t {
		if (strings.HasPrefix(n.Op, "Batch") || strings.HasSuffix(n.Op, "Norm")) && slices.ContainsFunc(n.In, func(in int) bool { return t.behindViews(in) == i }) {
			return true
		}
	}
	return false
}

// inRow finds a linear layer or a convolution whose input is the output of another one. Both together are one
// linear map; only a narrow layer between wide ones, groups, and kernels that are not square restrict what it
// can be.
func (t tape) inRow(second, first int) string {
	if !t.full(second) || !t.full(first) || t[second].Op == "Conv2D" && t[first].Op == "Linear" {
		return ""
	}
	weight, before := t[t[second].In[1]].Shape, t[t[first].In[1]].Shape
	if before[0] < min(before[1], weight[0]) || before[0] == 1 {
		return ""
	}
	what := fmt.Sprintf("two linear layers, from %d to %d and to %d values,", before[1], before[0], weight[0])
	switch {
	case t[second].Op == "Conv2D":
		what = fmt.Sprintf("two convolutions, from %d to %d and to %d channels,", before[1], before[0], weight[0])
	case t[first].Op == "Conv2D":
		what = fmt.Sprintf("a convolution to %d channels and a linear layer to %d values", before[0], weight[0])
	}
	return what + " follow each other without an activation: together they are one linear layer; put nn.ReLU() or another one between them"
}

// full reports whether a value is that of a linear layer, or of a convolution with square kernels that sees all
// channels.
func (t tape) full(i int) bool {
	n := t[i]
	switch n.Op {
	case "Linear":
		return len(t[n.In[1]].Shape) == 2
	case "Conv2D":
		kernel := t[n.In[1]].Shape
		return kernel[2] == kernel[3] && kernel[1] == t[n.In[0]].Shape[1]
	}
	return false
}

// LossTape is what the tape of a loss says.
type LossTape struct {
	Findings []string
	Logits   bool // the loss takes the softmax, or the logarithm of one, of the predictions
}

// Loss examines the tape of a loss. given are the tensors of the tape: the prediction, then the target. model is
// that of the prediction, and width its last dimension.
func Loss(nodes []tensors.TapeNode, model Model, width int) (l LossTape) {
	t := tape(nodes)
	add(&l.Findings, t.broadcast())
	for i, n := range t {
		if n.Op != "CrossEntropy" && n.Op != "MaskedCrossEntropy" && n.Op != "LogSoftmax" {
			continue
		}
		for _, from := range t.parts(i) {
			op := t.end(from)
			if from = t.behindLimits(from); t[from].Of == 0 && op != "Clamp" {
				l.Logits, op = true, model.Ends
			}
			add(&l.Findings, ends(op, width))
		}
	}
	return l
}

// Minus reports whether a loss is the negative cross-entropy.
func Minus(loss []tensors.TapeNode) bool {
	t := tape(loss)
	minus, i := false, len(t)-1
	for i >= 0 && len(t[i].In) > 0 {
		switch n := t[i]; {
		case n.Op == "CrossEntropy" || n.Op == "MaskedCrossEntropy":
			return minus
		case n.Op == "Neg":
			minus = !minus
		case n.Op != "MulScalar" && n.Op != "Mean" && !view(n.Op):
			return false
		}
		i = t[i].In[0]
	}
	return false
}

// Divided reports whether a loss takes parts of the rows of a prediction, as nn.Unpack does. The prediction is the
// only tensor given to the tape.
func Divided(loss []tensors.TapeNode) bool {
	t := tape(loss)
	return slices.ContainsFunc(t, func(n tensors.TapeNode) bool {
		if n.Op != "Slice" {
			return false
		}
		whole := t[t.behindViews(n.In[0])]
		last := len(whole.Shape) - 1
		return whole.Of == 0 && len(n.Shape) == last+1 && n.Shape[last] < whole.Shape[last]
	})
}

// parts returns the values of which the first operand of an op is put together.
func (t tape) parts(i int) (all []int) {
	if len(t[i].In) == 0 {
		return nil
	}
	var visit func(i int)
	visit = func(i int) {
		i = t.behindViews(i)
		switch t[i].Op {
		case "Concat":
			for _, in := range t[i].In {
				visit(in)
			}
		case "Slice", "Permute":
			visit(t[i].In[0])
		default:
			all = append(all, i)
		}
	}
	visit(t[i].In[0])
	return all
}

// ends is the finding for a loss of logits after an op.
func ends(op string, width int) string {
	switch {
	case op == "Softmax" && width == 1:
		return "the predictions are a softmax over one output, which is always 1: remove the Softmax, since the loss takes logits"
	case op == "Softmax":
		return "the predictions are those of a softmax, but the loss takes logits and computes the softmax itself, as CrossEntropy does: twice, it learns slowly; remove the Softmax"
	case op == "Sigmoid":
		return "the predictions are those of a sigmoid, but the loss takes logits and computes probabilities itself, as BCEWithLogits and CrossEntropy do: twice, it learns slowly; remove the Sigmoid"
	case op == "ReLU":
		return "the predictions are those of ReLU, but the loss takes logits, which may be negative: remove the ReLU at the end"
	case op == "Tanh":
		return "the predictions are those of tanh, from -1 to 1, but the loss takes logits, which need a larger range: remove the Tanh at the end"
	case op == "Clamp":
		return "the predictions are limited to a narrow range, but the loss takes logits, which need a larger one, and there is no gradient outside: remove the Clamp at the end"
	}
	return ""
}

// broadcast finds a loss of N predictions [N, 1] and N targets [N], or the reverse, which broadcasts to all
// N² pairs.
func (t tape) broadcast() string {
	for _, n := range t {
		if len(n.In) != 2 || len(n.Shape) != 2 || n.Shape[0] != n.Shape[1] || n.Shape[0] < 2 || layer(n.Op) || n.Op == "MatMul" {
			continue
		}
		a, b := t[n.In[0]], t[n.In[1]]
		one, line := []int{n.Shape[0], 1}, n.Shape[:1]
		pair := slices.Equal(a.Shape, one) && slices.Equal(b.Shape, line) || slices.Equal(a.Shape, line) && slices.Equal(b.Shape, one)
		if pair && (t.from(n.In[0], 0) && t.from(n.In[1], 1) && !t.from(n.In[1], 0) || t.from(n.In[1], 0) && t.from(n.In[0], 1) && !t.from(n.In[0], 0)) {
			return fmt.Sprintf("the loss compares predictions and targets of the shapes %v and %v, which broadcasts to all pairs, %v: "+
				"reshape one of them, so that each prediction is compared with its own target", a.Shape, b.Shape, n.Shape)
		}
	}
	return ""
}

// from reports whether a value depends on a given tensor.
func (t tape) from(i, given int) bool {
	if t[i].Of == given {
		return true
	}
	return slices.ContainsFunc(t[i].In, func(x int) bool { return t.from(x, given) })
}
