package onnx

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/quernlab/quern/accel/internal/engine/integer"
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/tensor"
)

var quantizedConverters = []conversion{
	on[ir.Quantized](quantized),
}

// quantized writes an 8-bit network in the format of onnxruntime's own tools (QDQ,
// https://onnxruntime.ai/docs/performance/model-optimizations/quantization.html): float ops between
// QuantizeLinear and DequantizeLinear, which onnxruntime computes with 8-bit integers. Weights are
// int8 with a scale per output, activations uint8, biases int32.
func quantized(e *emitter, s *step) (string, error) {
	n := of[ir.Quantized](s)[0].Network
	q := &quantizedEmitter{emitter: e, scale: n.Input, rank: len(e.shape(s.in[0]))}
	x := q.rounded(e.in(s, 0))
	for _, l := range n.Layers {
		switch l := l.(type) {
		case *integer.MatMul:
			x = q.product(l, x)
		case *integer.MaxPool:
			x = q.rounded(e.node("MaxPool", []string{x}, attribute{"kernel_shape", l.Kernel[:]}, attribute{"strides", l.Stride[:]},
				attribute{"pads", pads(l.Padding)}, attribute{"dilations", l.Dilation[:]}))
		case integer.Flatten:
			x = q.rounded(e.node("Flatten", []string{x}, attribute{"axis", 1}))
			q.flattened, q.rank = q.channels, 2
		default:
			return "", s.fails(ErrUnsupported, "the layer %T of a quantized network", l)
		}
	}
	return x, nil
}

// quantizedEmitter writes the layers of a network.
type quantizedEmitter struct {
	*emitter
	scale     integer.Scale // scale of the next layer's input
	rank      int           // rank of that input
	channels  int           // output channels of the last layer
	flattened int           // channels of the flattened images in the next layer's input; 0: not flattened
}

// rounded quantizes and dequantizes x. For values that are already rounded it changes nothing, but
// shows onnxruntime that both sides of an op are 8-bit integers.
func (q *quantizedEmitter) rounded(x string) string {
	scale := []string{q.scalar(tensor.Float32, float64(q.scale.Step)), q.scalar(tensor.Uint8, float64(q.scale.Zero))}
	return q.node("DequantizeLinear", append([]string{q.node("QuantizeLinear", append([]string{x}, scale...))}, scale...))
}

// product writes a quantized convolution or linear layer, its ReLU, and the rounding of the
// result.
func (q *quantizedEmitter) product(p *integer.MatMul, x string) string {
	names, ok := q.quantizedLayers[p]
	if !ok {
		names = q.constants(p)
		q.quantizedLayers[p] = names
	}
	w := q.once("DequantizeLinear", []string{names[0], names[1], q.zeros(elementInt8, 1, p.Out)}, attribute{"axis", 0})
	bias := names[2]
	if len(names) == 4 {
		bias = q.once("DequantizeLinear", []string{bias, names[3], q.zeros(elementInt32, 4, p.Out)}, attribute{"axis", 0})
	}
	var y string
	switch {
	case p.Image:
		y = q.node("Conv", []string{x, w, bias}, attribute{"kernel_shape", p.Kernel[:]}, attribute{"strides", p.Stride[:]},
			attribute{"pads", pads(p.Padding)}, attribute{"dilations", p.Dilation[:]}, attribute{"group", p.Groups})
	case q.rank == 2:
		y = q.node("Gemm", []string{x, w, bias}, attribute{"transB", 1})
	default:
		turned := q.once("Transpose", []string{w}, attribute{"perm", []int{1, 0}})
		y = q.node("Add", []string{q.node("MatMul", []string{x, turned}), bias})
	}
	if p.ReLU {
		y = q.node("Relu", []string{y})
	}
	q.channels, q.flattened = p.Out, 0
	if p.Output != nil {
		q.scale = *p.Output
		y = q.rounded(y)
	}
	return y
}

// zeros adds zero points. They are the default, but onnxruntime 1.32 only uses 8-bit integers
// for a Gemm if they are explicit.
func (q *quantizedEmitter) zeros(of elementType, size, n int) string {
	return q.emitter.add(fmt.Sprintf("/%s/zeros/%d", of, n), of, make([]byte, size*n), n)
}

// constants adds the weights of a layer, their scales, and the bias, and returns their names. The
// bias is int32 with scales, or float if the sums could overflow int32.
func (q *quantizedEmitter) constants(p *integer.MatMul) []string {
	prefix := "/" + q.layerPrefix(nil)
	add := func(name string, of elementType, raw []byte, shape ...int) string {
		return q.emitter.add(q.unique(prefix+name), of, raw, shape...)
	}
	planes, positions := p.In/p.Groups, p.Kernel[0]*p.Kernel[1]
	shape := []int{p.Out, planes, p.Kernel[0], p.Kernel[1]}
	if !p.Image {
		shape = []int{p.Out, p.In}
		if q.flattened > 0 {
			planes, positions = q.flattened, p.In/q.flattened
		}
	}
	// [Out, places, planes] here, [Out, planes, places] in ONNX
	bytes := make([]byte, len(p.Weight))
	for row := 0; row < len(bytes); row += planes * positions {
		for at := range positions {
			for c := range planes {
				bytes[row+c*positions+at] = byte(p.Weight[row+at*planes+c])
			}
		}
	}
	steps, factors := make([]float32, p.Out), make([]float32, p.Out)
	integers, fits := make([]byte, 0, 4*p.Out), true
	limit := float64(math.MaxInt32 - 255*128*p.Depth())
	for i, f := range p.Factor {
		steps[i], factors[i] = f/q.scale.Step, f
		b := math.RoundToEven(float64(p.Bias[i]) / float64(f))
		fits = fits && math.Abs(b) <= limit
		integers = binary.LittleEndian.AppendUint32(integers, uint32(int32(max(min(b, limit), -limit))))
	}
	names := []string{add("weight", elementInt8, bytes, shape...), add("step", elementFloat, tensor.New(steps, p.Out).Raw(), p.Out)}
	if !fits {
		return append(names, add("bias", elementFloat, tensor.New(p.Bias, p.Out).Raw(), p.Out))
	}
	return append(names, add("bias", elementInt32, integers, p.Out), add("bias_step", elementFloat, tensor.New(factors, p.Out).Raw(), p.Out))
}
