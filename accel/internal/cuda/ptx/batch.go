package ptx

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// A batch computes the same ops for many tensors. Its kernel has one parameter that describes its
// parts, one after the other:
//
//	u32 n          number of elements
//	u32 word       what the part adds to indices of dynamic words, a signed number of 24 bits, then two bits for each of
//	               four inputs that are not of the same type in all parts: an index in types
//	u32 …          the types of more such inputs, sixteen in each
//	u64 …          addresses of the inputs, then of the results, 0 for those that the part lacks
//
// The shorter a part is, the fewer launches an update of many parameters takes.
//
// A tile is a number of elements of one part, which a block computes. Blocks take the tiles in
// rotation, and look for the part of each from that of the one before.
const (
	wordBits      = 24
	typesInFirst  = (32 - wordBits) / 2
	typesInWord   = 16
	tilePerThread = 4 // how many times vectorWidth elements
	tile          = threads * vectorWidth * tilePerThread
)

// typeAt returns where the type of a mixed input is: the index of a u32, and that of its first bit.
func typeAt(mixed int) (field, shift int) {
	if mixed < typesInFirst {
		return 1, wordBits + 2*mixed
	}
	mixed -= typesInFirst
	return 2 + mixed/typesInWord, 2 * (mixed % typesInWord)
}

// types are the types of an input that may differ from part to part.
var types = []ir.DType{ir.Float32, ir.BFloat16, ir.Float16}

// partHead returns the number of bytes that describe a part before the addresses.
func (k *Kernel) partHead() int {
	mixed := 0
	for _, in := range k.inputs {
		mixed += min(len(in.mixed), 1)
	}
	last, _ := typeAt(max(0, mixed-1))
	return (4*(last+1) + 7) / 8 * 8
}

// partBytes returns the number of bytes that describe a part.
func (k *Kernel) partBytes() int { return k.partHead() + 8*(len(k.inputs)+len(k.results)) }

// batchInput returns how the kernel accesses an input of each part. It returns an error for strides.
func (k *Kernel) batchInput(at int) (input, error) {
	parts := len(k.step.Parts)
	each := len(k.step.In) / parts
	in := input{Operand: k.step.In[at], access: broadcast}
	var mixed []ir.DType
	for i := range parts {
		o := k.step.In[i*each+at]
		if !slices.Contains(mixed, o.DType) {
			mixed = append(mixed, o.DType)
		}
		if s := o.Squeeze(); len(s.Shape) > 0 && !allZero(s.Stride) {
			in.access = contiguous
		}
	}
	if len(mixed) > 1 {
		in.access, in.mixed = contiguous, mixed
	}
	if in.access == broadcast {
		return in, nil
	}
	for i := range parts {
		o := k.step.In[i*each+at]
		if !o.Contiguous() || !slices.Contains(types, o.DType) {
			return in, fmt.Errorf("cuda: a batch of elementwise kernels cannot read %s with strides %v", o.DType, o.Stride)
		}
		if !aligned(o.Offset, o.DType, k.width) {
			k.width = 1
		}
	}
	return in, nil
}

// batches returns the launches of a batch, which are as few as the size of the parameters allows.
func (k *Kernel) batches(at func(ir.Operand) driver.Pointer, words driver.Pointer, guards []driver.Pointer) (out []driver.Launch) {
	for from := 0; from < len(k.step.Parts); from += k.parts {
		var table []byte
		address := func(p driver.Pointer) { table = binary.LittleEndian.AppendUint64(table, uint64(p)) }
		tiles := 0
		for i := from; i < min(from+k.parts, len(k.step.Parts)); i++ {
			part := k.step.Part(i)
			n := ir.Len(part.Shape)
			tiles += (n + tile - 1) / tile
			head := make([]uint32, k.partHead()/4)
			head[0], head[1] = uint32(n), uint32(k.step.Parts[i].Word)&(1<<wordBits-1)
			mixed := 0
			for j, in := range k.inputs {
				if len(in.mixed) > 0 {
					field, shift := typeAt(mixed)
					head[field] |= uint32(slices.Index(types, part.In[j].DType)) << shift
					mixed++
				}
			}
			for _, v := range head {
				table = binary.LittleEndian.AppendUint32(table, v)
			}
			for _, o := range part.In {
				address(at(o))
			}
			for _, j := range k.step.Parts[i].Out {
				if j < 0 {
					address(0)
				} else {
					address(at(k.step.Out[j]))
				}
			}
		}
		if tiles == 0 {
			continue
		}
		params := binary.LittleEndian.AppendUint64(nil, uint64(tiles))
		params = binary.LittleEndian.AppendUint64(params, uint64(words))
		for _, g := range guards {
			params = binary.LittleEndian.AppendUint64(params, uint64(g))
		}
		params = append(params, table...)
		params = append(params, make([]byte, k.parts*k.partBytes()-len(table))...)
		out = append(out, driver.Launch{Grid: driver.Dim{X: uint32(min(tiles, maxBlocks)), Y: 1, Z: 1}, Block: driver.Dim{X: threads, Y: 1, Z: 1}, Params: params, Label: k.Label()})
	}
	return out
}

// writeBatch generates the kernel of a batch.
func (w *writer) writeBatch(guards int) error {
	kernel := w.kernel
	size := kernel.partBytes()
	w.table = size * kernel.parts
	tiles, dynamics := w.param(), w.param()
	for range guards {
		seen := w.op(bits64, "ld.global.u64", deref(w.param()))
		w.jump(w.op(predicate, "setp.ne.s64", seen, "-1"), "END")
	}
	tid := w.op(bits64, "cvt.u64.u32", w.op(bits32, "mov.u32", "%tid.x"))
	first := w.op(bits64, "mul.lo.s64", tid, word(kernel.width))
	block, blocks := w.op(bits64, "cvt.u64.u32", w.op(bits32, "mov.u32", "%ctaid.x")), w.op(bits64, "cvt.u64.u32", w.op(bits32, "mov.u32", "%nctaid.x"))
	part := w.op(bits64, "mov.u64", "parts")
	begin := w.op(bits64, "mov.u64", word(0)) // the first tile of the part

	w.label("NEXT")
	w.jump(w.op(predicate, "setp.ge.s64", block, tiles), "END")
	w.label("SEEK")
	n := w.op(bits64, "cvt.u64.u32", w.op(bits32, "ld.param.u32", deref(part)))
	end := w.op(bits64, "shr.u64", w.op(bits64, "add.s64", n, word(tile-1)), word(bits.TrailingZeros(tile)))
	w.do("add.s64", end, end, begin)
	w.jump(w.op(predicate, "setp.lt.s64", block, end), "FOUND")
	w.do("mov.u64", begin, end)
	w.do("add.s64", part, part, word(size))
	w.do("bra", "SEEK")

	w.label("FOUND")
	field := func(at int) reg { return w.op(bits32, "ld.param.u32", deref(offset(part, at))) }
	atWord := w.op(bits32, "shr.s32", w.op(bits32, "shl.b32", field(4), word(32-wordBits)), word(32-wordBits))
	words := w.op(bits64, "mad.lo.s64", w.op(bits64, "cvt.s64.s32", atWord), word(8), dynamics)
	mixed, at := 0, kernel.partHead()
	for _, in := range kernel.inputs {
		var typ reg
		if len(in.mixed) > 0 {
			index, shift := typeAt(mixed)
			typ = w.op(bits32, "shr.u32", field(4*index), word(shift))
			typ = w.op(bits32, "and.b32", typ, word(3))
			mixed++
		}
		w.types = append(w.types, typ)
	}
	load := func() reg {
		at += 8
		return w.op(bits64, "ld.param.u64", deref(offset(part, at-8)))
	}
	for _, x := range kernel.step.Loop {
		var s reg
		if dynamic(x) {
			s = w.op(real32, "cvt.rn.f32.f64", w.op(real64, "ld.global.f64", "["+words+"+"+word(8*x.Word)+"]"))
		}
		w.scalars = append(w.scalars, s)
	}
	for _, in := range kernel.inputs {
		w.at = append(w.at, load())
		var v reg
		if in.access == broadcast {
			v = w.load(in.DType, w.at[len(w.at)-1])
		}
		w.broadcasts = append(w.broadcasts, v)
		w.sizes, w.strides = append(w.sizes, nil), append(w.strides, nil)
	}
	for range kernel.results {
		w.to = append(w.to, load())
	}
	from := w.op(bits64, "mul.lo.s64", w.op(bits64, "sub.s64", block, begin), word(tile))
	limit := w.op(bits64, "min.s64", n, w.op(bits64, "add.s64", from, word(tile)))
	i := w.op(bits64, "add.s64", from, first)
	w.label("TILE")
	w.jump(w.op(predicate, "setp.ge.s64", i, limit), "DONE")
	w.jump(w.op(predicate, "setp.gt.s64", w.op(bits64, "add.s64", i, word(kernel.width)), limit), "REST")
	if err := w.body(i, kernel.width); err != nil {
		return err
	}
	w.do("add.s64", i, i, word(threads*kernel.width))
	w.do("bra", "TILE")
	w.label("REST") // the last elements, one by one
	if err := w.body(i, 1); err != nil {
		return err
	}
	w.do("add.s64", i, i, word(1))
	w.jump(w.op(predicate, "setp.lt.s64", i, limit), "REST")
	w.label("DONE")
	w.do("add.s64", block, block, blocks)
	w.do("bra", "NEXT")
	w.label("END")
	w.text.WriteString("\tret;\n")
	return nil
}
