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

func newCopy(_ *Device, s ir.Step) (step, error) { return copying(s), nil }

// copying returns a step that copies a tensor of any layout in row-major order.
func copying(s ir.Step) stepFunc {
	in, out, walk := s.In[0], s.Out[0], s.In[0].Squeeze()
	return func(p *program) error {
		src := p.memory[in.Slot]
		switch out.DType.Size() {
		case 1:
			gatherChunks(p, elements[uint8](p, out), src, walk)
		case 2:
			gatherChunks(p, elements[uint16](p, out), src, walk)
		case 4:
			gatherChunks(p, elements[int32](p, out), src, walk)
		default:
			gatherChunks(p, elements[int64](p, out), src, walk)
		}
		return nil
	}
}

// gatherChunks is gatherAs for all elements, without a conversion.
func gatherChunks[T number](p *program, dst []T, src unsafe.Pointer, l ir.Layout) {
	p.device.pool.split(len(dst), moveLen, func(at, end, _ int) { gatherAs[T](dst[at:end], src, l, at) })
}

// newCast returns a step that converts element types. Casts to float32 are part of fused loops instead.
func newCast(_ *Device, s ir.Step) (step, error) {
	in, out, walk := s.In[0], s.Out[0], s.In[0].Squeeze()
	return stepFunc(func(p *program) error {
		src := p.memory[in.Slot]
		switch out.DType {
		case ir.Float64:
			castChunks(p, elements[float64](p, out), src, in.DType, walk)
		case ir.Int32:
			castChunks(p, elements[int32](p, out), src, in.DType, walk)
		case ir.Int64:
			castChunks(p, elements[int64](p, out), src, in.DType, walk)
		case ir.Uint8:
			castChunks(p, elements[uint8](p, out), src, in.DType, walk)
		case ir.Float16, ir.BFloat16:
			dst := elements[uint16](p, out)
			p.device.pool.split(len(dst), moveLen, func(at, end, _ int) {
				castToFloat16(dst[at:end], out.DType, src, in.DType, walk, at)
			})
		case ir.Bool:
			dst := elements[uint8](p, out)
			p.device.pool.split(len(dst), moveLen, func(at, end, _ int) {
				var buffer [256]float64
				for ; at < end; at += len(buffer) {
					w := buffer[:min(len(buffer), end-at)]
					castTo(w, src, in.DType, walk, at)
					for j, v := range w {
						dst[at+j] = uint8(mask(v != 0))
					}
				}
			})
		}
		return nil
	}), nil
}

func castChunks[T number](p *program, dst []T, src unsafe.Pointer, from ir.DType, l ir.Layout) {
	p.device.pool.split(len(dst), moveLen, func(at, end, _ int) { castTo(dst[at:end], src, from, l, at) })
}

// newPad returns a step that pads a tensor with zeros along one axis.
func newPad(_ *Device, s ir.Step) (step, error) {
	op := s.Op.(ir.Pad)
	outer, n, inner := axes(s.In[0].Shape, op.Axis, op.Axis+1)
	inner *= s.In[0].DType.Size() // bytes
	return stepFunc(func(p *program) error {
		x, y := raw(p, s.In[0]), raw(p, s.Out[0])
		clear(y)
		for o := range outer {
			copy(y[(o*op.Size+op.Before)*inner:], x[o*n*inner:(o+1)*n*inner])
		}
		return nil
	}), nil
}

// newConcat returns a step that concatenates its inputs along one axis.
func newConcat(_ *Device, s ir.Step) (step, error) {
	axis, out := s.Op.(ir.Concat).Axis, s.Out[0]
	bytes := func(o ir.Operand) int { return ir.Len(o.Shape[axis:]) * o.DType.Size() } // of one outer row
	outer, row := ir.Len(out.Shape[:axis]), bytes(out)
	return stepFunc(func(p *program) error {
		y, at := raw(p, out), 0
		for _, o := range s.In {
			x, n := raw(p, o), bytes(o)
			for r := range outer {
				copy(y[r*row+at:], x[r*n:(r+1)*n])
			}
			at += n
		}
		return nil
	}), nil
}

// raw returns the bytes of a row-major operand.
func raw(p *program, o ir.Operand) []byte {
	size := o.DType.Size()
	return unsafe.Slice((*byte)(unsafe.Add(p.memory[o.Slot], o.Offset*size)), ir.Len(o.Shape)*size)
}

// newGather returns a step that copies rows selected by an index.
func newGather(_ *Device, s ir.Step) (step, error) {
	row := ir.Len(s.In[0].Shape[1:]) * s.In[0].DType.Size() // bytes
	return stepFunc(func(p *program) error {
		x, y, pick := raw(p, s.In[0]), raw(p, s.Out[0]), elements[int32](p, s.In[1])
		if err := checkIndices("IndexSelect", pick, s.In[0].Shape[0]); err != nil {
			return err
		}
		p.device.pool.split(len(pick), max(1, 4*moveLen/max(row, 1)), func(i, end, _ int) {
			for ; i < end; i++ {
				j := int(pick[i])
				copy(y[i*row:(i+1)*row], x[j*row:(j+1)*row])
			}
		})
		return nil
	}), nil
}

// newScatterAdd returns a step that adds rows to the rows that an index selects, in the order of the index.
func newScatterAdd(_ *Device, s ir.Step) (step, error) {
	n := ir.Len(s.Out[0].Shape[1:])
	return stepFunc(func(p *program) error {
		pick := elements[int32](p, s.In[1])
		if err := checkIndices("IndexAdd", pick, s.Out[0].Shape[0]); err != nil {
			return err
		}
		if s.Out[0].DType == ir.Float64 {
			addAt(elements[float64](p, s.Out[0]), elements[float64](p, s.In[0]), pick, n, addGeneric[float64])
		} else {
			addAt(elements[float32](p, s.Out[0]), elements[float32](p, s.In[0]), pick, n, p.device.vectors.add)
		}
		return nil
	}), nil
}

// addAt sets y to the sums of the rows of x, of n elements, that have the same index.
func addAt[T real](y, x []T, index []int32, n int, add func(d, a, b []T)) {
	clear(y)
	for i, j := range index {
		row := y[int(j)*n:][:n]
		add(row, row, x[i*n:][:n])
	}
}

// newCompare returns a step for Equal or Greater of types other than float32.
func newCompare(_ *Device, s ir.Step) (step, error) {
	a, b, out := s.In[0], s.In[1], s.Out[0]
	a.Layout, b.Layout = a.BroadcastTo(out.Shape), b.BroadcastTo(out.Shape)
	_, greater := s.Op.(ir.Greater)
	return stepFunc(func(p *program) error {
		switch y := elements[float32](p, out); a.DType {
		case ir.Float64:
			compareAs[float64](p, y, a, b, greater)
		case ir.Int32:
			compareAs[int32](p, y, a, b, greater)
		case ir.Int64:
			compareAs[int64](p, y, a, b, greater)
		default:
			compareAs[uint8](p, y, a, b, greater)
		}
		return nil
	}), nil
}

func compareAs[T number](p *program, y []float32, a, b ir.Operand, greater bool) {
	var u, v [512]T
	for at := 0; at < len(y); at += len(u) {
		n := min(len(u), len(y)-at)
		gatherAs[T](u[:n], p.memory[a.Slot], a.Layout, at)
		gatherAs[T](v[:n], p.memory[b.Slot], b.Layout, at)
		for i := range n {
			hit := u[i] == v[i]
			if greater {
				hit = u[i] > v[i]
			}
			y[at+i] = float32(mask(hit))
		}
	}
}
