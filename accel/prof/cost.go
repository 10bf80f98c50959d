package prof

import "github.com/quernlab/quern/accel/internal/trace"

// cost returns the FLOPs of a step, and the minimum number of bytes that it reads and writes.
func cost(s trace.Step) (flops, bytes float64) {
	for _, o := range append(append([]trace.Operand{}, s.In...), s.Out...) {
		bytes += float64(elements(o.Shape) * o.Size)
	}
	if len(s.Out) == 0 || len(s.Ops) == 0 {
		return 0, bytes
	}
	out := float64(elements(s.Out[0].Shape))
	in := func(i int) []int {
		if i < len(s.In) {
			return s.In[i].Shape
		}
		return nil
	}
	size := func(i int) float64 { return float64(elements(in(i))) }
	last := func(shape []int) float64 {
		if len(shape) == 0 {
			return 1
		}
		return float64(shape[len(shape)-1])
	}
	channels := func(opTotal []int) float64 {
		if len(opTotal) == 0 {
			return 1
		}
		return float64(max(opTotal[0], 1))
	}
	switch s.Ops[0] {
	case "Linear", "MatMul": // [… m k] and [… k n], or [n k]
		flops = 2 * out * last(in(0))
	case "Conv2D": // w [O C KH KW]
		flops = 2 * out * size(1) / channels(in(1))
	case "Conv2DInputGradient": // dy, w
		flops = 2 * size(0) * size(1) / channels(in(1))
	case "Conv2DWeightGradient": // x, dy, to [O C KH KW]
		flops = 2 * size(1) * out / channels(s.Out[0].Shape)
	case "Attention": // q, k [… T D]: two matrix multiplications
		flops = 4 * size(0) * float64(sequenceLength(in(1)))
	case "AttentionGradient": // five
		flops = 10 * size(0) * float64(sequenceLength(in(1)))
	case "Copy", "Reshape", "Permute", "Concat", "Pad", "Slice", "IndexSelect", "OneHot", "Fill":
		flops = 0
	case "Softmax", "LogSoftmax", "CrossEntropy", "CrossEntropyGradient": // maximum, difference, exponential, sum, quotient
		flops = 5 * size(0)
	default:
		if len(s.Nodes) > 1 { // a fused kernel
			return out * float64(len(s.Ops)), bytes
		}
		flops = max(size(0), out)
	}
	return flops + out*float64(len(s.Ops)-1), bytes
}

// sequenceLength returns T for keys of shape [… T D].
func sequenceLength(shape []int) int {
	if len(shape) < 2 {
		return 1
	}
	return shape[len(shape)-2]
}
