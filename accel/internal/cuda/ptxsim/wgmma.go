package ptxsim

import "math/bits"

// wgmma computes d[m][n] += a[m][k] b[k][n] with the registers of four warps. Each warp
// holds 16 rows of d, and of a if a is in registers; matrix descriptors give the operands
// in shared memory. So each warp computes its own rows when it executes the instruction.
// The result is in d at once, but shared memory must not change until the warp has waited
// for the group: the simulator checks it again then.
var warpgroupOperations = map[string]func(*operation) step{"wgmma": compileWgmma}

// warpgroup is the reads of a warp's wgmma instructions that have not been waited for:
// 16-byte chunks of shared memory, by group.
type warpgroup struct {
	open   []uint64
	groups [][]uint64
}

func (g *warpgroup) reset() { *g = warpgroup{} }

func compileWgmma(o *operation) step {
	switch o.need("fence", "mma_async", "commit_group", "wait_group") {
	case "fence":
		o.needAligned()
		o.end(0)
		return func(w *warp, mask uint32) { w.everyWarp(mask) }
	case "commit_group":
		o.needAligned()
		o.end(0)
		return func(w *warp, mask uint32) {
			w.everyWarp(mask)
			w.group.groups = append(w.group.groups, w.group.open)
			w.group.open = nil
		}
	case "wait_group":
		o.needAligned()
		n := o.groups(1 << 10)
		return func(w *warp, mask uint32) {
			w.everyWarp(mask)
			for len(w.group.groups) > n {
				for _, at := range w.group.groups[0] {
					w.chunk(at)
				}
				w.group.groups = w.group.groups[1:]
			}
		}
	}
	return o.compileWarpgroupProduct()
}

// groups reads the operand of wait_group, a number of groups.
func (o *operation) groups(most uint64) int {
	o.end(1)
	if o.args[0].kind != operandInteger {
		panic(o.failure("wait_group needs a number"))
	}
	return int(min(o.args[0].bits, most))
}

func (o *operation) needAligned() {
	o.need("sync")
	o.need("aligned")
}

// everyWarp checks that all lanes of the warp execute, in a complete group of four warps.
func (w *warp) everyWarp(mask uint32) {
	w.everyLane(mask)
	if w.index|3 >= len(w.block.warps) {
		panic(w.fault(InactiveLane, 0, "the block has no whole group of four warps here"))
	}
}

// chunk reads 16 bytes of shared memory for the whole warp.
func (w *warp) chunk(at uint64) []byte {
	b := w.block
	if span := b.spans; len(span) > 0 && at&15 == 0 && at >= span[0].from && at+16 <= span[0].to && w.readWords(at, 4, 0, true) {
		w.proxied(at, 16)
		return b.shared[at : at+16]
	}
	data := w.loadShared(0, at, 16, 16, false)
	w.proxied(at, 16)
	return data
}

// warpgroupProduct is a compiled wgmma.mma_async.
type warpgroupProduct struct {
	shape                  tile
	ea, eb                 element
	d                      []int
	a                      []int // registers of a; empty if it is in shared memory
	descriptorA            int
	descriptorB            int
	scale                  int // predicate: add to d
	scaleNot               bool
	signA, signB           float64
	transposeA, transposeB bool // the matrix lies with its rows or columns along memory, not with k
	half                   bool // d is f16
}

func (o *operation) compileWarpgroupProduct() step {
	o.needAligned()
	p := warpgroupProduct{shape: o.tile(), signA: 1, signB: 1}
	dt := o.typ("f32", "f16")
	at := o.typ("f16", "bf16", "tf32", "e4m3", "e5m2")
	bt := o.typ("f16", "bf16", "tf32", "e4m3", "e5m2")
	p.ea, p.eb, p.half = elementOf(at), elementOf(bt), dt.name == "f16"
	s := p.shape
	if s.m != 64 || s.n%8 != 0 || s.n < 8 || s.n > 256 || s.k != 256/p.ea.bits || p.ea.bits != p.eb.bits ||
		p.ea.bits != 8 && at != bt || p.half && at.class == bfloat16 || p.half && at.class == tensorFloat {
		panic(o.failure("wgmma with this shape and these types is not supported"))
	}
	inRegisters := len(o.args) > 1 && o.args[1].kind == operandVector
	turns := 0
	if p.ea.bits == 16 {
		if turns = 2; inRegisters {
			turns = 1
		}
	}
	o.end(6 + turns)
	word := valueTypes["b32"]
	count := s.n / 2
	if p.half {
		count = s.n / 4
	}
	p.d = o.destinations(count, word)
	if inRegisters {
		p.a = o.sources(1, 4, word)
	} else {
		p.descriptorA = o.source(1, valueTypes["b64"])
	}
	p.descriptorB = o.source(2, valueTypes["b64"])
	p.scale, p.scaleNot = o.predicate(3)
	p.signA, p.signB = o.sign(4), o.sign(5)
	switch turns {
	case 1:
		p.transposeB = o.flag(6)
	case 2:
		p.transposeA, p.transposeB = o.flag(6), o.flag(7)
	}
	return p.step()
}

// sign reads an operand that is 1 or -1.
func (o *operation) sign(i int) float64 {
	switch v := int64(o.args[i].bits); {
	case o.args[i].kind == operandInteger && v == 1:
		return 1
	case o.args[i].kind == operandInteger && v == -1:
		return -1
	}
	panic(o.failure("operand %d must be 1 or -1", i))
}

// flag reads an operand that is 0 or 1.
func (o *operation) flag(i int) bool {
	if o.args[i].kind != operandInteger || o.args[i].bits > 1 {
		panic(o.failure("operand %d must be 0 or 1", i))
	}
	return o.args[i].bits == 1
}

func (p *warpgroupProduct) step() step {
	return func(w *warp, mask uint32) {
		w.everyWarp(mask)
		s := p.shape
		a := make([]float64, 16*s.k)
		b := make([]float64, s.n*s.k)
		if len(p.a) > 0 {
			p.fromRegisters(w, a)
		} else {
			w.operandMatrix(p.descriptorA, &p.ea, 16*(w.index&3), 16, s.k, p.transposeA, a)
		}
		w.operandMatrix(p.descriptorB, &p.eb, 0, s.n, s.k, p.transposeB, b)
		sign := p.signA * p.signB
		add := flip(w.p[p.scale], p.scaleNot)
		if add != 0 && add != allLanes {
			panic(w.fault(InactiveLane, bits.TrailingZeros32(^add), "the lanes give different scales of d"))
		}
		for lane := range warpSize {
			g, t := lane>>2, lane&3
			for i := range s.n / 2 {
				row, column := g+8*(i>>1&1), 8*(i>>2)+2*t+i&1
				x, y := a[row*s.k:][:s.k], b[column*s.k:][:s.k]
				if w.block.run.launch.Coarse && !p.half && sign == 1 {
					into := &w.r[p.d[i]][lane]
					before := 0.0
					if add != 0 {
						before = float64(value32(*into))
					}
					*into = bits32(float32(coarseSum(x, y, before, p.ea.bits)))
					continue
				}
				sum := 0.0
				for k, v := range x {
					sum += v * y[k]
				}
				p.put(w, lane, i, sign*sum, add != 0)
			}
		}
	}
}

// put adds to the i-th value of d in a lane.
func (p *warpgroupProduct) put(w *warp, lane, i int, sum float64, add bool) {
	if !p.half {
		into := &w.r[p.d[i]][lane]
		if add {
			sum = exactSum(sum, float64(value32(*into)))
		}
		*into = bits32(float32(sum))
		return
	}
	into, shift := &w.r[p.d[i>>1]][lane], 16*(i&1)
	if add {
		sum = exactSum(sum, format16.decode(*into>>shift&0xffff))
	}
	*into = *into&^(0xffff<<shift) | format16.encode(sum, toNearest)<<shift
}

// fromRegisters reads a warp's rows of a as mma lays them out.
func (p *warpgroupProduct) fromRegisters(w *warp, a []float64) {
	each := 32 / p.ea.bits
	for lane := range warpSize {
		g, t := lane>>2, lane&3
		for r, slot := range p.a {
			for e := range each {
				row, k := g+8*(r&1), each*t+4*each*(r>>1)+e
				a[row*p.shape.k+k] = p.ea.value(w.r[slot][lane] >> (e * p.ea.bits) & lowBits(p.ea.bits))
			}
		}
	}
}

// operandMatrix reads lines of a matrix (rows of a, columns of b), each of k elements,
// through a matrix descriptor. With k along memory, and 16-byte chunks as units, line l and
// chunk c are at
//
//	l%8 · width + l/8 · stride + c            swizzled rows of width pieces
//	l%8 + l/8 · stride + c · leading          not swizzled
//
// and transposed, with chunk c of lines and element k, at
//
//	c%width + c/width · leading + k%8 · width + k/8 · stride   swizzled
//	c · stride + k%8 + k/8 · leading                           not swizzled
//
// as in the manual's tables of canonical layouts. The swizzle applies to the whole address.
func (w *warp) operandMatrix(register int, e *element, first, lines, depth int, transposed bool, out []float64) {
	descriptor := w.r[register]
	for lane := range descriptor {
		if descriptor[lane] != descriptor[0] {
			panic(w.fault(InactiveLane, lane, "the lanes give different matrix descriptors"))
		}
	}
	v := descriptor[0]
	start := v & 0x3fff << 4
	leading, stride := v>>16&0x3fff<<4, v>>32&0x3fff<<4
	row := []int{0, 128, 64, 32}[v>>62]
	if v>>49&7 != 0 {
		panic(w.fault(Trapped, 0, "matrix descriptor %#x with a base offset is not supported", v))
	}
	width := max(row/16, 1)
	per := 128 / e.bits // elements per chunk
	read := func(offset uint64) []byte {
		at := swizzled(start+offset, row)
		w.group.open = append(w.group.open, at)
		return w.chunk(at)
	}
	size := e.bits / 8
	if !transposed {
		for l := first; l < first+lines; l++ {
			for c := range depth / per {
				offset := uint64(l%8*16) + uint64(l/8)*stride + uint64(c)*leading
				if row > 0 {
					offset = uint64(l%8*row) + uint64(l/8)*stride + uint64(16*c)
				}
				chunk := read(offset)
				for i := range per {
					out[(l-first)*depth+c*per+i] = e.value(getBits(chunk[i*size:], size))
				}
			}
		}
		return
	}
	for c := first / per; c < (first+lines)/per; c++ {
		for k := range depth {
			offset := uint64(c)*stride + uint64(k%8*16) + uint64(k/8)*leading
			if row > 0 {
				offset = uint64(c%width*16) + uint64(c/width)*leading + uint64(k%8*row) + uint64(k/8)*stride
			}
			chunk := read(offset)
			for i := range per {
				out[(c*per+i-first)*depth+k] = e.value(getBits(chunk[i*size:], size))
			}
		}
	}
}
