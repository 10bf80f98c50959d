package ptxsim

// wmma loads, multiplies and stores matrices that a warp holds in its registers. Which elements a lane holds is not specified: it
// differs between GPUs. Here slot i of a lane's n slots holds element (n·lane + i) of the matrix, row by row; if there are more slots than
// elements, as for a and b of 16 bits, the upper lanes hold them again.

// fragment is a matrix in the registers of a warp.
type fragment struct {
	element
	rows, columns int
	registers     int // of each lane
	each          int // elements of a register
}

func (f *fragment) slots() int { return f.registers * f.each }

// at returns the row and column of a slot.
func (f *fragment) at(lane, slot int) (row, column int) {
	e := (lane*f.slots() + slot) % (f.rows * f.columns)
	return e / f.columns, e % f.columns
}

// read returns the elements of registers.
func (f *fragment) read(w *warp, slots []int) []uint64 {
	all := make([]uint64, f.rows*f.columns)
	for lane := range warpSize {
		for i := range f.slots() {
			row, column := f.at(lane, i)
			all[row*f.columns+column] = w.r[slots[i/f.each]][lane] >> (i % f.each * f.bits) & lowBits(f.bits)
		}
	}
	return all
}

// put writes elements to registers.
func (f *fragment) put(w *warp, slots []int, all []uint64) {
	for lane := range warpSize {
		for r, slot := range slots {
			v := uint64(0)
			for e := range f.each {
				row, column := f.at(lane, r*f.each+e)
				v |= all[row*f.columns+column] << (e * f.bits)
			}
			w.r[slot][lane] = v
		}
	}
}

// wmmaShapes are the supported shapes by the type of a and b.
var wmmaShapes = map[string][]tile{
	"f16": {{16, 16, 16}, {32, 8, 16}, {8, 32, 16}}, "bf16": {{16, 16, 16}, {32, 8, 16}, {8, 32, 16}},
	"s8": {{16, 16, 16}, {32, 8, 16}, {8, 32, 16}}, "u8": {{16, 16, 16}, {32, 8, 16}, {8, 32, 16}}, "tf32": {{16, 16, 8}},
}

// fragmentOf returns a, b or c of a product of a shape.
func (o *operation) fragmentOf(which string, shape tile, t valueType) fragment {
	f := fragment{element: elementOf(t), rows: shape.m, columns: shape.n}
	if t.name == "s32" {
		f.element = element{bits: 32, value: func(v uint64) float64 { return float64(extend(v, 32)) }}
	}
	known := t.name == "f16" || t.name == "f32" || t.name == "s32"
	if which != "c" {
		known = false
		for _, s := range wmmaShapes[t.name] {
			known = known || s == shape
		}
	}
	switch which {
	case "a":
		f.columns = shape.k
	case "b":
		f.rows = shape.k
	}
	if !known {
		panic(o.failure("wmma with the shape m%dn%dk%d and elements of type .%s is not supported", shape.m, shape.n, shape.k, t.name))
	}
	f.each = 32 / f.bits
	f.registers = f.rows * f.columns / f.each / warpSize
	if t.name == "f16" && which != "c" {
		f.registers = 8 // in all shapes; each element is held more than once
	}
	return f
}

func compileWmma(o *operation) step {
	switch o.need("load", "store", "mma") {
	case "load":
		return compileWmmaLoad(o)
	case "store":
		return compileWmmaStore(o)
	}
	return compileWmmaMultiply(o)
}

// strided reads .space.type of wmma.load and wmma.store, and returns how to find the elements: rowMajor, and the register with the
// elements between rows or columns, -1 if there is none.
func (o *operation) strided(which string, shape tile, memory, stride int, rowMajor bool) (f fragment, a access, distance func(w *warp) uint64) {
	a.vector = 1
	a.space = plainSpace(o.take("global", "shared", "shared::cta"))
	a.t = o.typ("f16", "bf16", "tf32", "s8", "u8", "f32", "s32")
	f = o.fragmentOf(which, shape, a.t)
	o.end(2, 3)
	o.address(&o.args[memory], &a)
	side := f.columns
	if !rowMajor {
		side = f.rows
	}
	distance = func(*warp) uint64 { return uint64(side) }
	if len(o.args) == 3 {
		r := o.source(stride, valueTypes["b32"])
		distance = func(w *warp) uint64 { return w.r[r][0] }
	}
	return f, a, distance
}

// wmmaAlign is the alignment of a matrix in memory, and of its rows or columns.
const (
	wmmaAlign     = 32
	wmmaLineAlign = 16
)

// addresses calls do for each slot of each lane with the address of its element.
func (f *fragment) addresses(w *warp, a *access, distance uint64, rowMajor bool, do func(lane, slot int, address uint64)) {
	size := uint64(f.bits / 8)
	base := w.r[a.base][0] + a.offset
	if base%wmmaAlign != 0 {
		panic(w.accessFault(Misaligned, 0, a.space, base, int(size), "a matrix of wmma must begin at a multiple of %d bytes", wmmaAlign))
	}
	if distance*size%wmmaLineAlign != 0 {
		panic(w.accessFault(Misaligned, 0, a.space, base, int(size), "the rows of a matrix of wmma are %d elements apart, which is not a multiple of %d bytes", distance, wmmaLineAlign))
	}
	for lane := range warpSize {
		if at := w.r[a.base][lane] + a.offset; at != base {
			panic(w.accessFault(Trapped, lane, a.space, at, int(size), "the lanes of a warp give different addresses of a matrix of wmma"))
		}
		for slot := range f.slots() {
			row, column := f.at(lane, slot)
			if !rowMajor {
				row, column = column, row
			}
			do(lane, slot, base+(uint64(row)*distance+uint64(column))*size)
		}
	}
}

// compileWmmaLoad compiles wmma.load.a.sync.aligned.row.m16n16k16.global.f16 registers, [address], stride.
func compileWmmaLoad(o *operation) step {
	which := o.need("a", "b", "c")
	o.need("sync")
	o.need("aligned")
	rowMajor := o.need("row", "col") == "row"
	f, a, distance := o.strided(which, o.tile(), 1, 2, rowMajor)
	d := o.destinations(f.registers, valueTypes["b32"])
	return func(w *warp, mask uint32) {
		w.everyLane(mask)
		all := make([]uint64, f.rows*f.columns)
		f.addresses(w, &a, distance(w), rowMajor, func(lane, slot int, address uint64) {
			row, column := f.at(lane, slot)
			all[row*f.columns+column] = getBits(w.readable(&a, lane, address, f.bits/8), f.bits/8)
		})
		f.put(w, d, all)
	}
}

// compileWmmaStore compiles wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [address], registers, stride.
func compileWmmaStore(o *operation) step {
	o.need("d")
	o.need("sync")
	o.need("aligned")
	rowMajor := o.need("row", "col") == "row"
	f, a, distance := o.strided("c", o.tile(), 0, 2, rowMajor)
	v := o.sources(1, f.registers, valueTypes["b32"])
	return func(w *warp, mask uint32) {
		w.everyLane(mask)
		all := f.read(w, v)
		var b [4]byte
		f.addresses(w, &a, distance(w), rowMajor, func(lane, slot int, address uint64) {
			row, column := f.at(lane, slot)
			putBits(b[:], all[row*f.columns+column], f.bits/8)
			w.write(&a, lane, address, b[:f.bits/8])
		})
	}
}

// compileWmmaMultiply compiles wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 d, a, b, c, which has the types of a and b if they are not
// .f16.
func compileWmmaMultiply(o *operation) step {
	o.need("sync")
	o.need("aligned")
	o.need("row", "col") // only the loads depend on it
	o.need("row", "col")
	shape := o.tile()
	o.has("rn")
	dt := o.typ("f16", "f32", "s32")
	at := valueTypes["f16"]
	if len(o.mods)-o.read >= 3 {
		at = o.typ("bf16", "tf32", "s8", "u8", "f16")
		if bt := o.typ("bf16", "tf32", "s8", "u8", "f16"); bt != at {
			panic(o.failure("wmma of different types is not supported"))
		}
	}
	ct := o.typ("f16", "f32", "s32")
	finite := o.has("satfinite")
	o.end(4)
	integers := at.integer()
	if integers != (dt.name == "s32") || integers != (ct.name == "s32") || finite && !integers {
		panic(o.failure("wmma with these types is not supported"))
	}
	fa, fb, fc, fd := o.fragmentOf("a", shape, at), o.fragmentOf("b", shape, at), o.fragmentOf("c", shape, ct), o.fragmentOf("c", shape, dt)
	word := valueTypes["b32"]
	d, a, b, c := o.destinations(fd.registers, word), o.sources(1, fa.registers, word), o.sources(2, fb.registers, word), o.sources(3, fc.registers, word)
	return func(w *warp, mask uint32) {
		w.everyLane(mask)
		x, y, z := fa.read(w, a), fb.read(w, b), fc.read(w, c)
		all := make([]uint64, shape.m*shape.n)
		left, right := make([]float64, shape.k), make([]float64, shape.k)
		for i := range all {
			row, column := i/shape.n, i%shape.n
			sum := 0.0
			for k := range shape.k {
				left[k], right[k] = fa.value(x[row*shape.k+k]), fb.value(y[k*shape.n+column])
				sum += left[k] * right[k]
			}
			switch {
			case integers:
				all[i] = accumulate(sum, z[i], true, finite)
			case w.block.run.launch.Coarse && dt.name == "f32":
				all[i] = bits32(float32(coarseSum(left, right, fc.value(z[i]), fa.bits)))
			case dt.name == "f16":
				all[i] = format16.encode(exactSum(sum, fc.value(z[i])), toNearest)
			default:
				all[i] = bits32(float32(exactSum(sum, fc.value(z[i]))))
			}
		}
		fd.put(w, d, all)
	}
}
