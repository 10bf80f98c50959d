package ptxsim

import (
	"math"
	"strconv"
	"strings"
)

var matrixOperations = map[string]func(*operation) step{
	"mma": compileMma, "ldmatrix": compileLdmatrix, "stmatrix": compileStmatrix, "movmatrix": compileMovmatrix, "wmma": compileWmma,
}

// tile is the shape of an mma: d[m][n] = a[m][k] b[k][n] + c[m][n].
type tile struct{ m, n, k int }

func (o *operation) tile() tile {
	if o.read < len(o.mods) {
		var t tile
		word := strings.NewReplacer("m", " ", "n", " ", "k", " ").Replace(o.mods[o.read])
		if f := strings.Fields(word); len(f) == 3 && o.mods[o.read][0] == 'm' {
			o.read++
			t.m, _ = strconv.Atoi(f[0])
			t.n, _ = strconv.Atoi(f[1])
			t.k, _ = strconv.Atoi(f[2])
			return t
		}
	}
	panic(o.failure("the shape is missing"))
}

// element decodes values that are packed in a register.
type element struct {
	bits   int
	value  func(uint64) float64 // exact
	signed bool
}

func elementOf(t valueType) element {
	switch {
	case t.class == tensorFloat: // the hardware ignores the low bits of TF32
		return element{32, func(v uint64) float64 { return float64(value32(v &^ (1<<13 - 1))) }, false}
	case t.class == signed:
		return element{8, func(v uint64) float64 { return float64(int8(v)) }, true}
	case t.class == unsigned:
		return element{8, func(v uint64) float64 { return float64(uint8(v)) }, false}
	}
	f := formatOf(t)
	return element{f.bits, f.decode, false}
}

// compileMma compiles the multiplication of small matrices that a warp holds in its
// registers. With g = lane/4 and t = lane%4, and e elements a register, register r of a
// holds row g+8(r%2), columns e·t+4e(r/2)…; register r of b holds rows e·t+4e·r… of column
// g; c and d hold row g+8(r/2), column 2t+r%2.
func compileMma(o *operation) step {
	o.need("sync")
	o.need("aligned")
	shape := o.tile()
	o.need("row")
	o.need("col")
	finite := o.has("satfinite")
	dt := o.typ("f32", "f16", "s32")
	at := o.typ("f16", "bf16", "tf32", "s8", "u8", "e4m3", "e5m2")
	bt := o.typ("f16", "bf16", "tf32", "s8", "u8", "e4m3", "e5m2")
	ct := o.typ("f32", "f16", "s32")
	o.end(4)
	ea, eb := elementOf(at), elementOf(bt)
	depths := map[int][]int{8: {16, 32}, 16: {8, 16}, 32: {4, 8}}[ea.bits]
	known := shape.m == 16 && shape.n == 8 && (shape.k == depths[0] || shape.k == depths[1])
	integers := at.integer()
	if !known || ea.bits != eb.bits || integers != bt.integer() || integers != (dt.class == signed) || dt != ct ||
		finite && !integers || dt.name == "f16" && at.name != "f16" || !integers && ea.bits == 16 && at != bt {
		panic(o.failure("mma with this shape and these types is not supported"))
	}
	word := valueTypes["b32"]
	perA, perB := shape.m*shape.k*ea.bits/1024, shape.k*shape.n*eb.bits/1024
	perC := 4
	if ct.name == "f16" {
		perC = 2
	}
	d, a, b, c := o.destinations(perC, word), o.sources(1, perA, word), o.sources(2, perB, word), o.sources(3, perC, word)
	each := 32 / ea.bits
	return func(w *warp, mask uint32) {
		w.everyLane(mask)
		var x [16][32]float64
		var y [8][32]float64
		for lane := range warpSize {
			g, t := lane>>2, lane&3
			for r, slot := range a {
				v := w.r[slot][lane]
				for e := range each {
					x[g+8*(r&1)][each*t+4*each*(r>>1)+e] = ea.value(v >> (e * ea.bits) & lowBits(ea.bits))
				}
			}
			for r, slot := range b {
				v := w.r[slot][lane]
				for e := range each {
					y[g][each*t+4*each*r+e] = eb.value(v >> (e * eb.bits) & lowBits(eb.bits))
				}
			}
		}
		for lane := range warpSize {
			g, t := lane>>2, lane&3
			for i := range 4 {
				row, column := g+8*(i>>1), 2*t+i&1
				if w.block.run.launch.Coarse && ct.name == "f32" {
					sum := coarseSum(x[row][:shape.k], y[column][:shape.k], float64(value32(w.r[c[i]][lane])), ea.bits)
					w.r[d[i]][lane] = bits32(float32(sum))
					continue
				}
				sum := 0.0
				for k := range shape.k {
					sum += x[row][k] * y[column][k]
				}
				if ct.name == "f16" {
					shift := 16 * (i & 1)
					old := w.r[c[i>>1]][lane] >> shift & 0xffff
					v := format16.encode(exactSum(sum, format16.decode(old)), toNearest)
					into := &w.r[d[i>>1]][lane]
					if i&1 == 0 {
						// The upper half of c has not been read yet, and c may be d.
						*into = w.r[c[i>>1]][lane]&^0xffff | v
					} else {
						*into = *into&0xffff | v<<16
					}
					continue
				}
				w.r[d[i]][lane] = accumulate(sum, w.r[c[i]][lane], integers, finite)
			}
		}
	}
}

func accumulate(sum float64, c uint64, integers, finite bool) uint64 {
	if !integers {
		return bits32(float32(exactSum(sum, float64(value32(c)))))
	}
	total := int64(sum) + extend(c, 32)
	if finite {
		total = min(max(total, math.MinInt32), math.MaxInt32)
	}
	return uint64(uint32(total))
}

// matrices reads .m8n8.num[.trans][.shared].b16 of ldmatrix and stmatrix.
func (o *operation) matrices() (count int, transposed bool, a access) {
	o.need("sync")
	o.need("aligned")
	o.need("m8n8")
	count = map[string]int{"x1": 1, "x2": 2, "x4": 4}[o.need("x1", "x2", "x4")]
	transposed = o.has("trans")
	a.space = plainSpace(o.take("shared", "shared::cta"))
	o.typ("b16")
	o.end(2)
	return max(count, 1), transposed, a
}

// compileLdmatrix compiles the load of 8×8 matrices of 16-bit elements. Lane 8j+r holds the
// address of row r of matrix j; lane l gets elements 2(l%4) and 2(l%4)+1 of row l/4, or of
// column l/4 when transposed.
func compileLdmatrix(o *operation) step {
	count, transposed, a := o.matrices()
	d := o.destinations(count, valueTypes["b32"])
	o.address(&o.args[1], &a)
	return func(w *warp, mask uint32) {
		w.everyLane(mask)
		var rows [4][8][8]uint64
		for lane := range 8 * count {
			b := w.readable(&a, lane, w.r[a.base][lane]+a.offset, 16)
			for e := range 8 {
				rows[lane>>3][lane&7][e] = getBits(b[2*e:], 2)
			}
		}
		for j, slot := range d {
			for lane := range warpSize {
				row, pair := lane>>2, 2*(lane&3)
				if transposed {
					w.r[slot][lane] = rows[j][pair][row] | rows[j][pair+1][row]<<16
				} else {
					w.r[slot][lane] = rows[j][row][pair] | rows[j][row][pair+1]<<16
				}
			}
		}
	}
}

// compileStmatrix compiles the reverse of ldmatrix.
func compileStmatrix(o *operation) step {
	count, transposed, a := o.matrices()
	o.address(&o.args[0], &a)
	v := o.sources(1, count, valueTypes["b32"])
	return func(w *warp, mask uint32) {
		w.everyLane(mask)
		var rows [4][8][16]byte
		for j, slot := range v {
			for lane := range warpSize {
				row, pair := lane>>2, 2*(lane&3)
				for e := range 2 {
					half := w.r[slot][lane] >> (16 * e)
					if transposed {
						putBits(rows[j][pair+e][2*row:], half, 2)
					} else {
						putBits(rows[j][row][2*(pair+e):], half, 2)
					}
				}
			}
		}
		for lane := range 8 * count {
			w.write(&a, lane, w.r[a.base][lane]+a.offset, rows[lane>>3][lane&7][:])
		}
	}
}

// compileMovmatrix compiles the transposition of one matrix in registers.
func compileMovmatrix(o *operation) step {
	o.need("sync")
	o.need("aligned")
	o.need("m8n8")
	o.need("trans")
	o.typ("b16")
	o.end(2)
	word := valueTypes["b32"]
	d, a := o.destination(word), o.source(1, word)
	return func(w *warp, mask uint32) {
		w.everyLane(mask)
		source := w.r[a]
		at := func(row, column int) uint64 {
			return source[4*row+column/2] >> (16 * (column & 1)) & 0xffff
		}
		for lane := range warpSize {
			row, pair := lane>>2, 2*(lane&3)
			w.r[d][lane] = at(pair, row) | at(pair+1, row)<<16
		}
	}
}
