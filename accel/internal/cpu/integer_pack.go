package cpu

import (
	"github.com/quernlab/quern/accel/internal/engine/integer"
)

// byteWeights are a layer's weights, packed for a kernel.
type byteWeights struct {
	groups []packedBytes
	taps   []int32 // [kernel, channels] of a depthwise convolution; rows are whole vectors
	pitch  int     // distance of the rows of taps
	offset []int32
	factor []float32
	bias   []float32
}

// weights packs the weights of a layer, given the input's zero point and the output's scale.
func (k *byteKernel) weights(p *integer.MatMul, zero uint8, after integer.Scale) *byteWeights {
	padded := p.Out + 2*k.lanes // whole vectors may be read starting at any output
	w := &byteWeights{offset: make([]int32, padded), factor: make([]float32, padded), bias: make([]float32, padded)}
	for o, sum := range sumsOf(p.Weight, p.Depth()) {
		w.offset[o] = -int32(zero) * sum
		w.factor[o], w.bias[o] = p.Factor[o], p.Bias[o]
		if p.Output != nil {
			w.factor[o] = p.Factor[o] / after.Step
			w.bias[o] = p.Bias[o]/after.Step + float32(after.Zero)
		}
	}
	if depthwise(p) {
		taps := p.Depth()
		w.pitch = roundUp(p.Out, tapLanes)
		w.taps = make([]int32, taps*w.pitch)
		for o := range p.Out {
			for t := range taps {
				w.taps[t*w.pitch+o] = int32(p.Weight[o*taps+t])
			}
		}
		return w
	}
	each := p.Out / p.Groups
	for g := range p.Groups {
		w.groups = append(w.groups, packedBytes{each, p.Depth(), k.pack(p.Weight[g*each*p.Depth():], each, p.Depth())})
	}
	return w
}
