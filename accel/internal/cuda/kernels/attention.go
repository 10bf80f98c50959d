package kernels

import (
	"fmt"

	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

// headTensor is the address and the strides of a tensor [B, H, rows, columns].
type headTensor struct {
	Data   Pointer
	Stride [4]int64
}

type attentionShape struct {
	Q, K, V, DY        headTensor
	Added              Pointer
	AddedStride        [4]int64
	Scale              float64
	Count, Heads, T, S uint32
	D, E, Causal       uint32
	_                  uint32
}

type attentionParams struct {
	Y     Pointer
	Heads attentionShape
}

type attentionDeltaParams struct {
	Delta, Y Pointer
	YKind    uint64
	Heads    attentionShape
}

type attentionGradientParams struct {
	DX, Sums, Delta Pointer
	Pitch           uint64 // elements between the rows of the result
	Heads           attentionShape
}

type attentionValuesParams struct {
	DV, Sums Pointer
	Pitch    uint64
	Heads    attentionShape
}

var (
	attentionForward = declare[attentionParams]("attention", "attention_forward", reals, 256)
	attentionDelta   = declare[attentionDeltaParams]("attention", "attention_delta", reals, 256)
	attentionQueries = declare[attentionGradientParams]("attention", "attention_queries", reals, 256)
	attentionKeys    = declare[attentionGradientParams]("attention", "attention_keys", reals, 256)
	attentionValues  = declare[attentionValuesParams]("attention", "attention_values", reals, 256)
)

// Attention is ir.Attention of Q [B, H, T, D], K [B, H, S, D] and V [B, H, S, E], layouts
// with any strides. Added is the shape of the tensor that is added to the scores,
// row-major, or nil. The caller adds the offsets of the layouts. Joined is that of
// ir.AttentionGradient.
type Attention struct {
	DType   tensortype.DType
	Causal  bool
	Scale   float64
	Q, K, V ir.Layout
	Added   []int
	Joined  bool
	Y       tensortype.DType // of the result that Gradient reads: DType, or 16-bit floats if that is float32
}

func (o Attention) shape(q, k, v, added Pointer) attentionShape {
	h := attentionShape{Q: newHeadTensor(q, o.Q), K: newHeadTensor(k, o.K), V: newHeadTensor(v, o.V), Scale: o.Scale, Causal: flag(o.Causal),
		Count: uint32(o.Q.Shape[0] * o.Q.Shape[1]), Heads: uint32(o.Q.Shape[1]), T: uint32(o.Q.Shape[2]), D: uint32(o.Q.Shape[3]), S: uint32(o.V.Shape[2]), E: uint32(o.V.Shape[3])}
	if o.Added != nil {
		h.Added = added
		for i, n := range ir.Strides(o.Added) {
			if o.Added[i] > 1 {
				h.AddedStride[i] = int64(n)
			}
		}
	}
	return h
}

func newHeadTensor(p Pointer, l ir.Layout) headTensor {
	h := headTensor{Data: p}
	for i, s := range l.Stride {
		h.Stride[i] = int64(s)
	}
	return h
}

// blocks returns the number of blocks: one for each tile of 64 rows by 64 columns of each
// head.
func (h attentionShape) blocks(rows, columns uint32) (int, error) {
	n := int(h.Count) * ceil(int(rows), 64) * max(ceil(int(columns), 64), 1)
	if n > 1<<31-1 {
		return 0, fmt.Errorf("attention over %d heads of %d rows needs more blocks than a CUDA grid can have (2³¹-1)", h.Count, rows)
	}
	return n, nil
}

// rows returns the distance and the start of the gradients' rows, in elements.
func (o Attention) rows() (pitch, from [3]int) {
	return ir.AttentionGradient{Joined: o.Joined}.Rows(o.Q.Shape, o.V.Shape)
}

// slopes returns the layout of dy as [B, H, T, E].
func (o Attention) slopes() ir.Layout {
	b, h, t, e := o.Q.Shape[0], o.Q.Shape[1], o.Q.Shape[2], o.V.Shape[3]
	return ir.Layout{Shape: []int{b, h, t, e}, Stride: []int{t * h * e, e, h * e, 1}}
}

// Launches computes y, followed by the row sums: [B, T, H, E], then the logarithms of the
// rows' sums [B, H, T]. It returns an error if a grid cannot hold that many blocks.
func (o Attention) Launches(y, q, k, v, added Pointer) ([]Launch, error) {
	h := o.shape(q, k, v, added)
	blocks, err := h.blocks(h.T, h.E)
	if err != nil || blocks == 0 {
		return nil, err
	}
	return []Launch{attentionForward.launch(real(o.DType), blocks, attentionParams{y, h})}, nil
}

// GradientWorkspace returns the size of the workspace of Gradient: one element per query.
func (o Attention) GradientWorkspace() int {
	return ir.Len(o.Q.Shape[:3]) * o.DType.Size()
}

// Gradient computes dq, dk and dv, as ir.AttentionGradient has them, from the y that Launches computed
// and dy [B, T, H, E], row-major.
func (o Attention) Gradient(dx, q, k, v, y, dy, added, work Pointer) ([]Launch, error) {
	h, t := o.shape(q, k, v, added), real(o.DType)
	if h.Count == 0 {
		return nil, nil
	}
	h.DY = newHeadTensor(dy, o.slopes())
	size := Pointer(o.DType.Size())
	read := size
	if o.Y.Is16Bit() {
		read = 2
	}
	sums := y + Pointer(h.Count)*Pointer(h.T)*Pointer(h.E)*read
	pitch, from := o.rows()
	at := func(i int) Pointer { return dx + Pointer(from[i])*size }
	var out []Launch
	if h.T > 0 {
		out = append(out, attentionDelta.launch(t, min(ceil(int(h.Count)*int(h.T), 8), maxBlocks), attentionDeltaParams{work, y, uint64(kind(o.Y)), h}))
	}
	for _, part := range []struct {
		rows, columns uint32
		launch        func(blocks int) Launch
	}{
		{h.T, h.D, func(n int) Launch {
			return attentionQueries.launch(t, n, attentionGradientParams{at(0), sums, work, uint64(pitch[0]), h})
		}},
		{h.S, h.D, func(n int) Launch {
			return attentionKeys.launch(t, n, attentionGradientParams{at(1), sums, work, uint64(pitch[1]), h})
		}},
		{h.S, h.E, func(n int) Launch {
			return attentionValues.launch(t, n, attentionValuesParams{at(2), sums, uint64(pitch[2]), h})
		}},
	} {
		blocks, err := h.blocks(part.rows, part.columns)
		if err != nil {
			return nil, err
		}
		if blocks > 0 && part.columns > 0 {
			out = append(out, part.launch(blocks))
		}
	}
	return out, nil
}
