package cpu

import (
	"unsafe"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

var _ = implement[ir.Cast](newCast)
var _ = implement[ir.Concat](newConcat)
var _ = implement[ir.Copy](newCopy)
var _ = implement[ir.Reshape](newCopy)
var _ = implement[ir.Eq](newCompare)
var _ = implement[ir.IndexSelect](newGather)
var _ = implement[ir.Greater](newCompare)
var _ = implement[ir.Pad](newPad)
var _ = implement[ir.IndexAdd](newScatterAdd)

// moveLen is the number of elements per chunk of a copy.
const moveLen = 16 * 1024

// copyStep copies a tensor of any layout in row-major order.
type copyStep struct {
	in, out ir.Operand
	walk    ir.Layout
}

func newCopyStep(s ir.Step) copyStep {
	return copyStep{in: s.In[0], out: s.Out[0], walk: s.In[0].Squeeze()}
}

func newCopy(_ *Device, s ir.Step) (step, error) {
	k := newCopyStep(s)
	return &k, nil
}

func (k *copyStep) run(p *program) error {
	src := p.memory[k.in.Slot]
	switch k.out.DType.Size() {
	case 1:
		gatherChunks(p, elements[uint8](p, k.out), src, k.walk)
	case 2:
		gatherChunks(p, elements[uint16](p, k.out), src, k.walk)
	case 4:
		gatherChunks(p, elements[int32](p, k.out), src, k.walk)
	default:
		gatherChunks(p, elements[int64](p, k.out), src, k.walk)
	}
	return nil
}

// gatherChunks is gatherAs for all elements, without a conversion.
func gatherChunks[T number](p *program, dst []T, src unsafe.Pointer, l ir.Layout) {
	p.device.pool.split(len(dst), moveLen, func(at, end, _ int) { gatherAs[T](dst[at:end], src, l, at) })
}

// cast converts element types. Casts to float32 are part of fused loops instead.
type cast struct{ copyStep }

func newCast(_ *Device, s ir.Step) (step, error) { return &cast{newCopyStep(s)}, nil }

func (k *cast) run(p *program) error {
	src := p.memory[k.in.Slot]
	switch k.out.DType {
	case ir.Float64:
		castChunks(p, k, elements[float64](p, k.out))
	case ir.Int32:
		castChunks(p, k, elements[int32](p, k.out))
	case ir.Int64:
		castChunks(p, k, elements[int64](p, k.out))
	case ir.Uint8:
		castChunks(p, k, elements[uint8](p, k.out))
	case ir.Float16, ir.BFloat16:
		dst := elements[uint16](p, k.out)
		p.device.pool.split(len(dst), moveLen, func(at, end, _ int) {
			castToFloat16(dst[at:end], k.out.DType, src, k.in.DType, k.walk, at)
		})
	case ir.Bool:
		dst := elements[uint8](p, k.out)
		p.device.pool.split(len(dst), moveLen, func(at, end, _ int) {
			var buffer [256]float64
			for ; at < end; at += len(buffer) {
				w := buffer[:min(len(buffer), end-at)]
				castTo(w, src, k.in.DType, k.walk, at)
				for j, v := range w {
					dst[at+j] = uint8(mask(v != 0))
				}
			}
		})
	}
	return nil
}

func castChunks[T number](p *program, k *cast, dst []T) {
	src := p.memory[k.in.Slot]
	p.device.pool.split(len(dst), moveLen, func(at, end, _ int) { castTo(dst[at:end], src, k.in.DType, k.walk, at) })
}

// pad pads a tensor with zeros along one axis; inner is in bytes.
type pad struct {
	in, out                    ir.Operand
	outer, n, inner, size, lag int
}

func newPad(_ *Device, s ir.Step) (step, error) {
	op := s.Op.(ir.Pad)
	k := &pad{in: s.In[0], out: s.Out[0], size: op.Size, lag: op.Before}
	k.outer, k.n, k.inner = axes(s.In[0].Shape, op.Axis, op.Axis+1)
	k.inner *= s.In[0].DType.Size()
	return k, nil
}

func (k *pad) run(p *program) error {
	x, y := raw(p, k.in), raw(p, k.out)
	clear(y)
	for o := range k.outer {
		copy(y[(o*k.size+k.lag)*k.inner:], x[o*k.n*k.inner:(o+1)*k.n*k.inner])
	}
	return nil
}

// concat concatenates its inputs along one axis.
type concat struct {
	in    []ir.Operand
	out   ir.Operand
	outer int
	bytes []int // bytes of one outer row of each input
	row   int   // bytes of one outer row of the output
}

func newConcat(_ *Device, s ir.Step) (step, error) {
	axis := s.Op.(ir.Concat).Axis
	k := &concat{in: s.In, out: s.Out[0], outer: ir.Len(s.Out[0].Shape[:axis])}
	for _, o := range s.In {
		b := ir.Len(o.Shape[axis:]) * o.DType.Size()
		k.bytes = append(k.bytes, b)
		k.row += b
	}
	return k, nil
}

func (k *concat) run(p *program) error {
	y := raw(p, k.out)
	at := 0
	for i, o := range k.in {
		x := raw(p, o)
		for r := range k.outer {
			copy(y[r*k.row+at:], x[r*k.bytes[i]:(r+1)*k.bytes[i]])
		}
		at += k.bytes[i]
	}
	return nil
}

// raw returns the bytes of a row-major operand.
func raw(p *program, o ir.Operand) []byte {
	size := o.DType.Size()
	return unsafe.Slice((*byte)(unsafe.Add(p.memory[o.Slot], o.Offset*size)), ir.Len(o.Shape)*size)
}

// gatherRows copies rows selected by an index.
type gatherRows struct {
	in, index, out ir.Operand
	rows, row      int // number of rows, and bytes per row
	per            int
}

func newGather(_ *Device, s ir.Step) (step, error) {
	k := &gatherRows{in: s.In[0], index: s.In[1], out: s.Out[0], rows: s.In[0].Shape[0]}
	k.row = ir.Len(s.In[0].Shape[1:]) * s.In[0].DType.Size()
	k.per = max(1, 4*moveLen/max(k.row, 1))
	return k, nil
}

func (k *gatherRows) run(p *program) error {
	x, y, pick := raw(p, k.in), raw(p, k.out), elements[int32](p, k.index)
	if err := checkIndices("IndexSelect", pick, k.rows); err != nil {
		return err
	}
	p.device.pool.split(len(pick), k.per, func(i, end, _ int) {
		for ; i < end; i++ {
			j := int(pick[i])
			copy(y[i*k.row:(i+1)*k.row], x[j*k.row:(j+1)*k.row])
		}
	})
	return nil
}

// scatterAdd adds rows to the rows that an index selects, in the order of the index.
type scatterAdd struct {
	in, index, out ir.Operand
	rows, row      int
}

func newScatterAdd(_ *Device, s ir.Step) (step, error) {
	return &scatterAdd{in: s.In[0], index: s.In[1], out: s.Out[0], rows: s.Out[0].Shape[0], row: ir.Len(s.Out[0].Shape[1:])}, nil
}

func (k *scatterAdd) run(p *program) error {
	pick := elements[int32](p, k.index)
	if err := checkIndices("IndexAdd", pick, k.rows); err != nil {
		return err
	}
	if k.out.DType == ir.Float64 {
		x, y := elements[float64](p, k.in), elements[float64](p, k.out)
		clear(y)
		for i, j := range pick {
			for c := range k.row {
				y[int(j)*k.row+c] += x[i*k.row+c]
			}
		}
		return nil
	}
	x, y := elements[float32](p, k.in), elements[float32](p, k.out)
	clear(y)
	for i, j := range pick {
		row := y[int(j)*k.row:][:k.row]
		p.device.vectors.add(row, row, x[i*k.row:][:k.row])
	}
	return nil
}

// compare is Equal or Greater of types other than float32.
type compare struct {
	a, b, out ir.Operand
	greater   bool
}

func newCompare(_ *Device, s ir.Step) (step, error) {
	k := &compare{a: s.In[0], b: s.In[1], out: s.Out[0]}
	k.a.Layout, k.b.Layout = k.a.BroadcastTo(k.out.Shape), k.b.BroadcastTo(k.out.Shape)
	_, k.greater = s.Op.(ir.Greater)
	return k, nil
}

func (k *compare) run(p *program) error {
	y := elements[float32](p, k.out)
	a, b := p.memory[k.a.Slot], p.memory[k.b.Slot]
	switch k.a.DType {
	case ir.Float64:
		compareAs[float64](y, a, b, k)
	case ir.Int32:
		compareAs[int32](y, a, b, k)
	case ir.Int64:
		compareAs[int64](y, a, b, k)
	default:
		compareAs[uint8](y, a, b, k)
	}
	return nil
}

func compareAs[T number](y []float32, a, b unsafe.Pointer, k *compare) {
	var u, v [512]T
	for at := 0; at < len(y); at += len(u) {
		n := min(len(u), len(y)-at)
		gatherAs[T](u[:n], a, k.a.Layout, at)
		gatherAs[T](v[:n], b, k.b.Layout, at)
		for i := range n {
			hit := u[i] == v[i]
			if k.greater {
				hit = u[i] > v[i]
			}
			y[at+i] = 0
			if hit {
				y[at+i] = 1
			}
		}
	}
}
