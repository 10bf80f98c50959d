package ptx

import (
	"encoding/binary"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/ir"
)

// A batch computes the same ops for many tensors. Its kernel has one parameter that describes its
// parts, one after the other:
//
//	u64 end        number of tiles of this part and all before it in the launch
//	u64 n          number of elements
//	u64 words      address of the part's dynamic words
//	u64 …          addresses of the inputs, then of the outputs
//
// A tile is a number of elements of one part, which a block computes. Blocks take the tiles in
// rotation, and look for the part of each from that of the one before.
const (
	partHead      = 3 // words before the addresses
	tilePerThread = 4 // how many times vectorWidth elements
	tile          = threads * vectorWidth * tilePerThread
)

// partWords returns the number of words that describe a part.
func (k *Kernel) partWords() int { return partHead + len(k.inputs) + len(k.step.Part(0).Out) }

// batches returns the launches of a batch, which are as few as the size of the parameters allows.
func (k *Kernel) batches(at func(ir.Operand) driver.Pointer, words driver.Pointer, guards []driver.Pointer) (out []driver.Launch) {
	for from := 0; from < len(k.step.Parts); from += k.parts {
		var table []byte
		add := func(v uint64) { table = binary.LittleEndian.AppendUint64(table, v) }
		tiles := 0
		for i := from; i < min(from+k.parts, len(k.step.Parts)); i++ {
			part := k.step.Part(i)
			n := ir.Len(part.Shape)
			tiles += (n + tile - 1) / tile
			add(uint64(tiles))
			add(uint64(n))
			add(uint64(words) + 8*uint64(k.step.Parts[i].Word))
			for _, o := range part.In {
				add(uint64(at(o)))
			}
			for _, o := range part.Out {
				add(uint64(at(o)))
			}
		}
		if tiles == 0 {
			continue
		}
		params := binary.LittleEndian.AppendUint64(nil, uint64(tiles))
		for _, g := range guards {
			params = binary.LittleEndian.AppendUint64(params, uint64(g))
		}
		params = append(params, table...)
		params = append(params, make([]byte, 8*(k.parts*k.partWords())-len(table))...)
		out = append(out, driver.Launch{Grid: driver.Dim{X: uint32(min(tiles, maxBlocks)), Y: 1, Z: 1}, Block: driver.Dim{X: threads, Y: 1, Z: 1}, Params: params, Label: k.Label()})
	}
	return out
}

// writeBatch generates the kernel of a batch.
func (w *writer) writeBatch(guards int) error {
	kernel := w.kernel
	size := 8 * kernel.partWords()
	w.table = size * kernel.parts
	tiles := w.param()
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
	end := w.op(bits64, "ld.param.u64", deref(part))
	w.jump(w.op(predicate, "setp.lt.s64", block, end), "FOUND")
	w.do("mov.u64", begin, end)
	w.do("add.s64", part, part, word(size))
	w.do("bra", "SEEK")

	w.label("FOUND")
	at := 8
	load := func() reg {
		at += 8
		return w.op(bits64, "ld.param.u64", "["+part+"+"+word(at-8)+"]")
	}
	n, words := load(), load()
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
	for range kernel.step.Part(0).Out {
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
