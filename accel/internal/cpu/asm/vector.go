package main

import (
	"strconv"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func vector() {
	for _, s := range []isa{avx2, avx512} {
		binaryOps(s)
		scalarOps(s)
		unaryOps(s)
		foldings(s)
		attention(s)
		divideBytes(s)
		largest(s)
	}
	sums() // CPUs with AVX-512 use it, too, since memory limits it
	momentStep(avx2)
	momentStep(avx512)
}

func binaryOps(s isa) {
	s.kernel("add", 2, false, func(v []VecVirtual, _ VecVirtual) VecVirtual { VADDPS(v[1], v[0], v[0]); return v[0] })
	s.kernel("sub", 2, false, func(v []VecVirtual, _ VecVirtual) VecVirtual { VSUBPS(v[1], v[0], v[0]); return v[0] })
	s.kernel("mul", 2, false, func(v []VecVirtual, _ VecVirtual) VecVirtual { VMULPS(v[1], v[0], v[0]); return v[0] })
	s.kernel("div", 2, false, func(v []VecVirtual, _ VecVirtual) VecVirtual { VDIVPS(v[1], v[0], v[0]); return v[0] })
	s.kernel("maximum", 2, false, func(v []VecVirtual, _ VecVirtual) VecVirtual {
		// MAXPS returns its second operand if either is NaN.
		m := s.register()
		VMAXPS(v[1], v[0], m)
		s.choose(unordered, v[0], v[0], v[0], m, m)
		return m
	})
	s.kernel("reluGradient", 2, false, func(v []VecVirtual, _ VecVirtual) VecVirtual {
		zero := s.zero()
		s.choose(greaterThan, v[1], zero, v[0], zero, v[0])
		return v[0]
	})
	s.kernels("geluGradient", 2, 2, false, func(v [][]VecVirtual, _ VecVirtual) []VecVirtual {
		x := s.clampEach(v[1], -14, 14)
		half := s.scaled(x, -0.5)
		for i := range x {
			VMULPS(half[i], x[i], half[i])
		}
		density := s.scaled(s.expWithin(half), 0.3989422804014327) // 1/√(2π)
		slope := s.normalEach(x)
		for i := range x {
			VFMADD231PS(density[i], x[i], slope[i])
			VMULPS(slope[i], v[0][i], v[0][i])
		}
		return v[0]
	})
	s.kernel("equal", 2, false, func(v []VecVirtual, _ VecVirtual) VecVirtual {
		s.choose(equalTo, v[0], v[1], s.splat(constant(1)), s.zero(), v[0])
		return v[0]
	})
	s.kernel("greater", 2, false, func(v []VecVirtual, _ VecVirtual) VecVirtual {
		s.choose(greaterThan, v[0], v[1], s.splat(constant(1)), s.zero(), v[0])
		return v[0]
	})
	s.kernel("biasReLU", 2, false, func(v []VecVirtual, _ VecVirtual) VecVirtual {
		VADDPS(v[1], v[0], v[0])
		VMAXPS(v[0], s.zero(), v[0])
		return v[0]
	})
}

func scalarOps(s isa) {
	s.kernel("addScalar", 1, true, func(v []VecVirtual, k VecVirtual) VecVirtual { VADDPS(k, v[0], v[0]); return v[0] })
	s.kernel("mulScalar", 1, true, func(v []VecVirtual, k VecVirtual) VecVirtual { VMULPS(k, v[0], v[0]); return v[0] })
}

func unaryOps(s isa) {
	s.kernel("abs", 1, false, func(v []VecVirtual, _ VecVirtual) VecVirtual {
		s.and(s.splat(bits(0x7fffffff)), v[0], v[0])
		return v[0]
	})
	s.kernel("sqrt", 1, false, func(v []VecVirtual, _ VecVirtual) VecVirtual { VSQRTPS(v[0], v[0]); return v[0] })
	s.kernel("relu", 1, false, func(v []VecVirtual, _ VecVirtual) VecVirtual {
		// Returns the second operand, x, if it is NaN.
		VMAXPS(v[0], s.zero(), v[0])
		return v[0]
	})
	s.kernels("exp", 1, 2, false, func(v [][]VecVirtual, _ VecVirtual) []VecVirtual { return s.expEach(v[0]) })
	s.kernels("sigmoid", 1, 2, false, func(v [][]VecVirtual, _ VecVirtual) []VecVirtual { return s.sigmoidEach(v[0]) })
	s.kernels("tanh", 1, 2, false, func(v [][]VecVirtual, _ VecVirtual) []VecVirtual { return s.tanhEach(v[0]) })
	s.kernels("gelu", 1, 2, false, func(v [][]VecVirtual, _ VecVirtual) []VecVirtual {
		least := s.splat(constant(-14)) // -Inf·0 would be NaN
		x := s.each(v[0], func(x, r VecVirtual, c []VecVirtual) { VMAXPS(x, c[0], r) }, least)
		y := s.normalEach(x)
		for i := range x {
			VMULPS(x[i], y[i], y[i])
		}
		return y
	})
}

// kernel generates a loop over n elements, one vector at a time, with a masked last vector.
func (s isa) kernel(name string, inputs int, scalar bool, body func(v []VecVirtual, k VecVirtual) VecVirtual) {
	s.kernels(name, inputs, 1, scalar, func(v [][]VecVirtual, k VecVirtual) []VecVirtual {
		one := make([]VecVirtual, len(v))
		for i := range v {
			one[i] = v[i][0]
		}
		return []VecVirtual{body(one, k)}
	})
}

// kernels generates a loop over n elements, some vectors at a time, then one at a time, with a masked last vector. body gets the vectors of
// each input.
func (s isa) kernels(name string, inputs, together int, scalar bool, body func(v [][]VecVirtual, k VecVirtual) []VecVirtual) {
	signature := "func(n int, d, a *float32)"
	switch {
	case inputs == 2:
		signature = "func(n int, d, a, b *float32)"
	case scalar:
		signature = "func(n int, d, a *float32, s float32)"
	}
	s.begin(name, signature, " is "+name+"Generic.")
	n, d := parameter("n"), parameter("d")
	in := []Register{parameter("a")}
	if inputs == 2 {
		in = append(in, parameter("b"))
	}
	var k VecVirtual
	if scalar {
		k = s.scalar("s")
	}
	if together > 1 {
		s.several(n, d, in, together, func(v [][]VecVirtual) []VecVirtual { return body(v, k) })
	}
	s.loop(n, in, func(load func(base Register) VecVirtual, store func(v VecVirtual, base Register)) {
		v := make([][]VecVirtual, len(in))
		for i, base := range in {
			v[i] = []VecVirtual{load(base)}
		}
		store(body(v, k)[0], d)
	}, d)
	end()
}

// several runs a body over as many whole vectors at once as are together.
func (s isa) several(n, d Register, in []Register, together int, body func(v [][]VecVirtual) []VecVirtual) {
	CMPQ(n, Imm(uint64(together*s.lanes())))
	JL(LabelRef("single"))
	Label("several")
	v := make([][]VecVirtual, len(in))
	for i, base := range in {
		for at := range together {
			x := s.register()
			VMOVUPS(Mem{Base: base, Disp: at * s.width}, x)
			v[i] = append(v[i], x)
		}
	}
	for at, y := range body(v) {
		VMOVUPS(y, Mem{Base: d, Disp: at * s.width})
	}
	for _, base := range append(append([]Register{}, in...), d) {
		ADDQ(Imm(uint64(together*s.width)), base)
	}
	SUBQ(Imm(uint64(together*s.lanes())), n)
	CMPQ(n, Imm(uint64(together*s.lanes())))
	JGE(LabelRef("several"))
	Label("single")
}

// loop runs a body over whole vectors and once more over the remaining elements.
func (s isa) loop(n Register, in []Register, body func(load func(Register) VecVirtual, store func(VecVirtual, Register)), out ...Register) {
	run := func(m masked) {
		body(func(base Register) VecVirtual { return m.load(Mem{Base: base}) }, func(v VecVirtual, base Register) { m.store(v, Mem{Base: base}) })
	}
	CMPQ(n, Imm(uint64(s.lanes())))
	JL(LabelRef("rest"))
	Label("whole")
	run(s.all())
	for _, base := range append(append([]Register{}, in...), out...) {
		ADDQ(Imm(uint64(s.width)), base)
	}
	SUBQ(Imm(uint64(s.lanes())), n)
	CMPQ(n, Imm(uint64(s.lanes())))
	JGE(LabelRef("whole"))
	Label("rest")
	TESTQ(n, n)
	JZ(LabelRef("done"))
	run(s.first(n))
	Label("done")
}

// sums generates two functions that add in eight accumulators of float64, then the accumulators,
// then their lanes. sumFours adds four elements in float32 before, which is as fast as memory.
// The last elements are left to the caller.
func sums() {
	for _, fours := range []bool{false, true} {
		name, step, doc := "sum", 32, " is sumGeneric of n elements, a multiple of 32."
		if fours {
			name, step, doc = "sumFours", 128, " is sumGeneric with sums of four elements in float32, of n elements, a multiple of 128."
		}
		avx2.begin(name, "func(n int, a *float32) float64", doc)
		n, a := parameter("n"), parameter("a")
		acc := avx2.cleared(8)
		TESTQ(n, n)
		JZ(LabelRef("end"))
		Label("more")
		for i := 0; i < len(acc); i++ {
			if !fours {
				addFloat64(Mem{Base: a, Disp: i * 16}, acc[i])
				continue
			}
			var parts [4]Mem
			for k := range parts {
				parts[k] = Mem{Base: a, Disp: i*64 + k*32}
			}
			addFour(parts, acc[i], acc[i+1])
			i++
		}
		ADDQ(U32(4*step), a)
		SUBQ(U32(step), n)
		JNZ(LabelRef("more"))
		Label("end")
		for half := 4; half > 0; half /= 2 {
			for i := range half {
				VADDPD(acc[i+half], acc[i], acc[i])
			}
		}
		Store(float64LanesSum(acc[0]), ReturnIndex(0))
		end()
	}
}

// addPair adds the sums of two times four float32 in memory to an accumulator of float64.
func addPair(a, b Mem, acc VecVirtual) {
	half, v := XMM(), YMM()
	VMOVUPS(a, half)
	VADDPS(b, half, half)
	VCVTPS2PD(half, v)
	VADDPD(v, acc, acc)
}

// addFour adds the sums of four times eight float32 in memory to two accumulators of float64.
func addFour(from [4]Mem, low, high VecVirtual) {
	x, y, half, v := YMM(), YMM(), XMM(), YMM()
	VMOVUPS(from[0], x)
	VMOVUPS(from[2], y)
	VADDPS(from[1], x, x)
	VADDPS(from[3], y, y)
	VADDPS(y, x, x)
	VEXTRACTF128(Imm(1), x, half)
	VCVTPS2PD(x.AsX(), v)
	VADDPD(v, low, low)
	VCVTPS2PD(half, y)
	VADDPD(y, high, high)
}

// addFloat64 adds four float32 in memory to an accumulator.
func addFloat64(from Mem, acc VecVirtual) {
	v := YMM()
	VCVTPS2PD(from, v)
	VADDPD(v, acc, acc)
}

// float64LanesSum adds the lanes.
func float64LanesSum(y VecVirtual) VecVirtual {
	half := XMM()
	VEXTRACTF128(Imm(1), y.AsY(), half)
	x := y.AsX()
	VADDPD(half, x, x)
	VHADDPD(x, x, x)
	return x.(VecVirtual)
}

// largest is for at least one vector; the last vector overlaps the previous one.
func largest(s isa) {
	s.begin("largest", "func(n int, a *float32) float32", " is largestGeneric for at least "+strconv.Itoa(s.lanes())+" elements.")
	n, a := parameter("n"), parameter("a")
	last, m := s.register(), s.register()
	// Returns the second operand, which avo names first, if one is NaN.
	VBROADCASTSS(bits(0xff800000), m)
	LEAQ(Mem{Base: a, Index: n, Scale: 4, Disp: -s.width}, n)
	Label("more")
	VMOVUPS(Mem{Base: a}, last)
	VMAXPS(m, last, m)
	ADDQ(Imm(uint64(s.width)), a)
	CMPQ(a, n)
	JLT(LabelRef("more"))
	VMOVUPS(Mem{Base: n}, last)
	VMAXPS(m, last, m)
	Store(s.lanesMax(m), ReturnIndex(0))
	end()
}
