package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// integer generates int8 matrix multiplication and the functions on its results.
func integer() {
	for _, p := range []byteProduct{
		{isa: avx512, name: "VNNI512", rows: 14},
		{isa: avx2, name: "VNNI256", rows: 6, vex: true},
		{isa: avx2, name: "AVX2", rows: 6, pairs: true},
	} {
		for mr := 1; mr <= p.rows; mr++ {
			for nv := 1; nv <= 2; nv++ {
				p.tile(mr, nv)
			}
		}
	}
	for _, s := range []isa{avx2, avx512} {
		quantize(s)
		requantize(s)
		dequantize(s)
		dotBytes(s)
		widenBytes(s)
	}
	tapSums(avx2)
	largestTap(avx2)
	gatherRuns(avx2)
}

// finiteSum adds x - x, which is zero, or NaN if x is not finite.
func (s isa) finiteSum(x, sum VecVirtual) {
	t := s.register()
	VSUBPS(x, x, t)
	VADDPS(t, sum, sum)
}

// clampBytes rounds to the nearest integer from low to 255, ties to even, and writes bytes.
func (s isa) clampBytes(v, low, high VecVirtual, to Mem) {
	VMAXPS(low, v, v)
	VMINPS(high, v, v)
	VCVTPS2DQ(v, v)
	if s.wide() {
		VPMOVUSDB(v, to)
		return
	}
	upper := XMM()
	VEXTRACTI128(Imm(1), v, upper)
	VPACKUSDW(upper, v.AsX(), upper)
	VPACKUSWB(upper, upper, upper)
	VMOVQ(upper, to)
}

// quantize generates quantize for whole vectors.
func quantize(s isa) {
	p := s.head("quantize", "func(n int, q *uint8, x *float32, factor, zero float32) (sum float32)", " for whole vectors; sum is 0, or NaN where an x is not finite.", "q", "x")
	n := parameter("n")
	factor, zero, sum, low, high := s.scalar("factor"), s.scalar("zero"), s.zero(), s.zero(), s.splat(constant(255))
	Label("more")
	v := s.register()
	VMOVUPS(Mem{Base: p[1]}, v)
	s.finiteSum(v, sum)
	VMULPS(factor, v, v)
	VADDPS(zero, v, v)
	s.clampBytes(v, low, high, Mem{Base: p[0]})
	ADDQ(Imm(uint64(s.lanes())), p[0])
	s.nextVector(n, p[1])
	Store(s.lanesSum(sum).AsX(), ReturnIndex(0))
	end()
}

// scaledRows generates the loop over rows of whole vectors. The rows of q, whose elements
// have a given size, and of sums are some bytes apart.
func (s isa) scaledRows(signature, name, q string, size int, store func(v, low VecVirtual, to Mem)) {
	p := s.head(name, signature, " for whole vectors, and at least one row.", "offset", "factor", "bias")
	rows, n := parameter("rows"), parameter("n")
	out, outPitch := Load(Param(q), GP64()), parameter("pitch")
	sums, sumsPitch := parameter("sums"), parameter("sumsPitch")
	low := s.scalar("low")
	if size > 1 {
		SHLQ(Imm(2), outPitch)
	}
	SHLQ(Imm(2), sumsPitch)
	at := GP64()
	Label("row")
	XORQ(at, at)
	Label("more")
	v := s.register()
	index := func(base Register, scale uint8) Mem { return Mem{Base: base, Index: at, Scale: scale} }
	if s.wide() {
		VMOVDQU32(index(sums, 4), v)
	} else {
		VMOVDQU(index(sums, 4), v)
	}
	VPADDD(index(p[0], 4), v, v)
	VCVTDQ2PS(v, v)
	VMULPS(index(p[1], 4), v, v)
	VADDPS(index(p[2], 4), v, v)
	store(v, low, index(out, uint8(size)))
	ADDQ(Imm(uint64(s.lanes())), at)
	CMPQ(at, n)
	JL(LabelRef("more"))
	ADDQ(outPitch, out)
	ADDQ(sumsPitch, sums)
	DECQ(rows)
	JNZ(LabelRef("row"))
	end()
}

func requantize(s isa) {
	s.scaledRows("func(rows, n int, q *uint8, pitch int, sums *int32, sumsPitch int, offset *int32, factor, bias *float32, low float32)", "requantize", "q", 1, func(v, low VecVirtual, to Mem) {
		s.clampBytes(v, low, s.splat(constant(255)), to)
	})
}

func dequantize(s isa) {
	s.scaledRows("func(rows, n int, y *float32, pitch int, sums *int32, sumsPitch int, offset *int32, factor, bias *float32, low float32)", "dequantize", "y", 4, func(v, low VecVirtual, to Mem) {
		VMAXPS(low, v, v)
		VMOVUPS(v, to)
	})
}

// dotBytes generates dot for whole pairs of vectors.
func dotBytes(s isa) {
	p := s.head("dotBytes", "func(n int, x *float32, w *int8) float32", " for whole vectors, four at a time.", "x", "w")
	n := parameter("n")
	sums := []VecVirtual{s.zero(), s.zero(), s.zero(), s.zero()}
	Label("more")
	for i, sum := range sums {
		v := s.register()
		VPMOVSXBD(Mem{Base: p[1], Disp: i * s.lanes()}, v)
		VCVTDQ2PS(v, v)
		VFMADD231PS(Mem{Base: p[0], Disp: i * s.width}, v, sum)
	}
	ADDQ(U32(4*s.width), p[0])
	ADDQ(Imm(uint64(4*s.lanes())), p[1])
	SUBQ(Imm(uint64(4*s.lanes())), n)
	JNZ(LabelRef("more"))
	VADDPS(sums[1], sums[0], sums[0])
	VADDPS(sums[3], sums[2], sums[2])
	VADDPS(sums[2], sums[0], sums[0])
	Store(s.lanesSum(sums[0]).AsX(), ReturnIndex(0))
	end()
}

// widenBytes generates widen for whole vectors.
func widenBytes(s isa) {
	p := s.head("widenBytes", "func(n int, y *float32, w *int8, step float32)", " for whole vectors.", "y", "w")
	n := parameter("n")
	step := s.scalar("step")
	Label("more")
	v := s.register()
	VPMOVSXBD(Mem{Base: p[1]}, v)
	VCVTDQ2PS(v, v)
	VMULPS(step, v, v)
	VMOVUPS(v, Mem{Base: p[0]})
	ADDQ(Imm(uint64(s.lanes())), p[1])
	s.nextVector(n, p[0])
	end()
}

// tapSums loops over channels, one vector at a time, and over the taps of each. The upper
// halves of the operands of VPMADDWD are zero, since x is positive.
func tapSums(s isa) {
	p := s.head("tapSums", "func(taps, n int, sums *int32, x *uint8, offsets *int, w *int32, pitch int)", " for whole vectors.", "sums", "x", "offsets", "w")
	n, pitch := parameter("n"), parameter("pitch")
	SHLQ(Imm(2), pitch)
	taps := parameter("taps")
	channel, t, from, weight := GP64(), GP64(), GP64(), GP64()
	XORQ(channel, channel)
	Label("vector")
	sum, v := s.zero(), s.register()
	XORQ(t, t)
	LEAQ(Mem{Base: p[3], Index: channel, Scale: 4}, weight)
	Label("tap")
	MOVQ(Mem{Base: p[2], Index: t, Scale: 8}, from)
	ADDQ(p[1], from)
	VPMOVZXBD(Mem{Base: from, Index: channel, Scale: 1}, v)
	VPMADDWD(Mem{Base: weight}, v, v)
	VPADDD(v, sum, sum)
	ADDQ(pitch, weight)
	INCQ(t)
	CMPQ(t, taps)
	JL(LabelRef("tap"))
	VMOVDQU(sum, Mem{Base: p[0], Index: channel, Scale: 4})
	ADDQ(Imm(uint64(s.lanes())), channel)
	CMPQ(channel, n)
	JL(LabelRef("vector"))
	end()
}

// largestTap loops over channels, one vector at a time, and over the taps of each.
func largestTap(s isa) {
	p := s.head("largestTap", "func(taps, n int, d, x *uint8, offsets *int)", " for whole vectors of bytes.", "d", "x", "offsets")
	n, taps := parameter("n"), parameter("taps")
	channel, t, from := GP64(), GP64(), GP64()
	XORQ(channel, channel)
	Label("vector")
	most := s.zero()
	XORQ(t, t)
	Label("tap")
	MOVQ(Mem{Base: p[2], Index: t, Scale: 8}, from)
	ADDQ(p[1], from)
	VPMAXUB(Mem{Base: from, Index: channel, Scale: 1}, most, most)
	INCQ(t)
	CMPQ(t, taps)
	JL(LabelRef("tap"))
	VMOVDQU(most, Mem{Base: p[0], Index: channel, Scale: 1})
	ADDQ(Imm(uint64(s.width)), channel)
	CMPQ(channel, n)
	JL(LabelRef("vector"))
	end()
}

// gatherRuns copies 16 bytes at a time. The next run overwrites the bytes written after a
// run.
func gatherRuns(s isa) {
	p := s.head("gatherRuns", "func(count, pieces, n int, dst, x *uint8, offsets *int, step int)", ", and may write up to 15 bytes behind.", "dst", "x", "offsets")
	count, pieces, n, step := parameter("count"), parameter("pieces"), parameter("n"), parameter("step")
	piece, from, at := GP64(), GP64(), GP64()
	chunk := XMM()
	Label("pixel")
	XORQ(piece, piece)
	Label("piece")
	MOVQ(Mem{Base: p[2], Index: piece, Scale: 8}, from)
	ADDQ(p[1], from)
	XORQ(at, at)
	Label("chunk")
	VMOVDQU(Mem{Base: from, Index: at, Scale: 1}, chunk)
	VMOVDQU(chunk, Mem{Base: p[0], Index: at, Scale: 1})
	ADDQ(Imm(16), at)
	CMPQ(at, n)
	JL(LabelRef("chunk"))
	ADDQ(n, p[0])
	INCQ(piece)
	CMPQ(piece, pieces)
	JL(LabelRef("piece"))
	ADDQ(step, p[1])
	DECQ(count)
	JNZ(LabelRef("pixel"))
	end()
}
