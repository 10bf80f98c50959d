package kernels

import (
	"fmt"
	"strconv"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// flashTensor is the address and the strides of a tensor [B, H, rows, D] that is contiguous
// along D.
type flashTensor struct {
	Data   Pointer
	Stride [3]int64
}

type flashShape struct {
	Q, K, V, DY        flashTensor
	Added              Pointer
	AddedStride        [4]int64
	Scale              float32
	Count, Heads, T, S uint32
	Causal, Added16    uint32
	Round              uint32
}

type flashParams struct {
	Y, Sums Pointer
	Heads   flashShape
}

type flashDeltaParams struct {
	Delta, Y Pointer
	Y16      uint64
	Heads    flashShape
}

type flashQueriesParams struct {
	DQ, Sums, Delta Pointer
	Pitch           uint64 // elements between the rows of the result
	Heads           flashShape
}

type flashKeysParams struct {
	DK, DV, Sums, Delta Pointer
	Pitch               uint64
	Heads               flashShape
}

var flashTypes = []string{"bf16_32", "bf16_64", "bf16_128", "f16_32", "f16_64", "f16_128"}

var (
	flashForward = declare[flashParams]("flash", "flash_forward", flashTypes, 128)
	flashDelta   = declare[flashDeltaParams]("flash", "flash_delta", flashTypes, 256)
	flashQueries = declare[flashQueriesParams]("flash", "flash_queries", flashTypes, 128)
	flashKeys    = declare[flashKeysParams]("flash", "flash_keys", flashTypes, 128)
)

// TensorAttention is Attention on tensor cores, of bfloat16 or float16 queries, keys and
// values. The tensor that is added to the scores is float32, or with Added16 of that type
// too. Results are float32, or with Round of the 16-bit type; so is, with Y of that type, the result
// that Gradient reads. The logarithms of the sums behind it are float32. See Fits.
type TensorAttention struct {
	Attention
	Added16, Round bool
}

// Fits reports whether there are kernels for the sizes and layouts: heads of 32, 64 or 128
// contiguous elements that start at multiples of 16 bytes. offsets are those of queries,
// keys and values, in elements.
func (o TensorAttention) Fits(offsets [3]int) bool {
	d := o.Q.Shape[3]
	if !o.DType.Is16Bit() || d != o.V.Shape[3] || d != 32 && d != 64 && d != 128 {
		return false
	}
	for i, l := range []ir.Layout{o.Q, o.K, o.V} {
		if l.Stride[3] != 1 || offsets[i]%8 != 0 {
			return false
		}
		for k, s := range l.Stride[:3] {
			if l.Shape[k] > 1 && s%8 != 0 {
				return false
			}
		}
	}
	return true
}

func (o TensorAttention) shape(q, k, v, dy, added Pointer) flashShape {
	h := flashShape{Q: newFlashTensor(q, o.Q), K: newFlashTensor(k, o.K), V: newFlashTensor(v, o.V), Scale: float32(o.Scale), Causal: flag(o.Causal), Added16: flag(o.Added16), Round: flag(o.Round),
		Count: uint32(o.Q.Shape[0] * o.Q.Shape[1]), Heads: uint32(o.Q.Shape[1]), T: uint32(o.Q.Shape[2]), S: uint32(o.V.Shape[2])}
	h.DY = newFlashTensor(dy, o.slopes())
	full := o.Attention.shape(0, 0, 0, added)
	h.Added, h.AddedStride = full.Added, full.AddedStride
	return h
}

func newFlashTensor(p Pointer, l ir.Layout) flashTensor {
	h := flashTensor{Data: p}
	for i := range h.Stride {
		h.Stride[i] = int64(l.Stride[i])
	}
	return h
}

func (o TensorAttention) variant() string {
	return tensorType(o.DType) + "_" + strconv.Itoa(o.Q.Shape[3])
}

// tiles returns the grid for blocks of 64 rows of each head.
func (h flashShape) tiles(rows uint32) (driver.Dim, error) {
	n := int(h.Count) * ceil(int(rows), 64)
	if n > 1<<31-1 {
		return driver.Dim{}, fmt.Errorf("attention over %d heads of %d rows needs more blocks than a CUDA grid can have (2³¹-1)", h.Count, rows)
	}
	return driver.Dim{X: uint32(n), Y: 1, Z: 1}, nil
}

// Launches computes y as Attention does.
func (o TensorAttention) Launches(y, q, k, v, added Pointer) ([]Launch, error) {
	h := o.shape(q, k, v, 0, added)
	grid, err := h.tiles(h.T)
	if err != nil || grid.X == 0 {
		return nil, err
	}
	// shared memory: the queries, and two stages of keys and values
	return []Launch{flashForward.grid(o.variant(), grid, 5*64*2*o.Q.Shape[3], flashParams{y, o.sums(y, o.Round), h})}, nil
}

// sums returns where the logarithms are behind a result of 16 or 32 bits.
func (o TensorAttention) sums(y Pointer, short bool) Pointer {
	size := 4
	if short {
		size = 2
	}
	return y + Pointer(size*ir.Len(o.Q.Shape))
}

// GradientWorkspace returns the size of the workspace of Gradient: one element per query.
func (o TensorAttention) GradientWorkspace() int { return 4 * ir.Len(o.Q.Shape[:3]) }

// Gradient computes dq, dk and dv, as ir.AttentionGradient has them, from the y that Launches computed
// and dy [B, T, H, D] of the 16-bit type, row-major.
func (o TensorAttention) Gradient(dx, q, k, v, y, dy, added, work Pointer) ([]Launch, error) {
	h, d, t := o.shape(q, k, v, dy, added), o.Q.Shape[3], o.variant()
	sums := o.sums(y, o.Y.Is16Bit())
	size := 4
	if o.Round {
		size = 2
	}
	pitch, from := o.rows() // those of keys and values have the same pitch
	at := func(i int) Pointer { return dx + Pointer(size*from[i]) }
	tileRows := 64
	if d == 128 {
		tileRows = 32
	}
	shared := (2*64 + 4*tileRows) * 2 * d
	rows, err := h.tiles(h.T)
	if err != nil {
		return nil, err
	}
	columns, err := h.tiles(h.S)
	if err != nil {
		return nil, err
	}
	var out []Launch
	if rows.X > 0 {
		out = append(out,
			flashDelta.launch(t, min(ceil(int(h.Count)*int(h.T), 8), maxBlocks), flashDeltaParams{work, y, uint64(flag(o.Y.Is16Bit())), h}),
			flashQueries.grid(t, rows, shared, flashQueriesParams{at(0), sums, work, uint64(pitch[0]), h}))
	}
	if columns.X > 0 {
		out = append(out, flashKeys.grid(t, columns, shared, flashKeysParams{at(1), at(2), sums, work, uint64(pitch[1]), h}))
	}
	return out, nil
}
